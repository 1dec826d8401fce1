"""Fixes of the user's code, each as a diff that can be tried: a run of the fixed code, compared with
the original run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import streamlit as st

from core import CompileJob, Run, Status
from core.analysis.repairs import (
    Repair,
    dynamic_spares,
    dynamo_settings,
    line_of,
    repair_of,
    repairs_of_break,
    repairs_of_recompile,
    together,
    together_diff,
)
from core.base import words as fmt
from core.graph import source_path
from core.report import GraphBreak, Place, Recompile
from pages import menu
from pages.gate.visitor import ANOTHERS, who
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, code, plain, prose
from pages.parts.code import diff_view, source_text
from pages.parts.dynamo.before_after import before_and_after
from pages.parts.run.submit import job_again, needs_device
from pages.session import doors, server, url
from pages.session.attempt import attempt, passed_over
from pages.session.runs import newest_of
from pages.session.shown import open_shown
from pages.session.view import RunView, open_view

POLL_S = 0.5
LINE_PX, LEAST_LINES, SHOWN_LINES = 20, 4, 22
NO_CODE = "The log does not hold the code, so that nothing of it can be edited here."
NO_RULE = "No repair of this line is mechanical; torch's hints say what can be done by hand."
NOT_AGAIN = "This can be tried where the code may be run: here the log, or the server, does not allow that."
TRIED = "A run with the same options of the repaired code; its results are held against those of the code as it was."
DYNAMIC = "torch.compile(model, dynamic=True)"


@dataclass(frozen=True, slots=True)
class Way:
    """A fix: its name, the reason, its side effects, the diff of the file, and the job that tries it.

    A fix that changes only the job has an empty diff. `job` is None if the job may not run here.
    """

    words: str
    why: str
    doubt: str
    diff: str
    job: CompileJob | None


def break_repairs(view: RunView, found: GraphBreak) -> tuple[Repair, ...]:
    """Return the fixes of a graph break: edits of the user's file, and settings of Dynamo."""
    return repairs_of_break(source_text(view), found, source_path(view.report))


def offer_break_repairs(view: RunView, found: GraphBreak, key: str) -> None:
    """Draw the fixes of a graph break, or the reason why there is none."""
    repairs = break_repairs(view, found)
    if not source_text(view):
        st.caption(NO_CODE)
    elif not repairs and line_of(found, source_path(view.report)) is None:
        st.caption(f"The line is {code(near(found.place))}, not in your file: nothing here edits it.")
    elif not repairs:
        st.caption(NO_RULE)
    _offer(view, [_way(view, repair) for repair in repairs], key)


def near(place: Place) -> str:
    """Return a line of a file with its folder: `logging/__init__.py:1488`."""
    return f"{'/'.join(place.file.split('/')[-2:])}:{place.line}"


def recompile_repairs(view: RunView, reasons: Iterable[Recompile]) -> list[Repair]:
    """Return the first fix of each recompile."""
    return [repair for reason in reasons for repair in _of_recompile(view, reason)[:1]]


def _of_recompile(view: RunView, reason: Recompile) -> tuple[Repair, ...]:
    own_calls = view.job is None or not view.job.calls
    return repairs_of_recompile(source_text(view), view.report, reason, own_calls)


def offer_repairs(view: RunView, reason: Recompile, key: str) -> None:
    """Draw the fixes of a recompile: edits of the code, or a change of the job."""
    ways = [_way(view, repair) for repair in _of_recompile(view, reason)]
    _offer(view, [*ways, *_dynamic(view, reason)], key)


def offer_all(view: RunView, repairs: Sequence[Repair], key: str) -> None:
    """Offer all compatible fixes of a page at once; nothing if there is only one."""
    text = source_text(view)
    stacked = together(text, tuple(repair for repair in repairs if repair.stacks))
    if len(stacked) < 2:
        return
    with st.container(border=True, key=f"all-{key}"):
        count = fmt.count(len(stacked), "repair")
        left = len(set(repairs)) - len(stacked)
        more = f" {fmt.count(left, 'other')} of this page would change results, or the same lines." if left else ""
        words = "; ".join(repair.mend.words.rstrip(".") for repair in stacked)
        doubt = " ".join(dict.fromkeys(repair.mend.doubt for repair in stacked if repair.mend.doubt))
        ids = tuple(repair.id for repair in stacked)
        way = Way(f"All {count} together.", f"{words}.{more}", doubt, together_diff(text, stacked), _job(view, ids))
        st.markdown(f"**{way.words}** {prose(way.why, LONGEST_TEXT)}")
        with st.expander("The difference") if way.diff else nullcontext():
            _diff(way, f"all-{key}")
        _trial(view, way, f"all-{key}", "Apply all")


def way_back(view: RunView) -> None:
    """Draw, on a run that tries a fix, the link to the original run, and both side by side."""
    before = back_link(view)
    if before is not None:
        before_and_after(before, view)


def back_link(view: RunView) -> RunView | None:
    """Draw the link to the original run of a run that tries a fix; return that run, None without one."""
    before = open_view(view.job.repairs_of) if view.job is not None and view.job.repairs_of else None
    if before is None:
        return None
    page = menu.GRAPH_BREAKS if before.report.graph_breaks else menu.RECOMPILES
    told = "This run tries a repair of another: back to it"
    st.page_link(page.script, label=told, icon=":material/undo:", query_params={url.RUN: before.run.id})
    return before


def _way(view: RunView, repair: Repair) -> Way:
    mend = repair.mend
    return Way(mend.words, mend.why, mend.doubt, repair.diff, _job(view, (repair.id,)))


def _job(view: RunView, ids: tuple[str, ...]) -> CompileJob | None:
    """Return the job with fixes: edits as a step of their own, settings among its conditions."""
    job = job_again(view)
    if job is None:
        return None
    mends = {item: repair.mend for item in ids if (repair := repair_of(source_text(view), item))}
    names = tuple(name for mend in mends.values() for name in mend.settings)
    edits = tuple(item for item, mend in mends.items() if mend.edits)
    dynamo = {**(job.conditions.dynamo or {}), **dynamo_settings(names)} or None
    return replace(
        job,
        repairs=(*job.repairs, edits) if edits else job.repairs,
        conditions=replace(job.conditions, dynamo=dynamo),
        repairs_of=view.run.id,
    )


def _dynamic(view: RunView, reason: Recompile) -> list[Way]:
    """Return the same job with dynamic shapes, if a size or a number varied."""
    job = job_again(view)
    if not dynamic_spares(view.report, reason) or (job is not None and job.compile.dynamic is True):
        return []
    tried = replace(job.with_settings(dynamic=True), repairs_of=view.run.id) if job else None
    why = "Sizes and numbers are symbols from the first call on; a graph of symbols may be slower than one a size."
    return [Way(f"Compile with `{DYNAMIC}`.", why, "", "", tried)]


def _offer(view: RunView, ways: Sequence[Way], key: str) -> None:
    if not ways:
        return
    with st.container(key=f"offer-{key}"):
        at = _chosen(ways, key)
        st.caption(f"{prose(ways[at].why)} {prose(ways[at].doubt)}")
        _diff(ways[at], f"{key}-{at}")
        _trial(view, ways[at], f"{key}-{at}", "Try it")


def _chosen(ways: Sequence[Way], key: str) -> int:
    """Return the index of the chosen fix; the first one by default."""
    if len(ways) == 1:
        st.markdown(f"**{prose(ways[0].words, LONGEST_NAME)}**")
        return 0
    picked = st.segmented_control(
        "Ways to repair it",
        range(len(ways)),
        format_func=lambda index: prose(ways[index].words.rstrip("."), LONGEST_NAME),
        default=0,
        key=f"ways-{key}",
        label_visibility="collapsed",
    )
    return picked or 0


def _diff(way: Way, key: str) -> None:
    if not way.diff:
        return
    lines = way.diff.count("\n") + 1
    height = LINE_PX * (min(max(lines, LEAST_LINES), SHOWN_LINES) + 3)
    diff_view("repair", way.diff, key=f"repair-{key}", height=height)


def _trial(view: RunView, way: Way, key: str, label: str) -> None:
    """Draw the button that tries a fix, or the result of the trial."""
    if way.job is None:
        st.caption(needs_device(view) or NOT_AGAIN)
        return
    job = server.runner().limits.fitted(way.job)
    mark = attempt(lambda: server.runner().fingerprint(job), passed_over)
    tried = newest_of(mark) if mark else None
    if tried is None or tried[1].state in ("cancelled", "interrupted"):
        asked = st.button(label, key=f"try-{key}", icon=":material/play_arrow:", help=TRIED)
        if asked and attempt(lambda: doors.submit(job)) is not None:
            st.rerun()
        return
    run, status = tried
    if status.live:
        _going(run, key)
        return
    after = open_view(run.id)
    if status.state != "done" or after is None:
        st.error(
            f"The repaired run ended: {plain(status.reason or status.state, LONGEST_TEXT)}", icon=":material/error:"
        )
        _link(run)
        return
    before_and_after(view, after)
    _link(run)


def _link(run: Run) -> None:
    st.page_link(
        menu.OVERVIEW.script,
        label="Open the repaired run",
        icon=":material/open_in_new:",
        query_params={url.RUN: run.id},
    )


@st.fragment(run_every=POLL_S)
def _going(run: Run, key: str) -> None:
    """Draw the progress of a trial, and the button that cancels it."""
    status: Status = run.standing()
    if not status.live:
        st.rerun()
    here = open_shown(run.id)
    steps = here.progress.steps if here else ()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/hourglass_top: {plain(steps[-1], LONGEST_NAME) if steps else 'Starting'}…")
        mine = who().owns(status.by)
        help_ = None if mine else ANOTHERS
        st.button("Cancel", key=f"cancel-{key}", on_click=doors.cancel, args=(run,), disabled=not mine, help=help_)

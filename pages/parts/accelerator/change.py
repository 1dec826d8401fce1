"""The same job with ops disabled, passes left out or parameters frozen, and the resulting differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core import CompileJob, compile_options_as_text
from core.accelerator.program import PASSES
from core.analysis.pipeline import moved_ops, pipeline_changes, switchable_ops
from core.base import words as fmt
from core.report import Report
from pages import menu
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, code, one_line
from pages.parts.accelerator.pieces import PipelinePiece, nodes_of
from pages.parts.run.submit import job_again, stored_run
from pages.session import doors, server, url
from pages.session.attempt import attempt
from pages.session.navigate import go_to
from pages.session.view import RunView, View, open_view

ACCELERATOR = "accelerator"
ALL, NONE = "all", "none"
CHANGES = "changes"
HELP = "The same job with another division or other passes is run, and set beside this one."
OPS = "A node of such an op stays with torch, which cuts segments apart."
FREEZE = (
    "In inference, parameters become constants of the file: less crosses the ABI, and what depends on them alone is "
    "computed once."
)


def change_menu(view: View, piece: PipelinePiece) -> None:
    """Draw fields for the accelerator's options, and a button that runs the job with them.

    Nothing for a log from elsewhere and for code that may not run here.
    """
    job = job_again(view)
    if job is None or job.compile.backend != ACCELERATOR:
        return
    given = job.compile.options or {}
    off = _words(given.get("without"))
    offered = list(dict.fromkeys([*off, *switchable_ops(piece.pipeline, nodes_of(view, piece.pipeline))]))
    with st.popover("What if…", icon=":material/alt_route:", help=HELP):
        without = st.multiselect("Ops that torch runs", offered, off, key="pipeline-without", help=OPS)
        passes = st.multiselect("Passes", list(PASSES), passes_of(given.get("passes")), key="pipeline-passes")
        freeze = st.toggle("Freeze parameters", bool(given.get("freeze")), key="pipeline-freeze", help=FREEZE)
        changed = accelerated(job, without, passes, freeze)
        same = changed == accelerated(job, off, passes_of(given.get("passes")), bool(given.get("freeze")))
        if st.button("Run beside this one", type="primary", key="pipeline-run", disabled=same):
            run_beside(changed, view)


def _words(value: object) -> list[str]:
    """Split several names, separated as in `options`."""
    return str(value or "").replace(",", " ").replace("+", " ").split()


def passes_of(value: object) -> list[str]:
    """Return the passes that an option names; all if it is empty."""
    names = _words(value)
    return list(PASSES) if names in ([], [ALL]) else [name for name in PASSES if name in names]


def accelerated(
    job: CompileJob, without: Sequence[str] = (), passes: Sequence[str] = tuple(PASSES), freeze: bool = False
) -> CompileJob:
    """Return the job for the accelerator; options with default values are left out."""
    given = job.compile.options or {} if job.compile.backend == ACCELERATOR else {}
    options = {name: value for name, value in given.items() if name == "examples"}
    if without:
        options["without"] = " ".join(without)
    if set(passes) != set(PASSES):
        options["passes"] = " ".join(passes) or NONE
    if freeze:
        options["freeze"] = True
    chosen = job.with_settings(backend=ACCELERATOR, mode=None, options=options or None)
    return replace(chosen, device="cpu", target="")


def run_beside(job: CompileJob, before: RunView | None) -> None:
    """Show the job's run on this page, a finished one or a new one, with the previous run beside it."""
    fitted = server.runner().limits.fitted(job)
    run = stored_run(fitted) or attempt(lambda: doors.submit(fitted))
    if run is not None:
        beside = {url.OTHER: before.run.id, url.STATION: CHANGES} if before else {}
        go_to(menu.ACCELERATOR, {url.RUN: run.id, **beside})


def run_before(view: View) -> RunView | None:
    """Return the URL's run to compare with, if it also ran on the accelerator; else None."""
    name = url.asked(url.OTHER)
    found = open_view(name) if name and name != view.run.id else None
    return found if found is not None and any(one.pipelines for one in found.report.compilations) else None


def changes_station(before: RunView, after: View) -> None:
    """Draw both runs in numbers, and the ops that moved."""
    st.caption(change_words(before.report, after.report))
    rows = [
        {"": row.name, "before": row.before, "now": row.after, "difference": row.difference}
        for row in pipeline_changes(before.report, after.report)
    ]
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.dataframe(pd.DataFrame(rows), hide_index=True, height="content", key="pipeline-changes")
        st.caption("Times are of two processes, one after the other: no difference of them is claimed.")
        link = url.link(**{url.OTHER: before.run.id})
        st.page_link(menu.COMPARE.script, label="Compare the two runs", icon=menu.COMPARE.icon, query_params=link)
    with right:
        _asked("Before", before)
        _asked("Now", after)
        _moved(before.report, after.report)


def change_words(before: Report, after: Report) -> str:
    """Return one sentence about the ops that moved between torch and the accelerator."""
    moved = moved_ops(before, after)
    gone = sum(max(0, now - was) for was, now in moved.values())
    come = sum(max(0, was - now) for was, now in moved.values())
    if not moved:
        return "Each op runs where it ran before."
    words = [f"{fmt.count(gone, 'op')} went back to torch"] if gone else []
    words += [f"{fmt.count(come, 'op')} came to the accelerator"] if come else []
    return f"{' and '.join(words)}."


def _asked(title: str, of: RunView) -> None:
    job = of.job
    if job is not None:
        st.markdown(f"**{title}**: {code(compile_options_as_text(job.compile), LONGEST_TEXT) or 'the defaults'}")


def _moved(before: Report, after: Report) -> None:
    moved = moved_ops(before, after)
    if moved:
        rows = [
            {"with torch": one_line(name, LONGEST_NAME), "before": was, "now": now}
            for name, (was, now) in moved.items()
        ]
        st.dataframe(pd.DataFrame(rows), hide_index=True, height="content", key="pipeline-moved")

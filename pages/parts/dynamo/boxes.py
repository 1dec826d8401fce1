"""Boxes of graph breaks with their fixes, frames that run eagerly, and recompiles with their lineage.

A fix is a diff of the user's code. Its trial is a run of the fixed code, compared with the original run.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import msgspec
import streamlit as st

from core import CompileJob, Run, Status
from core.views.fixes import Fix, FixesView, TrialView
from core.views.graph_breaks import BreakBox, GraphBreaksView
from core.views.recompiles import RecompileDetails, RecompilesView
from pages import menu
from pages.components.lineage.view import CompilationData, LineageData, lineage_view
from pages.gate.visitor import ANOTHERS, who
from pages.look.text import LONGEST_NAME, plain
from pages.parts.code import diff_view, source_text
from pages.parts.run.submit import job_again, needs_device
from pages.session import actions, server, url
from pages.session.actions import attempt, passed_over, toasted
from pages.session.runs import newest_of
from pages.session.shown import RunView, open_shown, open_view
from pages.session.tables import data_frame
from pages.session.url import go_to, press, taken

POLL_S = 0.5
LINE_PX, LEAST_LINES, SHOWN_LINES = 20, 4, 22
ICONS = {
    "repaired": ":material/check:",
    "partly": ":material/remove:",
    "nothing": ":material/remove:",
    "untold": ":material/help:",
    "worse": ":material/trending_down:",
    "differs": ":material/block:",
}


def broken_file(breaks: GraphBreaksView) -> str:
    """Return the path of the file that the visitor picks; empty if no logged file has a graph break.

    The default is the innermost logged file of the most expensive break.
    """
    files = breaks.files
    labels = list(files)
    if len(labels) < 2:
        return next(iter(files.values()), "")
    return files[st.selectbox("File", labels, key="broken-file", label_visibility="collapsed") or labels[0]]


def break_box(number: int, box: BreakBox, view: RunView, fixes: FixesView) -> None:
    """Draw torch's reason, explanation and hints for one break, its cost, and its fixes."""
    offered = fixes.of_break(box.graph_break)
    with st.container(border=True, key=f"break-{number}"):
        st.markdown(box.heading)
        st.caption(box.caption)
        for sentence in box.given_up:
            st.warning(sentence, icon=":material/block:")
        st.markdown(box.line)
        if box.explanation:
            st.markdown(box.explanation)
        if box.hints:
            with st.expander("torch's hints", expanded=not offered):
                st.markdown(box.hints)
        if reason := fixes.without_fix(box.graph_break):
            st.caption(reason)
        offer(view, offered, key=f"break-{number}")
        _registry(box)
        with st.expander("Stack, the innermost frame first"):
            st.code(box.stack, language=None, wrap_lines=True)


def _registry(box: BreakBox) -> None:
    """Draw the entry of this kind of graph break in PyTorch's registry."""
    entry = box.registry
    if entry is None:
        return
    with st.expander(entry.label):
        if entry.heading:
            st.markdown(entry.heading)
            if entry.context:
                st.caption(entry.context)
            if entry.explanation:
                st.markdown(entry.explanation)
            st.markdown(entry.hints)
        st.caption(entry.origin)
        st.markdown(entry.link)


def eager_frames(breaks: GraphBreaksView) -> None:
    """Draw the frames that run eagerly without a graph break, such as those over the recompile limit."""
    for frame in breaks.eager_frames:
        with st.container(border=True):
            st.markdown(frame.heading)
            st.caption(frame.caption)


def recompile_trees(view: RunView, recompiles: RecompilesView, chosen: str) -> None:
    """Draw the tree of each recompiled function, and the chosen recompile in full below its tree.

    A click on a compilation selects it.
    """
    for number, tree in enumerate(recompiles.trees(chosen)):
        if tree.similar:
            st.caption(tree.similar)
        picture = LineageData(
            name=tree.name,
            told=tree.summary,
            rows=msgspec.convert(tree.rows, tuple[CompilationData, ...], from_attributes=True),
            calls=recompiles.calls,
            legend=recompiles.legend,
            explained=recompiles.letters if number == 0 else "",
            chosen=chosen,
        )
        key = f"lineage-{number}"
        lineage_view(picture, key=key, on_pick=partial(press, key))
        clicked = taken(key)
        if clicked and clicked != chosen:
            go_to(menu.RECOMPILES, url.link(compilation=clicked, select=clicked))
        if tree.shown is not None:
            _details(tree.shown)
            if tree.shown.recompile is not None:
                offer(view, fixes_of(view).of_recompile(tree.shown.recompile), key=f"recompile-{chosen}")


def _details(details: RecompileDetails) -> None:
    """Draw one recompile in full."""
    with st.container(border=True, key=f"recompile-{details.id.replace('/', '-')}"):
        if not details.values:
            st.markdown(details.heading)
            return
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(details.heading)
            _links(details)
        st.code(details.condition, language="python", wrap_lines=True)
        st.markdown(details.values)
        if details.hint:
            st.caption(details.hint)
        if details.error:
            st.warning(details.error, icon=":material/block:")
        if details.older:
            with st.expander(details.older_label):
                for text in details.older:
                    st.markdown(text)


def _links(details: RecompileDetails) -> None:
    search = {"guard": details.guard_search} if details.guard_search else {}
    query = {**url.link(**search), url.COMPILATION: details.failed}
    _link(menu.GUARDS, details.guards_label, query)
    _link(menu.FX_GRAPH, details.graph_label, {**url.link(), url.COMPILATION: details.id})


def _link(page: menu.Page, label: str, query: dict[str, str]) -> None:
    st.page_link(page.script, label=plain(label), icon=page.icon, query_params=query)


def fixes_of(view: RunView) -> FixesView:
    """Return the fixes of a run, with the jobs that this visitor may run."""
    return FixesView(view.run.id, view.report, source_text(view), view.job, job_again(view))


def offer(view: RunView, fixes: Sequence[Fix], key: str) -> None:
    """Draw the fixes of a graph break or recompile, one at a time, each with a button to try it."""
    if not fixes:
        return
    with st.container(key=f"offer-{key}"):
        index = _chosen(fixes, key)
        st.caption(fixes[index].caption)
        _diff(fixes[index], f"{key}-{index}")
        _trial(view, fixes[index], f"{key}-{index}", "Try it")


def offer_all(view: RunView, fix: Fix | None, key: str) -> None:
    """Draw all compatible fixes as one fix, with a button to try it; nothing if `fix` is None."""
    if fix is None:
        return
    with st.container(border=True, key=f"all-{key}"):
        st.markdown(fix.paragraph)
        with st.expander("Diff") if fix.diff else nullcontext():
            _diff(fix, f"all-{key}")
        _trial(view, fix, f"all-{key}", "Apply all")


def original_run(view: RunView) -> None:
    """Draw the link to the original run and the comparison of both runs, if this run tries a fix."""
    before = back_link(view)
    if before is not None:
        _before_and_after(before, view)


def back_link(view: RunView) -> RunView | None:
    """Draw the link to the original run, if this run tries a fix; return the original run.

    None if there is no original run, or if the original run has no report.
    """
    before = open_view(view.job.repairs_of) if view.job is not None and view.job.repairs_of else None
    if before is None:
        return None
    page = menu.GRAPH_BREAKS if before.report.graph_breaks else menu.RECOMPILES
    label = FixesView.back_label
    st.page_link(page.script, label=label, icon=":material/undo:", query_params={url.RUN: before.run.id})
    return before


def _before_and_after(before: RunView, after: RunView) -> None:
    """Draw the result of a fix: verdict, remaining breaks and recompiles, and numbers of both runs."""
    trial = TrialView(fixes_of(before), fixes_of(after))
    bar = {"repaired": st.success, "worse": st.error, "differs": st.error}.get(trial.outcome, st.warning)
    bar(trial.verdict, icon=ICONS[trial.outcome])
    if trial.remainders:
        st.markdown(trial.remainders)
    if trial.more_remainders:
        st.caption(trial.more_remainders)
    st.table(data_frame(list(trial.rows.values()), index=[*trial.rows], columns=["before", "after"]))
    st.caption(trial.method)


def _chosen(fixes: Sequence[Fix], key: str) -> int:
    """Draw the choice of a fix; return the index of the chosen fix, by default 0."""
    if len(fixes) == 1:
        st.markdown(fixes[0].heading)
        return 0
    picked = st.segmented_control(
        "Fixes",
        range(len(fixes)),
        format_func=lambda index: fixes[index].label,
        default=0,
        key=f"ways-{key}",
        label_visibility="collapsed",
    )
    return picked or 0


def _diff(fix: Fix, key: str) -> None:
    if not fix.diff:
        return
    lines = fix.diff.count("\n") + 1
    height = LINE_PX * (min(max(lines, LEAST_LINES), SHOWN_LINES) + 3)
    diff_view("repair", fix.diff, key=f"repair-{key}", height=height)


def _trial(view: RunView, fix: Fix, key: str, label: str) -> None:
    """Draw the button that tries a fix, or the progress or the result of the trial."""
    if fix.job is None:
        st.caption(needs_device(view) or fix.not_again)
        return
    job = server.runner().limits.fitted(fix.job)
    mark = attempt(lambda: server.runner().fingerprint(job), passed_over)
    tried = newest_of(mark) if mark else None
    if tried is None or tried.status.state in ("cancelled", "interrupted"):
        # A callback, since another rerun may end the page before it comes to a button that was pressed.
        st.button(
            label, key=f"try-{key}", icon=":material/play_arrow:", help=fix.trial_help, on_click=_submit, args=(job,)
        )
        return
    run, status = tried.pair
    if status.live:
        _progress(run, key)
        return
    after = open_view(run.id)
    if status.state != "done" or after is None:
        st.error(Fix.ended_words(status), icon=":material/error:")
        _trial_link(run)
        return
    _before_and_after(view, after)
    _trial_link(run)


def _submit(job: CompileJob) -> None:
    attempt(lambda: actions.submit(job), toasted)


def _trial_link(run: Run) -> None:
    st.page_link(
        menu.OVERVIEW.script,
        label="Open the fixed run",
        icon=":material/open_in_new:",
        query_params={url.RUN: run.id},
    )


@st.fragment(run_every=POLL_S)
def _progress(run: Run, key: str) -> None:
    """Draw the progress of a trial, and the button that cancels it."""
    status: Status = run.standing()
    if not status.live:
        st.rerun()
    shown = open_shown(run.id)
    steps = shown.progress.steps if shown else ()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/hourglass_top: {plain(steps[-1], LONGEST_NAME) if steps else 'Starting'}…")
        mine = who().owns(status.by)
        help_ = None if mine else ANOTHERS
        st.button("Cancel", key=f"cancel-{key}", on_click=actions.cancel, args=(run,), disabled=not mine, help=help_)

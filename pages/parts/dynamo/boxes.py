"""Fixes of graph breaks and recompiles with their trials, code with breaks, and recompile trees.

A fix is a diff of the user's code. Its trial is a run of the fixed code, compared with the original run.
"""

from collections.abc import Sequence
from contextlib import nullcontext
from functools import partial

import streamlit as st

from core import CompileJob, Model, Run, Status, samples
from core.views import fixes as texts
from core.views.recompiles import RecompilesView, RecompileTree
from pages import menu
from pages.components.boxes.view import LineageData, lineage_view
from pages.components.code.view import code_view
from pages.gate.visitor import ANOTHERS, may_bring_code, who
from pages.look.palette import TALL
from pages.look.text import LONGEST_NAME, plain
from pages.parts.code import diff_view, source_text, user_code
from pages.parts.run.submit import job_again, needs_device, submit
from pages.session import actions, server, url
from pages.session.actions import attempt, passed_over, toasted
from pages.session.runs import newest_of
from pages.session.shown import RunView, open_shown, open_view
from pages.session.tables import Parts, data_frame
from pages.session.url import go_to, press, pressed, taken

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


def parts_of_fixes(view: RunView) -> Parts:
    """Return the functions that draw fixes, and the comparison with the original run, by part."""
    return {
        texts.ORIGINAL: partial(original_run, view),
        texts.OFFER: partial(offer, view),
        texts.OFFER_ALL: partial(offer_all, view),
    }


def code_with_breaks(view: RunView, path: str) -> None:
    """Draw a file with the graph breaks at its lines."""
    picture = user_code(view, path=path, breaks=view.report.graph_breaks)
    if picture is not None:
        url.pick(code_view(picture, key="breaks-code", height=TALL, selected=url.selected()))


def fixed_sample(view: RunView) -> None:
    """Draw the button that compiles the fixed version of the run's sample, if there is one."""
    job = view.job
    fixed = next((sample.twin for sample in samples() if job and job.model.value == sample.name), None)
    if fixed and pressed("Compile the fixed version", key="compile-fixed", icon=":material/healing:"):
        submit(CompileJob(Model("sample", fixed)))


def lineage(recompiles: RecompilesView, number: int, tree: RecompileTree, chosen: str) -> None:
    """Draw the tree of a recompiled function; a click on a compilation selects it."""
    picture = LineageData(
        name=tree.name,
        told=tree.summary,
        rows=tree.rows,
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


def fixes_of(view: RunView) -> texts.FixesView:
    """Return the fixes of a run, with the jobs that this visitor may run."""
    shown = texts.trials_of(view.run)
    return texts.FixesView(view.run.id, view.report, source_text(view), view.job, job_again(view), shown)


def trials(view: RunView) -> None:
    """Draw the progress of the trials of a run's fixes, or a button that starts those that are left."""
    run, progress = view.run, server.runner().prover.progress(view.run)
    if progress is not None:
        _trying(run, progress.decided)
    elif may_bring_code() and who().owns(view.shown.status.by) and job_again(view) and fixes_of(view).are_left:
        st.button(
            texts.TrialsView.button,
            key="prove-fixes",
            icon=":material/experiment:",
            help=texts.TrialsView.help,
            on_click=actions.try_fixes,
            args=(run,),
        )


@st.fragment(run_every=2 * POLL_S)
def _trying(run: Run, decided: int) -> None:
    """Draw the progress of trials, and a button that stops them; rerun the page at each result."""
    progress = server.runner().prover.progress(run)
    if progress is None or progress.decided != decided:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key="trying"):
        st.caption(f":material/experiment: {texts.TrialsView(progress).words}")
        if who().owns(run.standing().by):
            st.button("Stop", key="stop-trials", on_click=actions.stop_trials, args=(run,))


def offer(view: RunView, fixes: Sequence[texts.Fix], key: str) -> None:
    """Draw the fixes of a graph break or recompile, one at a time, each with a button to try it."""
    with st.container(key=f"offer-{key}"):
        index = _chosen(fixes, key)
        st.caption(fixes[index].caption)
        if fixes[index].tried:
            st.markdown(fixes[index].tried)
        _diff(fixes[index].diff, f"{key}-{index}")
        _trial(view, fixes[index], f"{key}-{index}", "Try it")


def offer_all(view: RunView, fix: texts.Fix | None, applied: texts.AppliedView | None, key: str) -> None:
    """Draw all compatible fixes as one fix, with a button to apply it, or what came of it."""
    with st.container(border=True, key=f"all-{key}"):
        if applied is not None:
            _applied(view, applied, key)
        elif fix is not None:
            st.markdown(fix.paragraph)
            with st.expander("Diff") if fix.diff else nullcontext():
                _diff(fix.diff, f"all-{key}")
            _apply_button(view, fix, key)


def _apply_button(view: RunView, fix: texts.Fix, key: str) -> None:
    """Draw the button that applies all fixes: in rounds for the owner of the run, otherwise as one run."""
    if fix.job is None or not (may_bring_code() and who().owns(view.shown.status.by)):
        _trial(view, fix, f"all-{key}", "Apply all")
    elif server.runner().prover.progress(view.run) is None:
        st.button(
            "Apply all",
            key=f"try-all-{key}",
            icon=":material/play_arrow:",
            help=texts.TrialsView.all_help,
            on_click=actions.try_fixes,
            args=(view.run, True),
        )


def _applied(view: RunView, applied: texts.AppliedView, key: str) -> None:
    """Draw the fixes that were applied together, and the run that confirms them."""
    st.markdown(applied.words)
    for text in filter(None, (applied.changes, applied.left, applied.named)):
        st.markdown(text)
    if applied.diff:
        with st.expander("Diff"):
            _diff(applied.diff, f"all-{key}")
    confirming = open_shown(applied.fixes.run) if applied.fixes.run else None
    if confirming is not None:
        _outcome_of(view, confirming.run, confirming.status, f"all-{key}")


def original_run(view: RunView) -> None:
    """Draw the comparison with the original run, if this run tries a fix, and its own trials."""
    before = back_link(view)
    if before is not None:
        _before_and_after(before, view)
    trials(view)


def back_link(view: RunView) -> RunView | None:
    """Draw the link to the original run, if this run tries a fix of its report; return it."""
    before = open_view(view.job.repairs_of) if view.job is not None and view.job.repairs_of else None
    if before is None:
        return None
    page = menu.GRAPH_BREAKS if before.report.graph_breaks else menu.RECOMPILES
    label = texts.FixesView.back_label
    st.page_link(page.script, label=label, icon=":material/undo:", query_params={url.RUN: before.run.id})
    return before


def _before_and_after(before: RunView, after: RunView) -> None:
    """Draw the result of a fix: verdict, remaining breaks and recompiles, and numbers of both runs."""
    trial = texts.TrialView(fixes_of(before), fixes_of(after))
    bar = {"repaired": st.success, "worse": st.error, "differs": st.error}.get(trial.outcome, st.warning)
    bar(trial.verdict, icon=ICONS[trial.outcome])
    if trial.remainders:
        st.markdown(trial.remainders)
    if trial.more_remainders:
        st.caption(trial.more_remainders)
    st.table(data_frame(list(trial.rows.values()), index=[*trial.rows], columns=["before", "after"]))
    st.caption(trial.method)


def _chosen(fixes: Sequence[texts.Fix], key: str) -> int:
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


def _diff(diff: str, key: str) -> None:
    if not diff:
        return
    lines = diff.count("\n") + 1
    height = LINE_PX * (min(max(lines, LEAST_LINES), SHOWN_LINES) + 3)
    diff_view("repair", diff, key=f"repair-{key}", height=height)


def _trial(view: RunView, fix: texts.Fix, key: str, label: str) -> None:
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
    _outcome_of(view, *tried.pair, key)


def _outcome_of(view: RunView, run: Run, status: Status, key: str) -> None:
    """Draw the progress of the run of a fix, or its comparison with the original run."""
    shown = open_shown(run.id)
    if status.live or (shown is not None and shown.reading):
        _progress(run, key)
        return
    after = open_view(run.id)
    if status.state != "done" or after is None:
        st.error(texts.Fix.ended_words(status), icon=":material/error:")
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
    """Draw the progress of a trial, and the button that cancels it, until its log is read."""
    status: Status = run.standing()
    shown = open_shown(run.id)
    if shown is not None and shown.reading and not status.live:
        st.caption(f":material/hourglass_top: {texts.TrialsView.reading}…")
        return
    if not status.live:
        st.rerun()
    steps = shown.progress.steps if shown else ()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f":material/hourglass_top: {plain(steps[-1], LONGEST_NAME) if steps else 'Starting'}…")
        mine = who().owns(status.by)
        help_ = None if mine else ANOTHERS
        st.button("Cancel", key=f"cancel-{key}", on_click=actions.cancel, args=(run,), disabled=not mine, help=help_)

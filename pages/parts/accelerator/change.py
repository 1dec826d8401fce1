"""The same job with disabled ops, disabled passes or frozen parameters, and the resulting differences.

The Accelerator page without a graph: the reason, and how to get one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core import CompileJob, Environment, compile_options_as_text
from core.views.accelerator import AcceleratorOptions, AcceleratorView, SegmentView
from pages import menu
from pages.look.text import LONGEST_MESSAGE, LONGEST_NAME, LONGEST_TEXT, code, one_line_cells, plain, prose
from pages.parts.accelerator.program import nodes_of
from pages.parts.run.submit import job_again, stored_run, submit_or_open
from pages.session import actions, server, url
from pages.session.actions import attempt
from pages.session.shown import RunView, View, open_view
from pages.session.url import go_to, pressed

CHANGES = "changes"
# Backends that need no C++ compiler; the first is the built-in one with kernels in Python.
WITHOUT_COMPILER = ("registry", "aot_eager", "eager")
ALWAYS = WITHOUT_COMPILER[1:]


def change_menu(view: View, segment: SegmentView) -> None:
    """Draw fields for the accelerator's options, and a button that runs the job with them.

    Draw nothing for an imported log and for code that may not run here.
    """
    job = job_again(view)
    if job is None or not AcceleratorOptions.is_used(job):
        return
    before = AcceleratorOptions.of(job)
    ops = list(dict.fromkeys([*before.without, *segment.switchable_ops(nodes_of(view, segment))]))
    with st.popover("What if…", icon=":material/alt_route:", help=before.help):
        without = st.multiselect(
            "Ops that torch runs", ops, list(before.without), key="pipeline-without", help=before.without_help
        )
        passes = st.multiselect("Passes", before.all_passes, list(before.passes), key="pipeline-passes")
        freeze = st.toggle("Freeze parameters", before.freeze, key="pipeline-freeze", help=before.freeze_help)
        changed = AcceleratorOptions(tuple(without), tuple(passes), freeze).applied(job)
        same = changed == before.applied(job)
        if pressed("Run beside this one", type="primary", key="pipeline-run", disabled=same):
            run_beside(changed, view)


def run_beside(job: CompileJob, before: RunView | None) -> None:
    """Show a finished or new run of the job on this page, compared with the previous run."""
    fitted = server.runner().limits.fitted(job)
    run = stored_run(fitted) or attempt(lambda: actions.submit(fitted))
    if run is not None:
        beside = {url.OTHER: before.run.id, url.STATION: CHANGES} if before else {}
        go_to(menu.ACCELERATOR, {url.RUN: run.id, **beside})


def run_before(view: View) -> RunView | None:
    """Return the URL's run to compare with; None unless it also used the accelerator."""
    name = url.asked(url.OTHER)
    before = open_view(name) if name and name != view.run.id else None
    return before if before is not None and AcceleratorView.is_used(before.report) else None


def changes_station(before: RunView, after: View) -> None:
    """Draw both runs in numbers, and the ops that moved."""
    changes = AcceleratorView(after.report, after.compilation).changes(before.report)
    st.caption(changes.words)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        st.dataframe(pd.DataFrame(changes.figures), hide_index=True, height="content", key="pipeline-changes")
        st.caption(changes.times_note)
        link = url.link(**{url.OTHER: before.run.id})
        st.page_link(menu.COMPARE.script, label="Compare the two runs", icon=menu.COMPARE.icon, query_params=link)
    with right:
        _options("Before", before)
        _options("Now", after)
        if changes.moved:
            moved = pd.DataFrame(one_line_cells(changes.moved, LONGEST_NAME))
            st.dataframe(moved, hide_index=True, height="content", key="pipeline-moved")


def _options(title: str, view: RunView) -> None:
    job = view.job
    if job is not None:
        st.markdown(f"**{title}**: {code(compile_options_as_text(job.compile), LONGEST_TEXT) or 'the defaults'}")


def without_pipeline(view: RunView) -> None:
    """Draw the reason why there is no accelerator graph, and a button that runs the job on the accelerator."""
    absence = AcceleratorView.absence(view.report, view.job)
    st.title(absence.title, anchor=False)
    st.write(AcceleratorView.introduction)
    if absence.error:
        st.error(plain(absence.error, LONGEST_MESSAGE), icon=":material/error:")
    if absence.words:
        st.write(prose(absence.words))
    if not absence.elsewhere:
        _offer(view, absence.no_compiler)


def _offer(view: RunView, no_compiler: bool) -> None:
    """Offer the accelerator unless its C++ compiler is missing; if it is or was missing, offer backends without it."""
    job = job_again(view)
    if job is None:
        return
    environment = server.environment() or Environment()
    is_known = bool(environment.torch)
    lacks_compiler = no_compiler or (is_known and not environment.compiler)
    if lacks_compiler:
        st.write(AcceleratorView.needs_compiler)
    with st.container(horizontal=True):
        if environment.compiler or not (is_known or no_compiler):
            label = "Run it again" if AcceleratorOptions.is_used(job) else "Run with the accelerator"
            if pressed(
                label, type="primary", key="accelerate", icon=":material/play_arrow:", help=AcceleratorOptions.run_help
            ):
                run_beside(AcceleratorOptions().applied(job), None)
        if lacks_compiler:
            _alternatives(job, environment.backends or ALWAYS)


def _alternatives(job: CompileJob, backends: Sequence[str]) -> None:
    """Draw a button for each available backend that needs no compiler; it runs the same job."""
    for name in WITHOUT_COMPILER:
        if name in backends and pressed(AcceleratorOptions.backend_label(name), key=f"instead-{name}"):
            chosen = job.with_settings(backend=name, backend_code="", mode=None, options=None)
            submit_or_open(replace(chosen, target=""))

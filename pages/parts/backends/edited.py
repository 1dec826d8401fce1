"""Edit the generated code of a graph, and run the model with it in place of Inductor's."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core.report import Kernel
from core.views.run_files import RunFiles
from pages import menu
from pages.gate.visitor import may_bring_code
from pages.look.sizes import TALL
from pages.parts.run.own_backend import BackendChoice, own_code, with_backend
from pages.parts.run.submit import job_again, run_of
from pages.session.presses import pressed
from pages.session.runs import show_run
from pages.session.shown import RunView

FILES = {"output code": "output_code.py", "Inductor's input graph": "fx_graph_runnable.py"}
HELP = (
    "The model runs with your code in place of what Inductor generated for this graph. Its results are compared with "
    "eager, and its time with Inductor's code, call by call."
)


def edit_and_run(view: RunView, kernel: Kernel) -> None:
    """Offer to edit the output code of a kernel, or the graph that it comes from, and to run the model with it.

    Draw nothing for code that may not run here, for a target, and for backends other than Inductor.
    """
    job = job_again(view)
    if job is None or job.target or job.compile.backend != "inductor" or not may_bring_code():
        return
    if not st.toggle("Edit and run", key="edit-generated", help=HELP):
        return
    label = st.segmented_control("What to edit", list(FILES), default=next(iter(FILES)), key="edit-file")
    file = FILES.get(label or "", "output_code.py")
    code = RunFiles(view.run).edited(kernel.output_code, file)
    if not code:
        st.caption("The log does not contain this file.")
        return
    button = st.container()
    begin = with_backend(job, BackendChoice("backend", code))
    changes = st.container()
    chosen = own_code(begin, f"edited-{view.run.id}-{kernel.output_code.offset}-{file}", TALL)
    if diff := RunFiles.changes(code, chosen.code):
        changes.expander("Your changes").code(diff, language="diff")
    with button:
        runs = pressed("Run the edited code", type="primary", icon=":material/play_arrow:", key="run-edited")
    if runs:
        run = run_of(replace(with_backend(job, chosen), rival=job.compile, measure=True))
        if run is not None:
            show_run(run.id, menu.OVERVIEW)

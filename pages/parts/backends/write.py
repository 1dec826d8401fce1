"""A custom backend, edited on the page: the editor, and the button that runs the shown job with it."""

from __future__ import annotations

import streamlit as st

from core import CompileJob
from pages import menu
from pages.gate.visitor import may_bring_code
from pages.look.sizes import TALL
from pages.parts.run.own_backend import CONVENTION, BackendChoice, own_code, with_backend
from pages.parts.run.submit import run_of
from pages.session.runs import show_run
from pages.session.view import RunView


def write_backend(view: RunView, job: CompileJob) -> None:
    """Draw the editor, which starts with the run's own or a built-in backend; nothing if the visitor may not bring
    code.
    """
    if not may_bring_code():
        return
    st.header("Write your own", anchor=False)
    st.caption(CONVENTION)
    editor(view, job)


def editor(view: RunView, job: CompileJob, most: int = TALL) -> None:
    """Draw the editor and its button; the new run is shown on this page."""
    button = st.container()
    chosen = own_code(job, f"write-{view.run.id}", most)
    if button.button(
        "Run with this backend", type="primary", icon=":material/play_arrow:", key="run-backend", shortcut="Ctrl+Enter"
    ):
        run_with(job, chosen)


def run_with(job: CompileJob, chosen: BackendChoice) -> None:
    """Show the job with another backend on this page: a finished run of it, or a new one."""
    run = run_of(with_backend(job, chosen))
    if run is not None:
        show_run(run.id, menu.BACKEND)

"""A job becomes a run, and the page goes there."""

from __future__ import annotations

import streamlit as st

from core import CompileboardError, CompileJob
from pages.look.text import prose
from pages.session import doors, server
from pages.session.runs import show_run


def submit(job: CompileJob) -> None:
    """Queue a job and go to its run, or say what is wrong with it."""
    try:
        run = doors.submit(job)
    except CompileboardError as error:
        st.error(prose(str(error), 800), icon=":material/error:")
        return
    show_run(run.id)


def submit_or_open(job: CompileJob) -> None:
    """A finished run of the very same job is shown at once; else it is made."""
    job = server.runner().limits.fitted(job)
    try:
        stored = server.runner().stored(job)
    except CompileboardError:
        stored = None
    if stored is not None:
        show_run(stored.id)
    submit(job)

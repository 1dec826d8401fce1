"""The same job again, with its memory measured."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages import menu
from pages.parts.run.submit import job_again, submit_or_open
from pages.session.view import RunView


def measure_memory(of: RunView) -> None:
    """Offer to measure the memory of a run.

    Nothing for a run that has it, for a log from elsewhere, for a target, and for code that may not run here.
    """
    job = job_again(of)
    if job is None or job.memory or job.target:
        return
    if st.button(
        "Measure memory", key="measure-memory", icon=menu.MEMORY.icon, help="The same job, with its memory measured"
    ):
        submit_or_open(replace(job, memory=True))

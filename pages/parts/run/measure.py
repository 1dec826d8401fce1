"""The same job once more, with what was not measured."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.run.submit import job_again, submit_or_open
from pages.session.view import RunView


def measure_now(of: RunView) -> None:
    """Offer to measure a run that did not; nothing for a log from elsewhere, for a device that is not here, and for
    code that may not run here.
    """
    job = job_again(of)
    if job is None or job.measure or job.target:
        return
    if st.button("Measure now", key="measure-now", icon=":material/speed:", help="The same job, measured"):
        submit_or_open(replace(job, measure=True))

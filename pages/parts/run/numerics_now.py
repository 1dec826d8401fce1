"""The same job again, compared with float64."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from pages.parts.run.submit import job_again, submit_or_open
from pages.session.view import RunView

HELP = "The same job; after it the model is run in float64, and compiled once more with all values among its outputs"


def numerics_now(of: RunView, label: str) -> None:
    """Offer to compare all results and nodes of a run with float64.

    Nothing for a log from elsewhere, for a target, and for code that may not run here.
    """
    job = job_again(of)
    if job is None or job.target or job.numerics == "nodes":
        return
    if st.button(label, key="numerics-now", icon=":material/exposure:", help=HELP):
        submit_or_open(replace(job, numerics="nodes"))

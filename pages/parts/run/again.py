"""From a run back to the form that makes one, with its model and its options filled in."""

from __future__ import annotations

import streamlit as st

from pages import menu
from pages.gate.visitor import may_bring_code
from pages.session import url
from pages.session.shown import Shown


def edit_and_run_again(here: Shown) -> None:
    """Offer the run's job to be edited; nothing for a log from elsewhere, and for code that may not run here."""
    job = here.job
    if job is None or (job.model.kind != "sample" and not may_bring_code()):
        return
    st.page_link(
        menu.NEW_RUN.script,
        label="Edit and run again",
        icon=":material/edit:",
        query_params={url.AGAIN: here.run.id},
    )

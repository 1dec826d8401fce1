"""Back from a run to the form, with the run's model and options filled in."""

from __future__ import annotations

import streamlit as st

from pages import menu
from pages.parts.run.submit import job_to_change
from pages.session import url
from pages.session.shown import ShownRun


def edit_and_run_again(shown: ShownRun) -> None:
    """Offer to edit the run's job; nothing for a log from elsewhere and for code that may not run here."""
    if job_to_change(shown) is None:
        return
    st.page_link(
        menu.NEW_RUN.script,
        label="Edit and run again",
        icon=":material/edit:",
        query_params={url.AGAIN: shown.run.id},
    )

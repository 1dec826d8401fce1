"""Choice of who may see a run, where people sign in."""

from __future__ import annotations

import streamlit as st

from core import Run
from pages.gate.people import the_people
from pages.session import actions
from pages.session.actions import attempt, toasted
from pages.session.state import held

AUDIENCES = {"private": "only me", "link": "whoever has its address", "all": "all in their lists"}
HELP = "The owner of this server and its admins see every run."


def audience_picker(run: Run) -> None:
    """Draw the choice of a run's audience; all see it until its author chooses."""
    if the_people() is None:
        return
    key = f"audience-{run.id}"
    st.selectbox(
        "Seen by",
        list(AUDIENCES),
        list(AUDIENCES).index(run.audience() or "all"),
        key=key,
        format_func=lambda audience: AUDIENCES[audience],
        width=220,
        help=HELP,
        on_change=lambda: attempt(lambda: actions.set_audience(run, held(key)), toasted),
    )

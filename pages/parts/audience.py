"""Choice of who may see a run or a sweep; only on servers where people sign in."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from core import Run, Sweep
from core.views import runs as lists
from pages.gate.people import the_people
from pages.session import actions
from pages.session.actions import attempt, toasted
from pages.session.url import state_of

AUDIENCES = {"private": "only me", "link": "whoever has its address", "all": "all in their lists"}


def run_audience(run: Run) -> None:
    """Draw the choice of a run's audience; until the author chooses, it is everybody."""
    _picker(run.id, run.audience(), "run", lambda audience: actions.set_audience(run, audience))


def sweep_audience(sweep: Sweep) -> None:
    """Draw the choice of a sweep's audience, which its runs share."""
    change = partial(actions.set_sweep_audience, sweep.id)
    _picker(sweep.id, sweep.audience, "sweep", change, "Seen by: ")


def _picker(name: str, current: str, what: str, choose: Callable[[str], None], inline_label: str = "") -> None:
    if the_people() is None:
        return
    key = f"audience-{name}"
    st.selectbox(
        "Seen by",
        list(AUDIENCES),
        list(AUDIENCES).index(current or "all"),
        key=key,
        format_func=lambda audience: f"{inline_label}{AUDIENCES[audience]}",
        width=300 if inline_label else 220,
        help=lists.audience_help(what),
        label_visibility="collapsed" if inline_label else "visible",
        on_change=lambda: attempt(lambda: choose(state_of(key)), toasted),
    )

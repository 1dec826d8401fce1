"""What was picked in a table or a chart just now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from pages.session import url


def fresh_row(rows: Sequence[int], key: str) -> int | None:
    """The row of a table that was picked just now; a table goes on telling of an older pick in every run."""
    picked, before = list(rows), st.session_state.get(f"{key}-rows")
    st.session_state[f"{key}-rows"] = picked
    return picked[0] if picked and picked != before else None


def select_row(key: str, ids: Sequence[str]) -> None:
    """As the callback of a table: the id of the row that was picked goes into the URL."""
    picked = st.session_state[key].selection.rows
    if picked and picked[0] < len(ids):
        url.select(ids[picked[0]])


def picked_points(key: str) -> list[dict[str, Any]]:
    """In the callback of a chart: the points that were picked, as Plotly tells of them."""
    points: list[dict[str, Any]] = st.session_state[key].selection.points
    return points

"""What was picked in a table just now."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st


def fresh_row(rows: Sequence[int], key: str) -> int | None:
    """The row of a table that was picked just now; a table goes on telling of an older pick in every run."""
    picked, before = list(rows), st.session_state.get(f"{key}-rows")
    st.session_state[f"{key}-rows"] = picked
    return picked[0] if picked and picked != before else None

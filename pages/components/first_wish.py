"""The first values that a caller asks a view for; later the browser owns them, and the sent data stays the same."""

from __future__ import annotations

import streamlit as st


def first_wish(key: str, wish: str | None) -> str | None:
    """The wish of the run in which the view of this key appeared; Streamlit forgets the state of one that has gone."""
    memory = f"{key}-initial"
    if key not in st.session_state or memory not in st.session_state:
        st.session_state[memory] = wish
    first: str | None = st.session_state[memory]
    return first

"""The first values that a caller asks a view for; later the browser owns them, and the sent data stays the same."""

from __future__ import annotations

import streamlit as st


def first_wish(key: str, wish: str | None) -> str | None:
    """Return the caller's first value for the view of this key; Streamlit forgets it when the view disappears."""
    memory = f"{key}-initial"
    if key not in st.session_state or memory not in st.session_state:
        st.session_state[memory] = wish
    first: str | None = st.session_state[memory]
    return first

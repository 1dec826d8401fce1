"""Values that a view shares with the browser: the caller gives the first one, and later the browser owns it."""

from __future__ import annotations

from typing import Any, TypeVar

import streamlit as st

Wish = TypeVar("Wish")


def first_wish(key: str, wish: Wish) -> Wish:
    """Return the first value that a caller passed for this key; Streamlit forgets it when the view disappears."""
    memory = f"{key}-initial"
    if key not in st.session_state or memory not in st.session_state:
        st.session_state[memory] = wish
    first: Wish = st.session_state[memory]
    return first


def browser_value(key: str, name: str) -> Any:
    """Return the value that the browser sent last for the view of this key; None before the view is drawn."""
    return getattr(st.session_state.get(key), name, None)

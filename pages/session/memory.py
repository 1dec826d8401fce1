"""What a session holds under a name: the value of a widget by its key, or what a page has to remember."""

from __future__ import annotations

from typing import Any

import streamlit as st


def held(name: str, default: Any = None) -> Any:
    """What is held under a name."""
    return st.session_state.get(name, default)


def hold(name: str, value: Any) -> None:
    """Hold a value under a name; a widget of this key takes it when it is drawn."""
    st.session_state[name] = value

"""Values shared with the browser: the caller sets the initial value, the browser all later values."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from typing import Any, TypeVar

import streamlit as st

Wish = TypeVar("Wish")


def first_wish(key: str, wish: Wish) -> Wish:
    """Return the first value that a caller passed for this key.

    Streamlit forgets the value when the view disappears.
    """
    memory = f"{key}-initial"
    if key not in st.session_state or memory not in st.session_state:
        st.session_state[memory] = wish
    first: Wish = st.session_state[memory]
    return first


def browser_value(key: str, name: str) -> Any:
    """Return the value that the browser sent last for the view of this key.

    None before the view is drawn, and after a change of the page, since Streamlit then drops the value.
    """
    state = st.session_state.get(key)
    return state.get(name) if isinstance(state, Mapping) else None


def when_picked(key: str, name: str, choices: Container[object], pick: Callable[[str], None]) -> Callable[[], None]:
    """Return a callback that calls `pick` with the browser's choice if it is one of `choices`."""

    def picked() -> None:
        value = browser_value(key, name)
        if isinstance(value, str) and value in choices:
            pick(value)

    return picked

"""Session state by name: values of widgets by key, and values that pages store."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer


def held(name: str, default: Any = None) -> Any:
    """Return a value of the session state; `default` if there is none."""
    return st.session_state.get(name, default)


def hold(name: str, value: Any) -> None:
    """Store a value under a name; a widget with this key gets the value when it is drawn."""
    st.session_state[name] = value


def opened_once(tab: TabContainer, name: str) -> bool:
    """Return True if a tab is open or was open in this session, so that text typed there is not lost."""
    if tab.open:
        hold(f"opened-{name}", True)
    return bool(held(f"opened-{name}"))

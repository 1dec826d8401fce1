"""What a session holds under a name: the value of a widget by its key, or what a page has to remember."""

from __future__ import annotations

from typing import Any

import streamlit as st
from streamlit.elements.lib.mutable_tab_container import TabContainer


def held(name: str, default: Any = None) -> Any:
    """What is held under a name."""
    return st.session_state.get(name, default)


def hold(name: str, value: Any) -> None:
    """Hold a value under a name; a widget of this key takes it when it is drawn."""
    st.session_state[name] = value


def opened_once(tab: TabContainer, name: str) -> bool:
    """Whether a tab is open, or was before in this session: what is typed into it stays."""
    if tab.open:
        hold(f"opened-{name}", True)
    return bool(held(f"opened-{name}"))

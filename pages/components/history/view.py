"""Browser history with one entry per page, so that one step back leads to the previous page."""

from pathlib import Path

import streamlit as st

from pages.components.exchange import component_script, message

_COMPONENT = st.components.v2.component(
    "compileboard_history", js=component_script(Path(__file__).with_name("view.js"))
)


def one_entry_a_page(*, key: str) -> None:
    """Add a browser history entry only for a new page or run, not for each query parameter."""
    _COMPONENT(key=key, data=message({}))

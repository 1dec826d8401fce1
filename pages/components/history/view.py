"""Browser history with one entry per page, so that one step back leads to the page before."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from pages.components.modules import joined

HERE = Path(__file__).parent

# Its style is the document's: it takes the element out of the page's flow, where it would have a gap.
_COMPONENT = st.components.v2.component(
    "compileboard_history",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=joined(HERE / "view.js"),
    isolate_styles=False,
)


def one_entry_a_page(*, key: str) -> None:
    """Make a browser history entry for a new page or run only; Streamlit alone makes one for each parameter."""
    with st.container(key=key):
        _COMPONENT(key=f"{key}-view", data={})

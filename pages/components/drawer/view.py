"""The edge of a drawer beside a drawing; dragging it changes the drawer's width in the browser."""

from pathlib import Path

import streamlit as st

from pages.components.exchange import component_script, message

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_drawer_edge",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "view.js"),
)


def drawer_edge() -> None:
    """Draw the edge; a page has one drawer."""
    _COMPONENT(key="drawer-edge", data=message({}))

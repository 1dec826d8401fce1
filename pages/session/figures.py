"""Charts on a page: the visitor's theme, and figures cached for all sessions."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from pages.look.palette import Theme
from pages.session.cache import cached


def theme() -> Theme:
    """Return the visitor's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def kept(make: Callable[[], go.Figure], *what: str | int | None) -> go.Figure:
    """Return the figure that `make` draws, cached for all sessions by `what`."""
    return _kept(what, make)


@cached()
def _kept(what: tuple[str | int | None, ...], _make: Callable[[], go.Figure]) -> go.Figure:
    return _make()

"""Charts on a page: the paper that the visitor looks at, and each figure drawn once for all sessions."""

from __future__ import annotations

from collections.abc import Callable

import plotly.graph_objects as go
import streamlit as st

from pages.look.palette import Theme
from pages.session.cache import cached


def theme() -> Theme:
    """The theme that the visitor looks at."""
    return "dark" if st.context.theme.type == "dark" else "light"


def kept(make: Callable[[], go.Figure], *what: str | int | None) -> go.Figure:
    """The figure that `make` draws; for the same `what` it is drawn once for all sessions."""
    return _kept(what, make)


@cached()
def _kept(what: tuple[str | int | None, ...], _make: Callable[[], go.Figure]) -> go.Figure:
    return _make()

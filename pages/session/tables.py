"""Tables and charts: their numbers in words, and what was picked in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from pages.session import url

Row = TypeVar("Row")


def in_words(frame: pd.DataFrame, forms: Mapping[str, Callable[[Any], str]]) -> pd.DataFrame | Styler:
    """A table whose columns sort as numbers and read as numbers do everywhere; what is not known is None.

    A column with a format of its own in `column_config` reads as that says. Streamlit styles so many cells and no more.
    """
    if frame.size > pd.get_option("styler.render.max_elements"):
        return frame
    return frame.style.format({name: form for name, form in forms.items() if name in frame}, na_rep="")


def picked(table: Any, rows: Sequence[Row], key: str, **look: Any) -> Row | None:
    """Show a table with a line for each of `rows`; the one that is selected, None without one."""
    event = st.dataframe(table, hide_index=True, on_select="rerun", selection_mode="single-row", key=key, **look)
    return next(iter(_those(rows, event.selection.rows)), None)


def picked_all(table: Any, rows: Sequence[Row], key: str, **look: Any) -> list[Row]:
    """The same where several may be selected."""
    event = st.dataframe(table, hide_index=True, on_select="rerun", selection_mode="multi-row", key=key, **look)
    return _those(rows, event.selection.rows)


def newly_picked(table: Any, rows: Sequence[Row], key: str, **look: Any) -> Row | None:
    """The same for what was selected just now; a table goes on telling of an older choice in every run."""
    row, before = picked(table, range(len(rows)), key, **look), st.session_state.get(f"{key}-row")
    st.session_state[f"{key}-row"] = row
    return rows[row] if row is not None and row != before else None


def picked_by_url(table: Any, ids: Sequence[str], key: str, **look: Any) -> None:
    """Show a table with a line for each id; the one that is selected goes into the URL, before the page is drawn."""
    chosen = partial(_into_url, key, ids)
    st.dataframe(table, hide_index=True, on_select=chosen, selection_mode="single-row", key=key, **look)


def compilation_by_row(table: Any, ids: Sequence[str], key: str, **look: Any) -> None:
    """Show a table with a line for each compilation; the one that is selected is shown, here and on every page."""
    chosen = partial(_into_header, key, ids)
    st.dataframe(table, hide_index=True, on_select=chosen, selection_mode="single-row", key=key, **look)


def _into_header(key: str, ids: Sequence[str]) -> None:
    for chosen in _those(ids, st.session_state[key].selection.rows):
        st.session_state[url.COMPILATION] = chosen


def _into_url(key: str, ids: Sequence[str]) -> None:
    for chosen in _those(ids, st.session_state[key].selection.rows):
        url.select(chosen)


def _those(rows: Sequence[Row], picked: Sequence[int]) -> list[Row]:
    """A table may tell of rows that it had before."""
    return [rows[index] for index in picked if index < len(rows)]


def picked_points(key: str) -> list[dict[str, Any]]:
    """In the callback of a chart: the points that were picked, as Plotly tells of them."""
    points: list[dict[str, Any]] = st.session_state[key].selection.points
    return points

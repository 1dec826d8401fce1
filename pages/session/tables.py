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
# Of the lines that Streamlit draws, and of what it draws around them.
LINE_PX, HEAD_PX = 31, 34


def in_words(frame: pd.DataFrame, forms: Mapping[str, Callable[[Any], str]]) -> pd.DataFrame | Styler:
    """A table whose columns sort as numbers and read as numbers do everywhere; what is not known is None.

    A column with a format of its own in `column_config` reads as that says. Streamlit styles so many cells and no more.
    """
    if frame.size > pd.get_option("styler.render.max_elements"):
        return frame
    return frame.style.format({name: form for name, form in forms.items() if name in frame}, na_rep="")


def picked(table: Any, rows: Sequence[Row], key: str, **look: Any) -> Row | None:
    """Show a table with a line for each of `rows`; the one that was clicked, anywhere in it, None without one."""
    event = st.dataframe(table, on_select="rerun", selection_mode="single-cell", key=key, **_look(rows, look))
    return next(iter(_those(rows, _clicked(event))), None)


def opened_or_ticked(
    table: Any, rows: Sequence[Row], key: str, button: str, column_config: Mapping[str, Any] | None = None, **look: Any
) -> tuple[Row | None, list[Row]]:
    """Show a table with a line for each of `rows`, whose column `button` opens them: the one that was opened just now,
    and those that are ticked. Keys that move through the table open none.
    """
    opens = st.column_config.ButtonColumn(type="tertiary", alignment="left", pinned=True, width=230, key=f"{key}-open")
    columns = {**(column_config or {}), button: opens}
    event = st.dataframe(
        table, on_select="rerun", selection_mode="multi-row", key=key, column_config=columns, **_look(rows, look)
    )
    click = st.session_state.get(f"{key}-open")
    return next(iter(_those(rows, [click.row] if click else [])), None), _those(rows, event.selection.rows)


def newly_picked(table: Any, rows: Sequence[Row], key: str, **look: Any) -> Row | None:
    """Return the row that was clicked just now, else None.

    Unlike `picked`, it ignores an older selection, which a table reports in every run.
    """
    chosen = picked(table, range(len(rows)), key, **look)
    place = _new(key, [] if chosen is None else [chosen])
    return None if place is None else rows[place]


def shown(table: Any, rows: Sequence[object], **look: Any) -> None:
    """Show a table with a line for each of `rows`."""
    st.dataframe(table, **_look(rows, look))


def picked_by_url(table: Any, ids: Sequence[str], key: str, **look: Any) -> None:
    """Show a table with a line for each id; the one that is clicked goes into the URL, before the page is drawn."""
    chosen = partial(_into_url, key, ids)
    st.dataframe(table, on_select=chosen, selection_mode="single-cell", key=key, **_look(ids, look))


def compilation_by_row(table: Any, ids: Sequence[str], key: str, **look: Any) -> None:
    """Show a table with a line for each compilation; the one that is selected is shown, here and on every page."""
    chosen = partial(_into_header, key, ids)
    look = {"hide_index": True, "placeholder": "", **look}
    st.dataframe(table, on_select=chosen, selection_mode="single-row", key=key, **look)


def _into_header(key: str, ids: Sequence[str]) -> None:
    for chosen in _those(ids, st.session_state[key].selection.rows):
        st.session_state[url.COMPILATION] = chosen


def _into_url(key: str, ids: Sequence[str]) -> None:
    for chosen in _those(ids, _clicked(st.session_state[key])):
        url.select(chosen)


def _look(rows: Sequence[object], look: dict[str, Any]) -> dict[str, Any]:
    """A table is as high as its lines, and no higher than it may be; what is not known is an empty cell."""
    most = look.get("height")
    short = isinstance(most, int) and HEAD_PX + LINE_PX * len(rows) <= most
    return {"hide_index": True, "placeholder": "", **look, **({"height": "content"} if short else {})}


def _new(key: str, chosen: Sequence[int]) -> int | None:
    """The line that was not chosen the last time."""
    now, before = next(iter(chosen), None), st.session_state.get(f"{key}-row")
    st.session_state[f"{key}-row"] = now
    return now if now != before else None


def _clicked(event: Any) -> list[int]:
    return [row for row, _ in event.selection.cells]


def _those(rows: Sequence[Row], picked: Sequence[int]) -> list[Row]:
    """A table may tell of rows that it had before."""
    return [rows[index] for index in picked if index < len(rows)]


def picked_points(key: str) -> list[dict[str, Any]]:
    """Return the points picked in a chart, in Plotly's form; for use in the chart's callback."""
    points: list[dict[str, Any]] = st.session_state[key].selection.points
    return points

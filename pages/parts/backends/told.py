"""Reports of a backend through torch's trace: tables, whose column `node` leads to the graph, and texts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.analysis.backend import NODE_COLUMN
from core.base import words as fmt
from core.report import Report, ToldTable, ToldText
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import FILL, TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.session import url
from pages.session.downloads import frame_twin
from pages.session.memory import held
from pages.session.tables import picked_by_url
from pages.session.view import View

MOST_TOLD = 24


def tables_of(report: Report, compilation: str) -> tuple[ToldTable, ...]:
    """Return the tables reported for a compilation, and those that name no compilation."""
    return tuple(table for table in report.told_tables if table.compilation in ("", compilation))[:MOST_TOLD]


def texts_of(report: Report, compilation: str) -> tuple[ToldText, ...]:
    """Return the texts reported for a compilation, and those that name no compilation."""
    return tuple(text for text in report.told_texts if text.compilation in ("", compilation))[:MOST_TOLD]


def told_tables(view: View, tables: Sequence[ToldTable]) -> None:
    """Draw one of the tables, which are chosen by title."""
    at = _chosen(url.TABLE, tables)
    told_table(tables[at], key=f"told-{view.compilation.id}-{at}")


def told_texts(view: View, texts: Sequence[ToldText]) -> None:
    """Draw one of the texts, which are chosen by title."""
    at = _chosen(url.TEXT, texts)
    told = texts[at]
    lines = code_lines(view.text(told.text), prefix="told")
    picture = CodePicture(one_line(told.title, LONGEST_LINE), told.language, lines)
    code_view(picture, key=f"text-{view.compilation.id}-{at}", height=FILL)


def _chosen(name: str, annotations: Sequence[ToldTable | ToldText]) -> int:
    """Return the index of the chosen one, which is in the URL."""
    places = [str(at) for at in range(len(annotations))]
    url.read(name, places, places[0])
    if len(annotations) > 1:
        titles = [one_line(one.title, LONGEST_NAME) or "without a title" for one in annotations]
        st.selectbox(name, places, key=name, format_func=lambda at: titles[int(at)], label_visibility="collapsed")
    url.write(name)
    return int(held(name, places[0]))


def told_table(table: ToldTable, *, key: str) -> None:
    """Draw a table as the backend reported it; a click on a row selects its node."""
    columns = [one_line(name, LONGEST_NAME) or f"column {at}" for at, name in enumerate(table.columns, 1)]
    frame = pd.DataFrame([list(map(_cell, row)) for row in table.rows], columns=_apart(columns))
    if NODE_COLUMN in table.columns:
        at = table.columns.index(NODE_COLUMN)
        picked_by_url(frame, [f"n:{row[at]}" for row in table.rows], key, height=TALL)
    else:
        st.dataframe(frame, hide_index=True, placeholder="", key=key)
    with st.container(horizontal=True, vertical_alignment="center"):
        frame_twin("told", frame, key=key)
        if table.left_out:
            st.caption(f"{fmt.count(table.left_out, 'more row')} not shown.")


def _cell(value: str | int | float | None) -> str | int | float | None:
    return one_line(value, LONGEST_LINE) if isinstance(value, str) else value


def _apart(names: list[str]) -> list[str]:
    """Make column names distinct, since Streamlit's tables need that."""
    return [name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)]

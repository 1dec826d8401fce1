"""The compilations of a run as a tree in a table, and the details of one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.base import words as fmt
from core.report import Compilation
from core.views.compilations import CompilationDetails, CompilationsView
from pages import menu
from pages.look.palette import STATUS
from pages.look.sizes import MAX_LINE_CHARS, TALL
from pages.session import url
from pages.session.figures import theme
from pages.session.tables import compilation_by_row, in_words

ROW_PX, HEAD_PX = 31, 36
# Marks of a status, as in the header: shape and colour.
TONES = {"failed": "bad", "over the limit": "warn", "given up": "warn", "not finished": "warn"}
MARKS = {"bad": "■ ", "warn": "◆ "}
FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("ops", "kernels", "breaks", "recompiles"), fmt.number),
    "compile time": fmt.duration_s,
}
WIDTHS = {"recompiles": 80, "compile time": 96}
HELP = {
    "ops": "What Dynamo captured, by torch's own count",
    "kernels": "Different kernels, library functions among them, of forward and backward",
    "breaks": "Graph breaks that this compilation met; one that several met counts in each",
    "recompiles": "How often the frame was compiled again",
    "compile time": "Time in which a phase of it was open, backward included",
}


def compilation_table(compilations: CompilationsView, key: str) -> None:
    """Draw a row for each compilation, with its children below it; a click shows it.

    Of similar frames only the first has rows, until the visitor searches.
    """
    text = ""
    if compilations.hides_similar:
        text = st.text_input("Search for a function or an id", key=f"{key}-search", max_chars=MAX_LINE_CHARS)
    matches = compilations.matches(text)
    frame = pd.DataFrame(compilations.rows(matches))
    meanings = compilations.meanings(list(frame["status"]))
    frame["status"] = [MARKS.get(TONES.get(status, ""), "") + status for status in frame["status"]]
    frame = frame.dropna(axis="columns", how="all")
    height = min(TALL, HEAD_PX + ROW_PX * len(frame))
    ids = [entry.id for _, entry in matches]
    columns = _columns(frame, meanings)
    compilation_by_row(_styled(frame), ids, key, width="stretch", height=height, column_config=columns)


def _styled(frame: pd.DataFrame) -> pd.DataFrame | Styler:
    table = in_words(frame, FORMS)
    if not isinstance(table, Styler):
        return table
    colours = {MARKS[tone]: STATUS[tone].dark if theme() == "dark" else STATUS[tone].light for tone in MARKS}
    return table.map(lambda status: f"color: {colours[status[:2]]}" if status[:2] in colours else "", subset=["status"])


def _columns(frame: pd.DataFrame, meanings: str) -> dict[str, Any]:
    bars = {name: _bar(name, frame[name].max()) for name in FORMS if name in frame}
    return {
        **bars,
        "function": st.column_config.TextColumn(
            pinned=True, width=212, help="↳ goes on after a break, ↻ is a recompile"
        ),
        "id": st.column_config.TextColumn(width=48, help="As PyTorch numbers it: [frame/compilation]"),
        "status": st.column_config.TextColumn(width=100, help=meanings),
    }


def _bar(name: str, most: float) -> Any:
    """Return a bar relative to the column's maximum, with the number."""
    numbers = "%.3g s" if name == "compile time" else "%d"
    width = WIDTHS.get(name, 64)
    return st.column_config.ProgressColumn(
        width=width, format=numbers, min_value=0, max_value=float(most) or 1.0, help=HELP[name]
    )


def compilation_details(compilation: Compilation, details: CompilationDetails) -> None:
    """Draw a compilation's facts, and links to the pages that show more of it."""
    st.header(details.heading, anchor=False)
    st.markdown(details.place)
    if details.error:
        (st.error if details.failed else st.warning)(details.error)
    if details.restarts:
        st.caption(details.restarts)
    for page in _pages(compilation, details):
        query = url.link(**{url.COMPILATION: compilation.id})
        st.page_link(page.script, label=page.title, icon=page.icon, query_params=query)
    with st.expander("User stack"):
        for frame in details.stack:
            st.text(frame)


def _pages(compilation: Compilation, details: CompilationDetails) -> list[menu.Page]:
    """Return the pages that show more of the compilation."""
    pages = {
        menu.FX_GRAPH: bool(compilation.graphs),
        menu.FUSION: bool(compilation.schedules),
        menu.KERNELS: bool(compilation.kernels),
        menu.GUARDS: bool(compilation.guards),
        menu.BYTECODE: compilation.bytecode is not None,
        menu.GRAPH_BREAKS: details.has_breaks,
        menu.RECOMPILES: details.has_recompiles,
    }
    return [page for page, has_content in pages.items() if has_content]

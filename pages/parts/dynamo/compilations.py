"""Table of a run's compilations as a tree, and the details of one compilation.

Bytecode of a frame before and after Dynamo and the user's lines, side by side.

A symbol of dynamic shapes in full, and links to other compilations with symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.base import words as fmt
from core.report import Compilation
from core.views.compilations import BytecodeView, CompilationsView
from core.views.dynamic_shapes import SymbolsView
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import MAX_LINE_CHARS, STATUS, TALL
from pages.parts.code import user_code
from pages.session import url
from pages.session.server import theme
from pages.session.shown import View
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
BYTECODE, PYTHON = "bytecode", "Python again"


def compilation_table(compilations: CompilationsView, key: str) -> None:
    """Draw a row for each compilation, with its children below it; a click selects it.

    Only the first of similar frames has rows, unless the visitor searches.
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
        "function": st.column_config.TextColumn(pinned=True, width=212, help=CompilationsView.column_help["function"]),
        "id": st.column_config.TextColumn(width=48, help=CompilationsView.column_help["id"]),
        "status": st.column_config.TextColumn(width=100, help=meanings),
    }


def _bar(name: str, most: float) -> Any:
    """Return a bar relative to the column's maximum, with the number."""
    numbers = "%.3g s" if name == "compile time" else "%d"
    width = WIDTHS.get(name, 64)
    return st.column_config.ProgressColumn(
        width=width, format=numbers, min_value=0, max_value=float(most) or 1.0, help=CompilationsView.column_help[name]
    )


def compilation_details(compilation: Compilation, compilations: CompilationsView) -> None:
    """Draw a compilation's facts, and links to the pages that show more of it."""
    details = compilations.details(compilation)
    st.header(details.heading, anchor=False)
    st.markdown(details.place)
    if details.error:
        (st.error if details.failed else st.warning)(details.error)
    if details.restarts:
        st.caption(details.restarts)
    for page in _pages(compilation, details.has_breaks, details.has_recompiles):
        query = url.link(**{url.COMPILATION: compilation.id})
        st.page_link(page.script, label=page.title, icon=page.icon, query_params=query)
    with st.expander("User stack"):
        for frame in details.stack:
            st.text(frame)


def _pages(compilation: Compilation, has_breaks: bool, has_recompiles: bool) -> list[menu.Page]:
    """Return the pages that show more of the compilation."""
    pages = {
        menu.FX_GRAPH: bool(compilation.graphs),
        menu.FUSION: bool(compilation.schedules),
        menu.KERNELS: bool(compilation.kernels),
        menu.GUARDS: bool(compilation.guards),
        menu.BYTECODE: compilation.bytecode is not None,
        menu.GRAPH_BREAKS: has_breaks,
        menu.RECOMPILES: has_recompiles,
    }
    return [page for page, has_content in pages.items() if has_content]


def bytecode_listings(view: View, bytecode: BytecodeView) -> None:
    """Draw both listings, next to the user's lines if the log contains their file."""
    picture = user_code(view) if bytecode.in_user_file else None
    columns = st.columns([3, 4, 5] if picture else [4, 5], gap="small")
    if picture is not None:
        with columns[0]:
            line = f"l:{view.compilation.frame.line}"
            code_view(picture, key=f"bytecode-code-{view.compilation.id}", height=TALL, selected=line)
    with columns[-2]:
        code_view(_picture("original", bytecode), key="bytecode-original", height=TALL)
    with columns[-1]:
        code_view(_picture("modified", bytecode), key="bytecode-modified", height=TALL)


def _picture(side: str, bytecode: BytecodeView) -> CodePicture:
    listing = bytecode.original_listing if side == "original" else bytecode.modified_listing
    lines = code_lines(
        listing.text,
        prefix=side[0],
        links={number: (f"l:{line}",) for number, line in listing.source_lines.items()},
        marks={number: "ok" if number in listing.calls_graph else "break" for number in listing.notes},
        notes=dict(listing.notes),
    )
    return CodePicture(side, "text", lines)


def decompiled_python(bytecode: BytecodeView) -> None:
    """Draw original and modified code as decompiled Python, and a warning about parts that could not be decompiled."""
    st.caption(bytecode.python_note)
    if bytecode.not_decompiled:
        st.warning(bytecode.not_decompiled, icon=":material/info:")
    sides = bytecode.python
    if not sides:
        return
    for column, (side, text) in zip(st.columns(len(sides), gap="small"), sides.items(), strict=True):
        with column:
            lines = code_lines(text, prefix=f"p{side[0]}")
            code_view(CodePicture(side, "python", lines), key=f"bytecode-python-{side}", height=TALL)


def bytecode_links(bytecode: BytecodeView) -> None:
    """Draw links to the graph and the resume functions that the modified code calls."""
    with st.container(horizontal=True):
        if bytecode.calls_graph:
            st.page_link(
                menu.FX_GRAPH.script,
                label="The graph",
                icon=menu.FX_GRAPH.icon,
                query_params=url.link(),
                width="content",
            )
        for compile_id, label in bytecode.resume_links.items():
            st.page_link(
                menu.BYTECODE.script,
                label=label,
                icon=menu.BYTECODE.icon,
                query_params=url.link(**{url.COMPILATION: compile_id}),
                width="content",
            )


def choose_form(bytecode: BytecodeView) -> str:
    """Return the chosen form: bytecode, or Python if it was decompiled."""
    if bytecode.without_python:
        st.caption(bytecode.without_python)
        return BYTECODE
    url.read(url.LISTING, [BYTECODE, PYTHON], BYTECODE)
    shown = st.segmented_control("Show as", [BYTECODE, PYTHON], key=url.LISTING, label_visibility="collapsed")
    url.write(url.LISTING)
    return shown or BYTECODE


def symbol_details(symbols: SymbolsView, name: str | None) -> None:
    """Draw one symbol in full: its origin, the needs of tracing, the checks at every call, and its specializations."""
    details = symbols.details(name)
    st.markdown(details.heading)
    for sentence, stack in details.constants:
        st.warning(sentence, icon=":material/lock:")
        _stack(symbols, stack)
    st.caption("Where it came from")
    _stack(symbols, details.origin)
    if details.needs:
        st.caption(details.needs_label)
    for need in details.needs:
        st.markdown(need)
    if details.checks:
        st.caption("Guards on it")
        st.code(details.checks, language="python")


def _stack(symbols: SymbolsView, stack: str) -> None:
    if stack:
        st.code(stack, language=None)
    else:
        st.markdown(symbols.no_line)


def export_issues(symbols: SymbolsView) -> None:
    """Draw what made an export unsound or fail, each with the change to make."""
    for issue in symbols.issues:
        st.warning(f"{issue.heading}\n\n{issue.advice}", icon=":material/rule:")
        if issue.stack:
            st.code(issue.stack, language=None)


def expressions(symbols: SymbolsView) -> None:
    """Draw the expressions of symbols, folded."""
    if symbols.expressions:
        with st.expander(symbols.expressions):
            st.dataframe(symbols.expression_rows, hide_index=True)


def compilations_with_symbols(symbols: SymbolsView) -> None:
    """Draw links to the run's compilations that have symbols, if the shown one has none."""
    for compile_id, label in symbols.with_symbols.items():
        st.page_link(
            menu.DYNAMIC_SHAPES.script,
            label=label,
            icon=menu.DYNAMIC_SHAPES.icon,
            query_params=url.link(**{url.COMPILATION: compile_id}),
            width="content",
        )
    if symbols.more_with_symbols:
        st.caption(symbols.more_with_symbols)

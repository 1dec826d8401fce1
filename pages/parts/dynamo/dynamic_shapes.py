"""Symbols of dynamic shapes: all symbols of a compilation in a table, and one in full."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core import CompileJob
from core.analysis import SymbolRow, frame_names, users_frames
from core.base import words as fmt
from core.report import Compilation, Frame
from pages import menu
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from pages.session import url
from pages.session.view import View

MOST_LINES = 50
MOST_LINKS = 5
WHY_NONE = (
    "Torch takes every size, and every Python number, as a constant at first; only one that changed between two calls "
    "becomes a symbol when the frame is compiled again."
)


def title(rows: Sequence[SymbolRow], compilation: Compilation) -> str:
    """Return the number of symbols, of unbacked ones, and of those that became constants."""
    unbacked = sum(not row.symbol.backed for row in rows)
    constant = sum(bool(row.constant) for row in rows)
    more = [
        f"{fmt.number(unbacked)} of them unbacked" if unbacked else "",
        f"{fmt.number(constant)} made a constant" if constant else "",
    ]
    return ", ".join([f"{fmt.count(len(rows), 'symbol')} in [{compilation.id}]", *filter(None, more)]) + "."


def symbol_table(rows: Sequence[SymbolRow]) -> pd.DataFrame:
    """Draw one row per symbol."""
    return pd.DataFrame(
        [
            {
                "symbol": one_line(row.symbol.name, LONGEST_LINE),
                "stands for": one_line(row.symbol.source or "data, unbacked", LONGEST_LINE),
                "first value": one_line(row.symbol.value, LONGEST_LINE) or "–",
                "range": one_line(row.symbol.range, LONGEST_LINE),
                "became": one_line(row.constant, LONGEST_LINE),
                "guards": len(row.needed) + len(row.checked),
                "your line": one_line(_line(row), LONGEST_LINE),
            }
            for row in rows
        ]
    )


def whole_symbol(row: SymbolRow) -> None:
    """Draw one symbol in full: its origin, the needs of tracing, the checks at every call, and its specializations."""
    symbol = row.symbol
    _heading(row)
    for found in row.specializations:
        st.warning(
            f"Made the constant {code(found.value)}: {code(found.reason) or 'torch says no reason'}",
            icon=":material/lock:",
        )
        _stack(found.stack)
    st.caption("Where it came from")
    _stack(symbol.stack)
    if row.needed:
        st.caption("What tracing needed of it" + ("" if symbol.backed else "; asserted in the code at every call"))
    for guard in row.needed[:MOST_LINES]:
        taken = f", taken to be {code(guard.assumed)}" if guard.assumed else ""
        st.markdown(f"{code(guard.expression)}{taken}{_at(guard.stack)}")
    if row.checked:
        st.caption("What is checked of it before its code is used")
        st.code("\n".join(one_line(line, LONGEST_TEXT) for line in row.checked[:MOST_LINES]), language="python")


def _heading(row: SymbolRow) -> None:
    symbol = row.symbol
    if symbol.backed:
        st.markdown(f"**{code(symbol.name)}** is {code(symbol.source)}: {code(symbol.value)} at first, {_range(row)}")
        return
    st.markdown(
        f"**{code(symbol.name)}** is unbacked: a number that only the data tell, {_range(row)}. "
        "Torch has no first value to guard on, so the code must hold for all of them."
    )


def _range(row: SymbolRow) -> str:
    return f"in {code(row.symbol.range)}" if row.symbol.range else "its range was not recorded"


def _line(row: SymbolRow) -> str:
    frames = users_frames(row.symbol.stack)
    return f"{frames[-1].short}  {frames[-1].text}" if frames else ""


def _at(stack: Sequence[Frame]) -> str:
    frames = users_frames(stack)
    return f" for {code(frames[-1].text)} at {code(frames[-1].short)}" if frames else ""


def _stack(stack: Sequence[Frame]) -> None:
    frames = users_frames(stack)
    if not frames:
        st.markdown("No line of yours: torch made it while it traced the graph again.")
        return
    lines = (f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}" for frame in frames[-MOST_LINES:])
    st.code("\n".join(lines), language=None)


def elsewhere(view: View) -> None:
    """Draw links to the run's compilations that have symbols, if the shown one has none."""
    names = frame_names(view.report)
    found = [item for item in view.report.compilations if item.symbols]
    for item in found[:MOST_LINKS]:
        st.page_link(
            menu.DYNAMIC_SHAPES.script,
            label=f"\\[{plain(item.id)}\\] {plain(names[item.id], LONGEST_NAME)}: "
            f"{fmt.count(len(item.symbols), 'symbol')}",
            icon=menu.DYNAMIC_SHAPES.icon,
            query_params=url.link(**{url.COMPILATION: item.id}),
            width="content",
        )
    if len(found) > MOST_LINKS:
        st.caption(f"{fmt.number(len(found) - MOST_LINKS)} more have symbols.")


def why_none(job: CompileJob | None) -> str:
    """Return the reason why there is no symbol, and how to get one."""
    if job is not None and job.compile.dynamic:
        return "This run asked for `dynamic=True`; nothing in this compilation could be dynamic."
    return f"{WHY_NONE} `torch.compile(model, dynamic=True)` makes them dynamic from the start."

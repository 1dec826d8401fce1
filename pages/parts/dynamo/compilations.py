"""The compilations of a run as a tree in a table, and the details of one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.analysis import Entry, alike, flattened
from core.base import words as fmt
from core.report import Compilation, Report
from pages import menu
from pages.look.palette import STATUS
from pages.look.sizes import MAX_LINE_CHARS, TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, code, one_line, plain
from pages.session import url
from pages.session.figures import theme
from pages.session.tables import compilation_by_row, in_words

ROW_PX, HEAD_PX = 31, 36
# Within a cell of a table ordinary spaces at the start would not be drawn.
INDENT = "\u2003"
BRANCHES = {"frame": "", "resume": "↳ ", "recompile": "↻ "}
# Marks of a status, as in the header: shape and colour.
TONES = {"failed": "bad", "over the limit": "warn", "given up": "warn", "not finished": "warn"}
MARKS = {"bad": "■ ", "warn": "◆ "}
MEANINGS = {
    "ok": "compiled",
    "empty": "Dynamo captured no op, so there was nothing to compile: the function runs as Python, and what it calls "
    "is compiled by itself",
    "failed": "an error ended it, and nothing was compiled",
    "over the limit": "the frame was compiled as often as torch allows, and runs eagerly where no code fits",
    "given up": "Dynamo cannot trace it, and the frame runs eagerly",
    "not finished": "the log ends before it does",
}
FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("ops", "kernels", "breaks", "recompiles"), fmt.number),
    "compile time": fmt.duration_s,
}


def totals(report: Report, entries: Sequence[Entry]) -> str:
    """Draw the sums over all compilations of the run."""
    rows = [entry for _, entry in flattened(entries)]
    parts = [
        fmt.count(sum(entry.ops for entry in rows), "captured op"),
        fmt.count(sum(entry.kernels for entry in rows), "kernel"),
        fmt.count(len(report.graph_breaks), "graph break"),
        fmt.count(sum(entry.recompiles for entry in rows), "recompile"),
    ]
    seconds = [entry.seconds for entry in rows if entry.seconds is not None]
    took = f", {fmt.duration_s(sum(seconds))} of compile time" if seconds else ""
    return f"All of them together: {', '.join(parts)}{took}."


def compilation_table(entries: Sequence[Entry], key: str) -> None:
    """Draw a row for each compilation, with its children below it; a click shows it.

    Of similar frames only the first has rows, until the visitor searches.
    """
    times = alike(entries)
    rows = list(flattened([entry for entry in entries if entry.id in times]))
    if len(times) < len(entries):
        searched = st.text_input("Search for a function or an id", key=f"{key}-search", max_chars=MAX_LINE_CHARS)
        rows = _matches(entries, searched) or rows
    frame = pd.DataFrame([_row(depth, entry, times.get(entry.id, 1)) for depth, entry in rows])
    frame = frame.dropna(axis="columns", how="all")
    height = min(TALL, HEAD_PX + ROW_PX * len(rows))
    ids = [entry.id for _, entry in rows]
    compilation_by_row(_styled(frame), ids, key, width="stretch", height=height, column_config=_columns(frame))


def _matches(entries: Sequence[Entry], text: str) -> list[tuple[int, Entry]]:
    """Return the rows that match the search; none for an empty text."""
    wanted = text.strip().lower()
    found = flattened(entries) if wanted else ()
    return [(depth, entry) for depth, entry in found if wanted in f"[{entry.id}] {entry.name}".lower()]


def _row(depth: int, entry: Entry, times: int) -> dict[str, Any]:
    more = f" × {fmt.number(times)}" if times > 1 else ""
    return {
        "function": f"{INDENT * depth}{BRANCHES[entry.kind]}{one_line(entry.brief, LONGEST_NAME)}{more}",
        "id": f"[{entry.id}]",
        "status": MARKS.get(TONES.get(entry.status, ""), "") + entry.status,
        "ops": entry.ops or None,
        "compile time": entry.seconds,
        "kernels": entry.kernels or None,
        "breaks": entry.breaks or None,
        "recompiles": entry.recompiles or None,
    }


def _styled(frame: pd.DataFrame) -> pd.DataFrame | Styler:
    table = in_words(frame, FORMS)
    if not isinstance(table, Styler):
        return table
    colours = {MARKS[tone]: STATUS[tone].dark if theme() == "dark" else STATUS[tone].light for tone in MARKS}
    return table.map(lambda status: f"color: {colours[status[:2]]}" if status[:2] in colours else "", subset=["status"])


def _columns(frame: pd.DataFrame) -> dict[str, Any]:
    bars = {name: _bar(name, frame[name].max()) for name in FORMS if name in frame}
    said = "; ".join(
        f"{status}: {meaning}"
        for status, meaning in MEANINGS.items()
        if any(status in shown for shown in frame["status"])
    )
    return {
        **bars,
        "function": st.column_config.TextColumn(
            pinned=True, width=212, help="↳ goes on after a break, ↻ is a recompile"
        ),
        "id": st.column_config.TextColumn(width=48, help="As PyTorch numbers it: [frame/compilation]"),
        "status": st.column_config.TextColumn(width=100, help=said),
    }


def _bar(name: str, most: float) -> Any:
    """Return a bar relative to the column's maximum, with the number."""
    numbers = "%.3g s" if name == "compile time" else "%d"
    width = WIDTHS.get(name, 64)
    return st.column_config.ProgressColumn(
        width=width, format=numbers, min_value=0, max_value=float(most) or 1.0, help=HELP[name]
    )


WIDTHS = {"recompiles": 80, "compile time": 96}
HELP = {
    "ops": "What Dynamo captured, by torch's own count",
    "kernels": "Different kernels, library functions among them, of forward and backward",
    "breaks": "Graph breaks that this compilation met; one that several met counts in each",
    "recompiles": "How often the frame was compiled again",
    "compile time": "Time in which a phase of it was open, backward included",
}


def one_compilation(found: Compilation, entry: Entry) -> None:
    """Draw a compilation's facts, and links to the pages that show more of it."""
    st.header(f"\\[{plain(found.id)}\\] {plain(entry.name, LONGEST_NAME)}", anchor=False)
    st.markdown(f"{code(found.frame.short) or 'Its place was not recorded'}: {MEANINGS[entry.status]}.")
    if found.error:
        (st.error if entry.status == "failed" else st.warning)(plain(found.error, LONGEST_LINE))
    if found.attempts > 1:
        st.caption(f"Traced {fmt.count(found.attempts, 'time')}: {_restarts(found)}.")
    for page in _pages(found, entry):
        st.page_link(
            page.script, label=page.title, icon=page.icon, query_params=url.link(**{url.COMPILATION: found.id})
        )
    with st.expander("User stack"):
        for frame in found.stack:
            st.text(one_line(f"{frame.file}:{frame.line} in {frame.name}", LONGEST_LINE))


def _restarts(found: Compilation) -> str:
    reasons = "; ".join(plain(reason, LONGEST_LINE) for reason in dict.fromkeys(found.restart_reasons))
    return reasons or "torch does not say why"


def _pages(found: Compilation, entry: Entry) -> list[menu.Page]:
    """Return the pages that show more of the compilation."""
    there = {
        menu.FX_GRAPH: bool(found.graphs),
        menu.FUSION: bool(found.schedules),
        menu.KERNELS: bool(found.kernels),
        menu.GUARDS: bool(found.guards),
        menu.BYTECODE: found.bytecode is not None,
        menu.GRAPH_BREAKS: bool(entry.breaks),
        menu.RECOMPILES: bool(entry.recompiles) or entry.kind == "recompile",
    }
    return [page for page, shown in there.items() if shown]

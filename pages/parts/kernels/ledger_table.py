"""The kernel ledger as a table: columns that sort as numbers and read as text; empty columns are left out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.analysis.kernels import LedgerRow
from core.base import words as fmt
from core.code import CppFacts
from core.report import Frame
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.session.tables import in_words

UNKNOWN = "–"
# A table with fewer rows than this is only as high as its rows.
FEW = 9
FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("time", "wasted", "±", "in place", "allowed", "compile"), fmt.duration_s),
    **dict.fromkeys(("moved", "read", "written", "shared", "spills"), fmt.bytes_),
    **dict.fromkeys(("share", "of roofline", "occupancy"), fmt.percent),
    **dict.fromkeys(("calls", "registers", "loops", "FLOP/B"), fmt.number),
    "bandwidth": fmt.per_second,
    "FLOP/s": partial(fmt.per_second, unit="FLOP"),
    "FLOP": fmt.amount,
}
LEFT_OUT_WHEN_EMPTY = (
    "wasted", "time", "±", "in place", "share", "of roofline", "allowed", "bandwidth", "FLOP/s", "module", "line",
    "compile", "registers", "spills", "shared", "occupancy", "vectors", "OpenMP", "loops", "timed", "FLOP", "FLOP/B",
    "bytes are", "FLOP is",
)  # fmt: skip
COLUMNS: dict[str, Any] = {
    "kernel": st.column_config.TextColumn(
        width=200, help="The module that most of it is of, and the ops that tell most of it"
    ),
    "time": st.column_config.Column(help="Median of one call of the kernel, warm and by itself", width=70),
    "moved": st.column_config.Column(help="Bytes read and written by one call", width=75),
    "wasted": st.column_config.Column(help="Time above what the roofline allows, over all calls", width=70),
    "share": st.column_config.Column(help="Of the time of all kernels", width=65),
    "of roofline": st.column_config.Column(help="Time that the roofline allows over the time taken", width=85),
    "±": st.column_config.Column(help="Half the interquartile range"),
    "in place": st.column_config.Column(help="Median where it stands in the compiled call"),
    "allowed": st.column_config.Column(help="The least time that the roofline gives"),
    "bytes are": st.column_config.TextColumn(
        help="At most, where an index depends on data or places may be read twice"
    ),
    "FLOP": st.column_config.Column(help="Torch's count; ≈ is one an op and iteration"),
    "FLOP/B": st.column_config.Column(help="Arithmetic intensity"),
    "generated name": st.column_config.TextColumn(width="medium", help="What torch calls it"),
}


def table(rows: Sequence[LedgerRow]) -> pd.DataFrame | Styler:
    """Return the table with one row per kernel call."""
    frame = pd.DataFrame([_line(row) for row in rows])
    empty = [name for name in LEFT_OUT_WHEN_EMPTY if name in frame and not frame[name].map(_says_something).any()]
    return in_words(frame.drop(columns=empty), FORMS)


def _says_something(value: Any) -> bool:
    return bool(pd.notna(value)) and value != ""


def _line(row: LedgerRow) -> dict[str, Any]:
    return {
        "kernel": one_line(row.label, LONGEST_LINE),
        "time": row.time_s,
        "share": row.share,
        "of roofline": row.fraction,
        "wasted": row.wasted_s,
        "moved": row.bytes_moved,
        "calls": row.calls,
        "graph": row.direction,
        "kind": row.kind,
        "bandwidth": row.bandwidth_bytes_s if row.measured else None,
        "FLOP/s": row.flops_s if row.measured else None,
        "ops": ", ".join(one_line(op, LONGEST_NAME) for op in row.ops[:12]),
        "module": _with_more([one_line(module.path, LONGEST_NAME) for module in row.modules]),
        "line": _with_more([str(frame.line) for frame in _lines(row.frames)]),
        "read": row.bytes_read,
        "written": row.bytes_written,
        "bytes are": "at most" if row.at_most else "",
        "FLOP": row.flops,
        "FLOP is": "≈" if row.flops_estimated else "torch" if row.flops else "",
        "FLOP/B": row.intensity,
        "±": (row.quartiles_s[1] - row.quartiles_s[0]) / 2 if row.quartiles_s else None,
        "allowed": row.allowed_s,
        "in place": row.in_place_s,
        "timed": one_line(row.timed or row.reason, LONGEST_LINE),
        "compile": row.compile_s,
        "registers": row.registers,
        "spills": row.spill_bytes,
        "shared": row.shared_bytes,
        "occupancy": row.occupancy,
        "vectors": _vectors(row.cpp) if row.cpp else "",
        "OpenMP": _parallel(row.cpp) if row.cpp else "",
        "loops": row.cpp.loops if row.cpp else None,
        "language": row.language,
        "generated name": one_line(row.name, LONGEST_LINE),
    }


def _with_more(names: list[str]) -> str:
    return "" if not names else names[0] + (f" +{fmt.number(len(names) - 1)}" if len(names) > 1 else "")


def _lines(frames: tuple[Frame, ...]) -> list[Frame]:
    """Return the distinct frames whose text is a line of code."""
    return list({(frame.file, frame.line): frame for frame in frames if frame.line}.values())


def _vectors(facts: CppFacts) -> str:
    if not facts.vectorised:
        return facts.words
    width = f", {facts.bits} bits" if facts.bits else ""
    tails = f", {fmt.count(facts.scalar_tails, 'scalar tail')}" if facts.scalar_tails else ""
    return f"{facts.words}{width}: {facts.vector_loops} of {fmt.count(facts.loops, 'loop')}{tails}"


def _parallel(facts: CppFacts) -> str:
    if not facts.parallel:
        return "one thread"
    threads = f", {fmt.count(facts.threads, 'thread')}" if facts.threads else ""
    return f"{fmt.count(facts.parallel_loops, 'loop')}{threads}"

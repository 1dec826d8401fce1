"""The kernel ledger as a table: numbers that sort as numbers, units in the headings, and no column that says
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core import words as fmt
from core.analysis.kernels import LedgerRow
from core.code import CppFacts
from core.report import Frame
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.session.tables import in_words

FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("wasted (µs)", "time (µs)", "± (µs)", "in place (µs)", "allowed (µs)"), fmt.number),
    **dict.fromkeys(("GB/s", "GFLOP/s", "FLOP/B", "compile (ms)"), fmt.number),
    **dict.fromkeys(("read", "written", "shared", "spills"), fmt.bytes_),
    **dict.fromkeys(("of roofline", "occupancy"), fmt.percent),
    "FLOP": fmt.amount,
}
LEFT_OUT_WHEN_EMPTY = (
    "wasted (µs)", "time (µs)", "± (µs)", "in place (µs)", "share", "of roofline", "allowed (µs)", "GB/s", "GFLOP/s",
    "module", "line", "compile (ms)", "registers", "spills", "shared", "occupancy", "vectors", "OpenMP", "loops",
    "timed", "FLOP", "FLOP/B", "bytes are",
)  # fmt: skip
COLUMNS: dict[str, Any] = {
    "kernel": st.column_config.TextColumn(pinned=True, width="medium"),
    "wasted (µs)": st.column_config.NumberColumn(help="Time above what the roofline allows, over all calls"),
    "time (µs)": st.column_config.NumberColumn(help="Median of one call of the kernel, warm and by itself"),
    "± (µs)": st.column_config.NumberColumn(help="Half the interquartile range"),
    "in place (µs)": st.column_config.NumberColumn(help="Median where it stands in the compiled call"),
    "share": st.column_config.ProgressColumn(
        format="percent", min_value=0, max_value=1, help="Of the time of all kernels"
    ),
    "of roofline": st.column_config.NumberColumn(help="Time that the roofline allows over the time taken"),
    "allowed (µs)": st.column_config.NumberColumn(help="The least time that the roofline gives"),
    "bytes are": st.column_config.TextColumn(
        help="At most, where an index depends on data or places may be read twice"
    ),
    "FLOP": st.column_config.NumberColumn(help="Torch's count; ≈ is one an op and iteration"),
    "FLOP/B": st.column_config.NumberColumn(help="Arithmetic intensity"),
}


def table(rows: Sequence[LedgerRow]) -> pd.DataFrame | Styler:
    """One line a kernel call."""
    frame = pd.DataFrame([_line(row) for row in rows])
    empty = [name for name in LEFT_OUT_WHEN_EMPTY if name in frame and not frame[name].map(_says_something).any()]
    return in_words(frame.drop(columns=empty), FORMS)


def _says_something(value: Any) -> bool:
    return bool(pd.notna(value)) and value != ""


def _line(row: LedgerRow) -> dict[str, Any]:
    return {
        "kernel": one_line(row.name, LONGEST_LINE),
        "kind": row.kind,
        "wasted (µs)": _scaled(row.wasted_s, 1e6),
        "time (µs)": _scaled(row.time_s, 1e6),
        "± (µs)": _scaled((row.quartiles_s[1] - row.quartiles_s[0]) / 2 if row.quartiles_s else None, 1e6),
        "share": row.share,
        "of roofline": row.fraction,
        "GB/s": _scaled(row.bandwidth_bytes_s, 1e-9) if row.measured else None,
        "GFLOP/s": _scaled(row.flops_s, 1e-9) if row.measured else None,
        "ops": ", ".join(one_line(op, LONGEST_NAME) for op in row.ops[:12]),
        "module": _with_more([one_line(module.path, LONGEST_NAME) for module in row.modules]),
        "line": _with_more([str(frame.line) for frame in _lines(row.frames)]),
        "calls": row.calls,
        "read": row.bytes_read,
        "written": row.bytes_written,
        "bytes are": "at most" if row.at_most else "",
        "FLOP": row.flops,
        "FLOP is": "≈" if row.flops_estimated else "torch" if row.flops else "",
        "FLOP/B": _scaled(row.intensity, 1),
        "allowed (µs)": _scaled(row.allowed_s, 1e6),
        "in place (µs)": _scaled(row.in_place_s, 1e6),
        "timed": one_line(row.timed or row.reason, LONGEST_LINE),
        "compile (ms)": _scaled(row.compile_s, 1e3),
        "registers": row.registers,
        "spills": row.spill_bytes,
        "shared": row.shared_bytes,
        "occupancy": row.occupancy,
        "vectors": _vectors(row.cpp) if row.cpp else "",
        "OpenMP": _parallel(row.cpp) if row.cpp else "",
        "loops": row.cpp.loops if row.cpp else None,
        "graph": row.direction,
        "language": row.language,
    }


def _scaled(value: float | None, factor: float) -> float | None:
    """A value in the unit of its column."""
    return None if value is None else value * factor


def _with_more(names: list[str]) -> str:
    return "" if not names else names[0] + (f" +{fmt.number(len(names) - 1)}" if len(names) > 1 else "")


def _lines(frames: tuple[Frame, ...]) -> list[Frame]:
    """The frames whose text is a line of code, each once."""
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

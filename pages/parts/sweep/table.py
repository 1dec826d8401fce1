"""The table of a sweep: one row per cell, which opens its run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.sweep import Axis, SweepRow
from core.sweep.presets import Answer
from core.views.speed_words import ratio_words
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, one_line

# Columns in the order of the table; a column without a value in any cell is left out.
COLUMNS: dict[str, Callable[[SweepRow], Any]] = {
    "eager / compiled": lambda row: ratio_words(row.ratio) if row.ratio and row.clear else _unclear(row),
    "eager": lambda row: row.eager_s,
    "compiled": lambda row: row.compiled_s,
    "first compiled call": lambda row: row.first_compiled_s,
    "compile time": lambda row: row.compile_s,
    "compilations": lambda row: row.compilations,
    "graphs": lambda row: row.graphs,
    "graph breaks": lambda row: row.breaks or None,
    "recompiles": lambda row: row.recompiles or None,
    "kernels": lambda row: row.kernels,
    "results": lambda row: row.outcome,
    "peak, eager": lambda row: row.eager_peak_bytes,
    "peak, compiled": lambda row: row.compiled_peak_bytes,
    "machine": lambda row: one_line(row.disturbed, LONGEST_LINE),
    "error": lambda row: one_line(row.error, LONGEST_TEXT),
}


def _whole(value: Any) -> str:
    """Return a count as an integer, since a table with gaps makes it a floating-point number."""
    return fmt.number(int(value))


FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("eager", "compiled", "first compiled call", "compile time"), fmt.duration_s),
    **dict.fromkeys(("compilations", "graphs", "graph breaks", "recompiles", "kernels"), _whole),
    **dict.fromkeys(("peak, eager", "peak, compiled"), fmt.bytes_),
}

COLUMN_WIDTHS: dict[str, Any] = {
    **dict.fromkeys(("what it does", "sets", "cannot run here", "error"), st.column_config.TextColumn(width=330)),
    **dict.fromkeys(("changed against default", "against float64"), st.column_config.TextColumn(width=260)),
    "eager / compiled": st.column_config.TextColumn(width=190, help="Median, with its 99 % interval"),
    "stops after": st.column_config.TextColumn(help="The last stage of which the log holds a graph, or code"),
}


def _unclear(row: SweepRow) -> str:
    """Return the text that replaces an unclear ratio; empty if there is none."""
    return row.claim if row.claim and row.eager_s is not None else ""


def table(axes: Sequence[Axis], rows: Sequence[SweepRow], answer: Answer) -> pd.DataFrame:
    """Return the table with one row per cell: its position, state, the preset's columns, and the measurements."""
    named = [one_line(axis.field, LONGEST_LINE) for axis in axes]
    lines = [
        {
            **{name: one_line(label, LONGEST_LINE) for name, label in zip(named, row.at, strict=True)},
            "state": row.state,
            **{name: one_line(cells[place], LONGEST_TEXT) for name, cells in answer.columns.items()},
            **{name: value(row) for name, value in COLUMNS.items()},
        }
        for place, row in enumerate(rows)
    ]
    frame = pd.DataFrame(lines)
    return frame.drop(columns=[name for name in frame if name not in named and not frame[name].map(_says).any()])


def _says(value: Any) -> bool:
    return bool(pd.notna(value)) and value != ""

"""Rows of sweeps: the table of one sweep, a row for each cell, and the list of all sweeps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from core.base import words as fmt
from core.sweep import Axis, Sweep, SweepRow
from core.sweep.presets import Answer, preset_of
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, one_line
from core.views.speedup import ratio_words


def _unclear(row: SweepRow) -> str:
    """Return the text that replaces an unclear ratio; empty if the ratio is clear."""
    return row.claim if row.claim and row.eager_s is not None else ""


# Columns in table order; a column that is empty in all cells is omitted.
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


def cell_rows(axes: Sequence[Axis], rows: Sequence[SweepRow], answer: Answer) -> list[dict[str, Any]]:
    """Return a row for each cell: its position, state, the preset's columns, and the measurements."""
    fields = [one_line(axis.field, LONGEST_LINE) for axis in axes]
    lines = [
        {
            **{field: one_line(label, LONGEST_LINE) for field, label in zip(fields, row.at, strict=True)},
            "state": row.state,
            **{name: one_line(cells[place], LONGEST_TEXT) for name, cells in answer.columns.items()},
            **{name: value(row) for name, value in COLUMNS.items()},
        }
        for place, row in enumerate(rows)
    ]
    empty = {name for line in lines[:1] for name in line if all(line[name] in (None, "") for line in lines)}
    return [{name: value for name, value in line.items() if name in fields or name not in empty} for line in lines]


def sweep_rows(sweeps: Sequence[Sweep], read_name: Callable[[str], str], now_s: float) -> list[dict[str, str]]:
    """Return a row for each sweep; `read_name` returns its name by id, empty without one."""
    return [
        {
            "sweep": one_line(read_name(sweep.id) or sweep.title, LONGEST_LINE),
            "question": preset_of(sweep).title,
            "axes": one_line("; ".join(map(_axis_words, sweep.axes)), LONGEST_LINE),
            "cells": fmt.number(len(sweep.runs)),
            "when": fmt.ago(sweep.created_s, now_s),
        }
        for sweep in sweeps
    ]


def _axis_words(axis: Axis) -> str:
    return f"{axis.field}={', '.join(axis.named())}"

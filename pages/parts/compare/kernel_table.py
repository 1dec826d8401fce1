"""Kernel pairs of two runs of one model as a table; differences are marked with ≠."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.analysis.kernels import KernelPair, KernelSide
from core.base import words as fmt
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line

UNLIKE, UNKNOWN = "≠", "–"
MARK = "background-color: rgba(204, 140, 20, 0.2)"
MOST_OPS = 12
CELLS: dict[str, Callable[[KernelSide], str]] = {
    "function": lambda side: one_line(side.name, LONGEST_LINE) if side.extern else "",
    "language": lambda side: {"cpp": "C++", "triton": "Triton"}.get(
        side.language, one_line(side.language, LONGEST_NAME)
    ),
    "kind": lambda side: one_line(side.kind, LONGEST_NAME),
    "tiling": lambda side: one_line(side.tiling, LONGEST_LINE),
    "config": lambda side: configs(side),
    "registers": lambda side: _known(side.registers, fmt.number),
    "spills": lambda side: _known(side.spill_bytes, fmt.bytes_),
    "shared memory": lambda side: _known(side.shared_bytes, fmt.bytes_),
    "occupancy": lambda side: _known(side.occupancy, fmt.percent),
    "bytes": lambda side: ("at most " if side.bytes_at_most else "") + _known(side.bytes_moved, fmt.bytes_),
    "calls": lambda side: fmt.number(side.calls),
    "FLOPs": lambda side: ("≈ " if side.flops_estimated else "") + _known(side.flops, fmt.amount),
}
LEFT_OUT = ("function", "language")
COLUMNS: dict[str, Any] = {
    "kernel": st.column_config.TextColumn(width=290),
    "config": st.column_config.TextColumn(width="medium", help="Several where only timing on the device could choose"),
    "registers": st.column_config.TextColumn(help="A thread's"),
    "shared memory": st.column_config.TextColumn(help="A block's"),
    "occupancy": st.column_config.TextColumn(help="Theoretical"),
    "left time": st.column_config.Column(help="Measured, or estimated, as the caption says"),
    "right time": st.column_config.Column(help="Measured, or estimated, as the caption says"),
    "generated name": st.column_config.TextColumn(width="medium", help="What torch calls it"),
}


def table(pairs: Sequence[KernelPair]) -> Styler:
    """Return the table with one row per pair.

    Cells that differ contain ≠ and are tinted. Empty columns are left out.
    """
    frame = pd.DataFrame([_line(pair) for pair in pairs])
    frame = frame.drop(columns=[name for name in frame if not frame[name].map(_says_something).any()])
    told = frame.style.map(lambda value: MARK if isinstance(value, str) and UNLIKE in value else "")
    return told.format({name: fmt.duration_s for name in ("left time", "right time") if name in frame}, na_rep="")


def details(pair: KernelPair) -> Styler:
    """Return the table of one pair, one row per aspect."""
    rows = [
        {"": name, "left": _text(pair.left, name), UNLIKE: _mark(pair, name), "right": _text(pair.right, name)}
        for name in CELLS
    ]
    rows.insert(0, {"": "ops", "left": _ops(pair.left), UNLIKE: _mark(pair, "fusion"), "right": _ops(pair.right)})
    frame = pd.DataFrame([row for row in rows if row["left"] or row["right"]])
    return frame.style.map(lambda value: MARK if value == UNLIKE else "", subset=[UNLIKE])


def configs(side: KernelSide) -> str:
    """Return the chosen config, or all of them if only timing can choose."""
    if side.config is None:
        return ""
    if side.config.chosen:
        return one_line(side.config.text, LONGEST_LINE)
    return one_line(" or ".join(config.text for config in side.configs), LONGEST_TEXT)


def _line(pair: KernelPair) -> dict[str, object]:
    differs = f"only on the {'left' if pair.left else 'right'}" if not pair.both else ", ".join(pair.differs)
    return {
        "kernel": _cell(
            *(one_line((side or pair.either).label, LONGEST_LINE) for side in (pair.left, pair.right)), differs=False
        ),
        "left time": pair.left.time_s if pair.left else None,
        "right time": pair.right.time_s if pair.right else None,
        "differs": differs,
        "fusion": _fusion(pair),
        **{name: _aspect(pair, name) for name in CELLS if name not in LEFT_OUT},
        "source": {True: "same", False: f"{UNLIKE}", None: ""}[pair.same_text],
        "generated name": _cell(
            *(one_line((side or pair.either).name, LONGEST_LINE) for side in (pair.left, pair.right)), differs=False
        ),
    }


def _aspect(pair: KernelPair, name: str) -> str:
    if not pair.both:
        return _text(pair.left or pair.right, name)
    return _cell(_text(pair.left, name), _text(pair.right, name), differs=name in pair.differs)


def _cell(left: str, right: str, *, differs: bool) -> str:
    """Return both sides' text in one cell, once if it is the same."""
    if differs:
        return f"{left} {UNLIKE} {right}"
    return left if left == right else f"{left or UNKNOWN} | {right or UNKNOWN}"


def _fusion(pair: KernelPair) -> str:
    parts = [
        f"{words}: {_counted(ops)}"
        for words, ops in (("only left", pair.only_left), ("only right", pair.only_right))
        if ops
    ]
    if parts:
        return f"{UNLIKE} {'; '.join(parts)}" if "fusion" in pair.differs else "; ".join(parts)
    return fmt.count(len(pair.either.ops), "op")


def _ops(side: KernelSide | None) -> str:
    return _counted(side.ops) if side else ""


def _counted(ops: Sequence[str]) -> str:
    counts = Counter(ops)
    named = [f"{one_line(op, LONGEST_NAME)}{f' ×{count}' if count > 1 else ''}" for op, count in counts.items()]
    return ", ".join(named[:MOST_OPS]) + (
        f" and {fmt.number(len(named) - MOST_OPS)} more" if len(named) > MOST_OPS else ""
    )


def _text(side: KernelSide | None, name: str) -> str:
    return CELLS[name](side) if side else ""


def _mark(pair: KernelPair, name: str) -> str:
    return UNLIKE if name in pair.differs else ""


def _known(value: Any, words: Callable[[Any], str]) -> str:
    return "" if value is None else words(value)


def _says_something(value: Any) -> bool:
    return bool(pd.notna(value)) and value != ""

"""Compiled code reused by each call, from Dynamo's cache order: the most recently used entry comes first.

The order does not show whether a frame was entered at all. That is known for frames whose order changed, for the frame
of an entered resume function, and for all frames if as many call sites as frames exist.
"""

from __future__ import annotations

from typing import Literal

from core.analysis.dynamo.frame_names import resumed
from core.analysis.work import frame_of
from core.report import Call, Compilation, Report

ReuseState = Literal["used", "unknown"]


def used(report: Report) -> tuple[dict[str, ReuseState] | None, ...]:
    """Return per call the compilations that were or may have been reused; None if calls were not recorded."""
    by_id = {compilation.id: compilation for compilation in report.compilations}
    before: frozenset[str] = frozenset()
    reused: list[dict[str, ReuseState] | None] = []
    for call in report.calls:
        reused.append(None if call.entered is None else _reused_by(call, before, by_id))
        before = frozenset(call.newest)
    return tuple(reused)


def _reused_by(call: Call, before: frozenset[str], by_id: dict[str, Compilation]) -> dict[str, ReuseState]:
    newest = [by_id[name] for name in call.newest if name in by_id]
    compiled = [compilation for compilation in newest if compilation.call == call.index]
    rest = [compilation for compilation in newest if compilation.call != call.index]
    sure = {compilation.id for compilation in rest if compilation.id not in before}
    sure |= _entered_for_resume([*compiled, *(compilation for compilation in rest if compilation.id in sure)], rest)
    left = (call.entered or 0) - len(sure)
    possible = [compilation.id for compilation in rest if compilation.id not in sure]
    if left <= 0:
        return dict.fromkeys(sure, "used")
    return {**dict.fromkeys(sure, "used"), **dict.fromkeys(possible, "used" if left >= len(possible) else "unknown")}


def _entered_for_resume(entered: list[Compilation], rest: list[Compilation]) -> set[str]:
    """Return the frames that must have been entered because their resume function was.

    A name shared by two frames is ambiguous and does not count.
    """
    parts = (resumed(compilation.frame.name) for compilation in entered)
    names = {name for name, line in parts if line is not None}
    frames = {name: {frame_of(compilation) for compilation in rest if compilation.frame.name == name} for name in names}
    return {compilation.id for compilation in rest if len(frames.get(compilation.frame.name, ())) == 1}

"""Compiled code reused by each call, from Dynamo's cache order: the most recently used entry comes first.

The order does not show whether a frame was entered at all. That is known for frames whose order changed, for the frame
of an entered resume function, and for all frames if as many call sites as frames exist.
"""

from __future__ import annotations

from typing import Literal

from core.analysis.dynamo.frame_names import resumed
from core.analysis.work import frame_of
from core.report import Call, Compilation, Report

Again = Literal["used", "unknown"]


def used(report: Report) -> tuple[dict[str, Again] | None, ...]:
    """Return per call the compilations that were or may have been reused; None if calls were not recorded."""
    known = {item.id: item for item in report.compilations}
    before: frozenset[str] = frozenset()
    found: list[dict[str, Again] | None] = []
    for call in report.calls:
        found.append(None if call.entered is None else _of_call(call, before, known))
        before = frozenset(call.newest)
    return tuple(found)


def _of_call(call: Call, before: frozenset[str], known: dict[str, Compilation]) -> dict[str, Again]:
    newest = [known[name] for name in call.newest if name in known]
    made = [item for item in newest if item.call == call.index]
    rest = [item for item in newest if item.call != call.index]
    sure = {item.id for item in rest if item.id not in before}
    sure |= _resumed([*made, *(item for item in rest if item.id in sure)], rest)
    left = (call.entered or 0) - len(sure)
    others = [item.id for item in rest if item.id not in sure]
    if left <= 0:
        return dict.fromkeys(sure, "used")
    return {**dict.fromkeys(sure, "used"), **dict.fromkeys(others, "used" if left >= len(others) else "unknown")}


def _resumed(entered: list[Compilation], rest: list[Compilation]) -> set[str]:
    """Return the frames that must have been entered because their resume function was.

    A name shared by two frames is ambiguous and does not count.
    """
    known = (resumed(item.frame.name) for item in entered)
    names = {name for name, line in known if line is not None}
    frames = {name: {frame_of(item) for item in rest if item.frame.name == name} for name in names}
    return {item.id for item in rest if len(frames.get(item.frame.name, ())) == 1}

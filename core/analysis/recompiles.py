"""What was compiled again."""

from __future__ import annotations

from core.analysis.work import frame_of
from core.report import Compilation, Report


def lineage(report: Report) -> tuple[tuple[Compilation, ...], ...]:
    """Compilations by frame in their order, for the frames that were compiled more than once."""
    frames: dict[str, list[Compilation]] = {}
    for item in report.compilations:
        frames.setdefault(frame_of(item), []).append(item)
    return tuple(tuple(items) for items in frames.values() if len(items) > 1)

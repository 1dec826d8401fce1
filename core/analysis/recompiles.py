"""What was compiled again."""

from __future__ import annotations

from core.analysis.work import frame_of
from core.report import Compilation, Report


def lineage(report: Report) -> tuple[tuple[Compilation, ...], ...]:
    """Compilations by frame in their order, for the frames that were compiled more than once."""
    frames: dict[str, list[Compilation]] = {}
    for compilation in report.compilations:
        frames.setdefault(frame_of(compilation), []).append(compilation)
    return tuple(tuple(compilations) for compilations in frames.values() if len(compilations) > 1)

"""How much of a run's work the accelerator took."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from core.analysis.pipeline import pipelines
from core.report import Report


@dataclass(frozen=True, slots=True)
class Accelerated:
    """Ops of all graphs, and the bytes that they write, on the accelerator and in all; calls across the ABI, and those
    that torch ran instead, by reason.
    """

    ops: int
    all_ops: int
    written_bytes: int
    all_written_bytes: int
    segments: int
    calls: int
    fallbacks: dict[str, int]

    @property
    def ops_share(self) -> float:
        """From 0 to 1; 0 where there is nothing."""
        return self.ops / self.all_ops if self.all_ops else 0.0

    @property
    def bytes_share(self) -> float:
        """From 0 to 1; 0 where nothing is written."""
        return self.written_bytes / self.all_written_bytes if self.all_written_bytes else 0.0


def accelerated(report: Report) -> Accelerated:
    """The shares of a run, over all its graphs, forward and backward."""
    found = [pipeline for _, pipeline in pipelines(report)]
    segments = [segment for pipeline in found for segment in pipeline.segments]
    working = [segment for segment in segments if not segment.problem]
    refused = sum(refusal.written_bytes for pipeline in found for refusal in pipeline.refusals)
    fallbacks: Counter[str] = Counter()
    for crossing in report.crossings:
        fallbacks.update(crossing.fallbacks)
    return Accelerated(
        ops=sum(len(segment.nodes) for segment in working),
        all_ops=sum(pipeline.calls for pipeline in found),
        written_bytes=sum(segment.written_bytes for segment in working),
        all_written_bytes=sum(segment.written_bytes for segment in segments) + refused,
        segments=len(working),
        calls=sum(crossing.calls for crossing in report.crossings),
        fallbacks=dict(fallbacks),
    )

"""Numbers of the accelerator in a run, and their changes between two runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.analysis.pipeline.words import pipelines
from core.analysis.speed import speed
from core.base.words import bytes_, duration_s, number, percent
from core.ops import aten_name
from core.report import Crossing, PipelineSegment, Report

Words = Callable[[float | None], str]


@dataclass(frozen=True, slots=True)
class PipelineFigures:
    """Sums over all pipelines of a run: its ops, and the `taken` ops.

    `across_bytes` are the inputs and outputs of the segments, each counted once; `written_bytes` are written by taken
    ops, `all_written_bytes` by all ops. `calls` crossed the ABI; `fallbacks` ran in torch instead, by reason. Seconds
    are for one call of each segment, None without calls; `compiled_s` is the steady state, None if not measured.
    """

    ops: int
    taken: int
    segments: int
    entries: int
    across_bytes: int
    file_bytes: int
    constant_bytes: int
    temporary_bytes: int
    arena_bytes: int
    written_bytes: int = 0
    all_written_bytes: int = 0
    calls: int = 0
    fallbacks: Mapping[str, int] = field(default_factory=dict)
    runtime_s: float | None = None
    call_s: float | None = None
    compiled_s: float | None = None

    @property
    def ops_share(self) -> float:
        """Part of the ops that are taken, from 0 to 1; 0 without ops."""
        return self.taken / self.ops if self.ops else 0.0

    @property
    def bytes_share(self) -> float:
        """Part of the written bytes that taken ops write, from 0 to 1; 0 if nothing is written."""
        return self.written_bytes / self.all_written_bytes if self.all_written_bytes else 0.0


@dataclass(frozen=True, slots=True)
class PipelineChange:
    """A number of two runs, in words; `difference` is empty if they are equal, and for measured numbers."""

    name: str
    before: str
    after: str
    difference: str


# Name → field, formatter, and True if a difference is claimed. Two runs are two processes, so that times measured in
# them are only shown side by side.
FIGURES: dict[str, tuple[str, Words, bool]] = {
    "ops on the accelerator": ("taken", number, True),
    "ops in all": ("ops", number, True),
    "segments": ("segments", number, True),
    "program entries": ("entries", number, True),
    "into and out of segments": ("across_bytes", bytes_, True),
    "files": ("file_bytes", bytes_, True),
    "constants": ("constant_bytes", bytes_, True),
    "temporaries, each by itself": ("temporary_bytes", bytes_, True),
    "temporaries as they are placed": ("arena_bytes", bytes_, True),
    "in the runtime, each segment once": ("runtime_s", duration_s, False),
    "calls of the segments, each once": ("call_s", duration_s, False),
    "compiled call, steady state": ("compiled_s", duration_s, False),
}


def pipeline_figures(report: Report) -> PipelineFigures:
    """Return the numbers of a run; segments without a program count as torch's."""
    graphs = [pipeline for _, pipeline in pipelines(report)]
    recorded = [segment for pipeline in graphs for segment in pipeline.segments]
    segments = [segment for segment in recorded if not segment.problem]
    refused = sum(refusal.written_bytes for pipeline in graphs for refusal in pipeline.refusals)
    fallbacks: Counter[str] = Counter()
    for crossing in report.crossings:
        fallbacks.update(crossing.fallbacks)
    called = [crossing for crossing in report.crossings if crossing.calls]
    steady = speed(report.timing)
    return PipelineFigures(
        ops=sum(pipeline.calls for pipeline in graphs),
        taken=sum(len(segment.nodes) for segment in segments),
        segments=len(segments),
        entries=sum(len(segment.entries) for segment in segments),
        across_bytes=sum(segment.input_bytes + segment.output_bytes for segment in segments),
        file_bytes=sum(segment.file_bytes for segment in segments),
        constant_bytes=sum(segment.constant_bytes for segment in segments),
        temporary_bytes=sum(segment.temporary_bytes for segment in segments),
        arena_bytes=sum(map(_temporary_bytes, segments)),
        written_bytes=sum(segment.written_bytes for segment in segments),
        all_written_bytes=sum(segment.written_bytes for segment in recorded) + refused,
        calls=sum(crossing.calls for crossing in report.crossings),
        fallbacks=dict(fallbacks),
        runtime_s=_seconds_per_call(called, lambda crossing: crossing.runtime_s),
        call_s=_seconds_per_call(called, lambda crossing: crossing.call_s),
        compiled_s=steady.compiled_s if steady else None,
    )


def _temporary_bytes(segment: PipelineSegment) -> int:
    """Return the bytes for temporaries: the arena, or without a plan the sum of all temporaries."""
    return segment.arena_bytes or segment.temporary_bytes


def _seconds_per_call(called: list[Crossing], seconds: Callable[[Crossing], float]) -> float | None:
    return sum(seconds(crossing) / crossing.calls for crossing in called) if called else None


def pipeline_changes(before: Report, after: Report) -> tuple[PipelineChange, ...]:
    """Return the numbers of two runs side by side."""
    left_figures, right_figures = pipeline_figures(before), pipeline_figures(after)
    rows = (
        (name, getattr(left_figures, field), getattr(right_figures, field), *rest)
        for name, (field, *rest) in FIGURES.items()
    )
    return tuple(
        PipelineChange(name, words(left), words(right), _difference(left, right, words) if is_exact else "")
        for name, left, right, words, is_exact in rows
    )


def _difference(before: float | None, after: float | None, words: Words) -> str:
    if before is None or after is None or before == after:
        return ""
    part = f" ({percent(abs(after - before) / before)})" if before and abs(after - before) <= before else ""
    return f"{'+' if after > before else '−'}{words(abs(after - before))}{part}"


def moved_ops(before: Report, after: Report) -> dict[str, tuple[int, int]]:
    """Return op → calls that torch runs in each run, for ops whose number differs."""
    left_counts, right_counts = _torch_ops(before), _torch_ops(after)
    names = dict.fromkeys([*left_counts, *right_counts])
    return {name: (left_counts[name], right_counts[name]) for name in names if left_counts[name] != right_counts[name]}


def _torch_ops(report: Report) -> Counter[str]:
    refused = (refusal for _, pipeline in pipelines(report) for refusal in pipeline.refusals)
    return Counter(aten_name(f"torch.ops.{refusal.op}") for refusal in refused)

"""The backend `accelerator` in a run: sentences, figures, places of nodes, and changes between runs.

The place of a node is its segment and program instruction, or torch with a reason.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from core.analysis.speed import speed
from core.base.words import bytes_, duration_s, number, percent
from core.ops.costs import aten_name
from core.report import Crossing, FxNode, Pipeline, PipelineSegment, Report

Words = Callable[[float | None], str]
# Prefix of the reason why torch runs a node; other nodes have the name of their segment instead.
BESIDE = "torch: "
# Text for a node without a program instruction.
FREE = "no instruction: a pass took it out, or it is in the strides of others"
ATEN = "torch.ops."


@dataclass(frozen=True, slots=True)
class PipelineFigures:
    """Sums over all accelerator graphs of a run; the accelerator runs `taken` of the `ops`.

    `across_bytes` are the inputs and outputs of the segments, each counted once. `written_bytes` are written by
    the taken ops, `all_written_bytes` by all ops. `calls` counts the calls across the ABI; `fallbacks` counts the
    calls that torch ran instead, by reason. `runtime_s` and `call_s` are for one call of each segment, None
    without calls. `compiled_s` is the steady state, None if not measured.
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
        """Share of the ops that the accelerator runs, from 0 to 1; 0 without ops."""
        return self.taken / self.ops if self.ops else 0.0

    @property
    def bytes_share(self) -> float:
        """Share of the written bytes that the accelerator's ops write, from 0 to 1; 0 if nothing is written."""
        return self.written_bytes / self.all_written_bytes if self.all_written_bytes else 0.0


@dataclass(frozen=True, slots=True)
class PipelineChange:
    """A number in two runs, as text; `difference` is empty for equal numbers and for times."""

    name: str
    before: str
    after: str
    difference: str


# Name → field, formatter, and True if a difference is claimed. No difference is claimed for times, which are measured
# in two processes.
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
    """Return the numbers of a run; ops of segments without a program count as run by torch."""
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
        arena_bytes=sum(segment.arena_bytes or segment.temporary_bytes for segment in segments),
        written_bytes=sum(segment.written_bytes for segment in segments),
        all_written_bytes=sum(segment.written_bytes for segment in recorded) + refused,
        calls=sum(crossing.calls for crossing in report.crossings),
        fallbacks=dict(fallbacks),
        runtime_s=_seconds_per_call(called, lambda crossing: crossing.runtime_s),
        call_s=_seconds_per_call(called, lambda crossing: crossing.call_s),
        compiled_s=steady.compiled_s if steady else None,
    )


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
    """Return op → how often torch runs it in each of two reports, for ops whose numbers differ."""
    left_counts, right_counts = _torch_ops(before), _torch_ops(after)
    names = dict.fromkeys([*left_counts, *right_counts])
    return {name: (left_counts[name], right_counts[name]) for name in names if left_counts[name] != right_counts[name]}


def _torch_ops(report: Report) -> Counter[str]:
    refused = (refusal for _, pipeline in pipelines(report) for refusal in pipeline.refusals)
    return Counter(aten_name(f"torch.ops.{refusal.op}") for refusal in refused)


@dataclass(frozen=True, slots=True)
class PipelineStop:
    """A step of a partitioned graph: a segment, or an op that torch runs because of `reason`."""

    name: str
    segment: PipelineSegment | None
    reason: str = ""


def node_segments(pipeline: Pipeline) -> dict[str, str]:
    """Return node → segment; a node that torch runs is mapped to the reason, prefixed by `BESIDE`."""
    inside = {name: _segment_or_reason(segment) for segment in pipeline.segments for name in segment.nodes}
    return {**inside, **{refused.node: f"{BESIDE}{refused.reason}" for refused in pipeline.refusals}}


def _segment_or_reason(segment: PipelineSegment) -> str:
    return f"{BESIDE}{segment.problem}" if segment.problem else segment.name


def entries_by_node(segment: PipelineSegment) -> dict[str, int]:
    """Return node → index of the first program instruction that names it."""
    entry_of: dict[str, int] = {}
    for index, entry in enumerate(segment.entries):
        for name in entry.nodes:
            entry_of.setdefault(name, index)
    return entry_of


def pipeline_stops(pipeline: Pipeline) -> tuple[PipelineStop, ...]:
    """Return the execution order: segments, and the ops between them that torch runs."""
    segments = {segment.name: segment for segment in pipeline.segments}
    reasons = {refused.node: refused.reason for refused in pipeline.refusals}
    return tuple(_stop(name, segments.get(name), reasons) for name in pipeline.order)


def _stop(name: str, segment: PipelineSegment | None, reasons: Mapping[str, str]) -> PipelineStop:
    return PipelineStop(name, segment, segment.problem if segment else reasons.get(name, ""))


def switchable_ops(pipeline: Pipeline, nodes: Iterable[FxNode]) -> tuple[str, ...]:
    """Return the names of the ops in segments, as used to switch an op off, most frequent first."""
    inside = {name for segment in pipeline.segments for name in segment.nodes}
    targets = (node.target for node in nodes if node.name in inside and node.target.startswith(ATEN))
    return tuple(name for name, _ in Counter(map(aten_name, targets)).most_common())


def pipelines(report: Report) -> list[tuple[str, Pipeline]]:
    """Return every accelerator graph of a run, with its compilation's id."""
    return [(compilation.id, pipeline) for compilation in report.compilations for pipeline in compilation.pipelines]


def refusal_counts(pipeline: Pipeline) -> dict[str, tuple[str, ...]]:
    """Return reason → nodes that stay with torch, most frequent reason first."""
    reasons = Counter(refusal.reason for refusal in pipeline.refusals)
    return {
        reason: tuple(refusal.node for refusal in pipeline.refusals if refusal.reason == reason)
        for reason, _ in reasons.most_common()
    }

"""Place of each graph node: its segment and program instruction, or torch with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.ops import aten_name
from core.report import FxNode, Pipeline, PipelineSegment

# Prefix of the reason why torch runs a node; other nodes have the name of their segment instead.
BESIDE = "torch: "
# Reason for a node of which no program instruction is left.
FREE = "no instruction: a pass took it out, or it is in the strides of others"
ATEN = "torch.ops."


@dataclass(frozen=True, slots=True)
class PipelineStop:
    """Next step of a divided graph: a segment, or an op that torch runs for `reason`."""

    name: str
    segment: PipelineSegment | None
    reason: str = ""


def node_segments(pipeline: Pipeline) -> dict[str, str]:
    """Return node → segment; for a node that torch runs the reason, prefixed by `BESIDE`."""
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
    """Return the ops now in segments, by the names that switch them off, most frequent first.

    `nodes` are the graph's nodes.
    """
    inside = {name for segment in pipeline.segments for name in segment.nodes}
    targets = (node.target for node in nodes if node.name in inside and node.target.startswith(ATEN))
    return tuple(name for name, _ in Counter(map(aten_name, targets)).most_common())

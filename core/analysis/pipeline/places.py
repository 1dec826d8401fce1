"""Place of each graph node: its segment and program instruction, or torch with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from core.ops import aten_name
from core.report import FxNode, Pipeline, PipelineSegment

# What stands before the reason of a node that stays with torch, where nodes are told by the segment that they are in.
BESIDE = "torch: "
# Of a node that no instruction of its program is made of any more.
FREE = "no instruction: a pass took it out, or it is in the strides of others"
ATEN = "torch.ops."


@dataclass(frozen=True, slots=True)
class PipelineStop:
    """Next step of a divided graph: a segment, or an op that torch runs for `reason`."""

    name: str
    segment: PipelineSegment | None
    reason: str = ""


def node_segments(found: Pipeline) -> dict[str, str]:
    """Return node → segment; for a node that torch runs the reason, prefixed by `BESIDE`."""
    inside = {name: _standing(segment) for segment in found.segments for name in segment.nodes}
    return {**inside, **{refused.node: f"{BESIDE}{refused.reason}" for refused in found.refusals}}


def _standing(segment: PipelineSegment) -> str:
    return f"{BESIDE}{segment.problem}" if segment.problem else segment.name


def entries_by_node(segment: PipelineSegment) -> dict[str, int]:
    """Return node → index of the first program instruction that names it."""
    found: dict[str, int] = {}
    for index, entry in enumerate(segment.entries):
        for name in entry.nodes:
            found.setdefault(name, index)
    return found


def pipeline_stops(found: Pipeline) -> tuple[PipelineStop, ...]:
    """Return the execution order: segments, and the ops between them that torch runs."""
    segments = {segment.name: segment for segment in found.segments}
    reasons = {refused.node: refused.reason for refused in found.refusals}
    return tuple(_stop(name, segments.get(name), reasons) for name in found.order)


def _stop(name: str, segment: PipelineSegment | None, reasons: Mapping[str, str]) -> PipelineStop:
    return PipelineStop(name, segment, segment.problem if segment else reasons.get(name, ""))


def switchable_ops(found: Pipeline, nodes: Iterable[FxNode]) -> tuple[str, ...]:
    """Return the ops now in segments, by the names that switch them off, most frequent first.

    `nodes` are the graph's nodes.
    """
    inside = {name for segment in found.segments for name in segment.nodes}
    targets = (node.target for node in nodes if node.name in inside and node.target.startswith(ATEN))
    return tuple(name for name, _ in Counter(map(aten_name, targets)).most_common())

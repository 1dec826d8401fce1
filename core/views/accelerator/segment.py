"""A segment of a partitioned graph: the partition, the execution order, and the place where each node runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from core.analysis.pipeline import (
    BESIDE,
    FREE,
    PipelineStop,
    entries_by_node,
    node_segments,
    pipeline_stops,
    refusal_counts,
    switchable_ops,
)
from core.base import words as fmt
from core.graph import SEGMENT, divided_graph
from core.report import Compilation, FxGraph, FxNode, Pipeline, PipelineSegment, Report
from core.views.accelerator.program import ProgramView
from core.views.markdown import LONGEST_TEXT, quoted, short

MOST_NAMES = 12
# Clearer labels of some stages.
STAGES = {"capture": "until AOTAutograd gave it", "partition": "dividing it"}


@dataclass(frozen=True)
class SegmentView:
    """A segment of a partitioned graph; `segment` is None if the whole graph stays with torch."""

    report: Report
    compilation: Compilation
    pipeline: Pipeline
    segment: PipelineSegment | None

    @property
    def id(self) -> str:
        """The segment's id in the URL."""
        return ".".join(filter(None, [self.pipeline.direction, self.segment.name if self.segment else ""]))

    @property
    def direction(self) -> str:
        """Direction of the partitioned graph."""
        return self.pipeline.direction

    @property
    def ops(self) -> int:
        """Number of ops in the segment."""
        return len(self.segment.nodes) if self.segment else 0

    @property
    def label(self) -> str:
        """Direction, name and number of ops."""
        if self.segment is None:
            return f"{self.direction}: all with torch"
        return f"{self.direction} · {self.segment.name} · {fmt.count(self.ops, 'op')}"

    @property
    def graph(self) -> FxGraph | None:
        """The partitioned graph; None if the log does not have it."""
        return divided_graph(self.compilation, self.pipeline)

    @property
    def overlay(self) -> str:
        """Name of the overlay that colours the graph by segment."""
        return SEGMENT

    @property
    def division(self) -> str:
        """The partition of the graph into segments, in words."""
        pipeline = self.pipeline
        built = [segment for segment in pipeline.segments if not segment.problem]
        into, out = sum(segment.input_bytes for segment in built), sum(segment.output_bytes for segment in built)
        rest = len(pipeline.refusals)
        stays = f"; {fmt.count(rest, 'op')} {fmt.agree(rest, 'stays', 'stay')} with torch" if rest else ""
        frozen = f"; {fmt.count(pipeline.frozen, 'parameter')} became constants" if pipeline.frozen else ""
        across = f"{fmt.bytes_(into)} in and {fmt.bytes_(out)} out across its borders"
        return (
            f"The {pipeline.direction} graph of {fmt.count(pipeline.calls, 'op')}: "
            f"{fmt.count(len(built), 'segment')}, {across}{stays}{frozen}."
        )

    def place(self, node: FxNode) -> dict[str, str]:
        """Return where a node runs, as name → text: in a segment, or with torch and the reason."""
        rows = {"node": quoted(f"{node.name} = {node.target}({node.args})", LONGEST_TEXT)}
        place = node_segments(self.pipeline).get(node.name, "")
        if place.startswith(BESIDE):
            return {**rows, "runs": "with torch", "why": place.removeprefix(BESIDE)}
        segment = self._segment_of(node)
        if segment is None:
            return {**rows, "runs": "nothing: it is an input or the output of the graph"}
        across = f"{fmt.bytes_(segment.input_bytes)} in, {fmt.bytes_(segment.output_bytes)} out"
        return {**rows, "runs": f"in {quoted(segment.name)}: {across}", "as": _instruction_words(segment, node)}

    def _segment_of(self, node: FxNode) -> PipelineSegment | None:
        return next((segment for segment in self.pipeline.segments if node.name in segment.nodes), None)

    def program_of(self, node: FxNode) -> str:
        """Return the id of the segment with the node's program; empty if torch runs the node."""
        segment = self._segment_of(node)
        has_program = segment is not None and not segment.problem
        return SegmentView(self.report, self.compilation, self.pipeline, segment).id if has_program else ""

    @cached_property
    def stops(self) -> tuple[PipelineStop, ...]:
        """Segments and the ops that torch runs, in their order of execution."""
        return pipeline_stops(self.pipeline)

    @property
    def order(self) -> list[dict[str, object]]:
        """Table with a row per step of the execution order."""
        call_s = {
            crossing.segment: crossing.call_s / crossing.calls
            for crossing in self.report.crossings
            if (crossing.compilation, crossing.direction) == (self.compilation.id, self.direction) and crossing.calls
        }
        return [_stop_row(stop, call_s.get(stop.name)) for stop in self.stops]

    def first_node(self, index: int) -> str:
        """Return the first node of a step of the execution order."""
        stop = self.stops[index]
        return stop.segment.nodes[0] if stop.segment and stop.segment.nodes else stop.name

    @property
    def refusals(self) -> list[tuple[str, str, str]]:
        """Ops that stay with torch, by reason: their number, the reason, and their names."""
        return [
            (fmt.count(len(names), "op"), short(reason, 200), _names(names))
            for reason, names in refusal_counts(self.pipeline).items()
        ]

    def switchable_ops(self, nodes: Iterable[FxNode]) -> tuple[str, ...]:
        """Return the ops that can be left to torch; `nodes` are the graph's."""
        return switchable_ops(self.pipeline, nodes)

    @property
    def stages(self) -> dict[str, float]:
        """Seconds of each stage; those of the programs are summed over all segments."""
        pipeline = self.pipeline
        stages = {STAGES.get(name, name): time_s for name, time_s in pipeline.times_s.items() if name != "programs"}
        for segment in pipeline.segments:
            for name, time_s in segment.times_s.items():
                stages[name] = stages.get(name, 0.0) + time_s
        return stages

    @property
    def missing_program(self) -> str:
        """Reason why the segment has no program; empty if it has one."""
        if self.segment is None:
            return "Every op of this graph stays with torch, so there is no program."
        if not self.segment.problem:
            return ""
        return f"Torch runs this segment, since no program could be made: {self.segment.problem}."

    @property
    def program(self) -> ProgramView | None:
        """The segment's program; None if it has none."""
        return None if self.segment is None or self.segment.problem else ProgramView(self.segment)


def _instruction_words(segment: PipelineSegment, node: FxNode) -> str:
    index = entries_by_node(segment).get(node.name)
    if index is None:
        return FREE
    entry = segment.entries[index]
    fused = [name for name in entry.nodes if name != node.name]
    joined = f", fused with {', '.join(map(quoted, fused[:MOST_NAMES]))}" if fused else ""
    return f"instruction {fmt.number(index)}, {quoted(entry.op)}{joined}"


def _names(names: tuple[str, ...]) -> str:
    more = f" and {fmt.number(len(names) - MOST_NAMES)} more" if len(names) > MOST_NAMES else ""
    return f"{', '.join(map(quoted, names[:MOST_NAMES]))}{more}"


def _stop_row(stop: PipelineStop, call_s: float | None) -> dict[str, object]:
    segment = stop.segment
    return {
        "runs": stop.name,
        "ops": len(segment.nodes) if segment else 1,
        "in": segment.input_bytes if segment else None,
        "out": segment.output_bytes if segment else None,
        "program entries": len(segment.entries) if segment and segment.entries else None,
        "file": segment.file_bytes if segment and segment.file_bytes else None,
        "a call": call_s,
        "with torch, because": stop.reason,
    }

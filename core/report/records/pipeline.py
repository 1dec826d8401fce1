"""Records of the backend `accelerator`: what it made of each graph, and what went across the ABI."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report import Load, PipelineSegment, RefusedNode
from core.report.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class PipelineRecord(Record):
    """Once a graph that the backend `accelerator` was given, forward and backward each."""

    direction: str
    """`forward`, `backward` or `inference`"""
    calls: int
    """calls of the graph before it was divided"""
    order: tuple[str, ...]
    """what runs afterwards, in order: segments, and the ops that stay with torch, by name"""
    refusals: tuple[RefusedNode, ...]
    """the nodes that stay with torch, each with its op and the reason"""
    segments: tuple[PipelineSegment, ...]
    """the segments in the order in which they run, each with its program"""
    without: tuple[str, ...] = ()
    """ops that were switched off"""
    frozen: int = 0
    """parameters and buffers that became constants of the programs"""
    times_s: dict[str, float] = field(default_factory=dict)
    """seconds of the stages: `capture`, `partition`, `programs`"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CrossingRecord(Record):
    """Once a segment, near the end of the run: all its calls, those that were measured among them."""

    compilation: str
    """the compilation that it belongs to"""
    direction: str
    """`forward`, `backward` or `inference`"""
    segment: str
    """the segment's name"""
    calls: int
    """calls across the ABI"""
    runtime_s: float
    """seconds in the runtime, in all"""
    call_s: float
    """seconds of the segment's calls, from Python and back, in all"""
    allocated_bytes: int
    """temporaries of the last call"""
    threads: int
    """threads that the runtime was given"""
    copies: int = 0
    """inputs that had another layout than when they were traced, and were copied"""
    programs: int = 0
    """sets of sizes that a program was compiled for"""
    fallbacks: dict[str, int] = field(default_factory=dict)
    """how often torch ran it instead, by reason"""
    load: Load | None = None
    """what else the machine did from the first compilation to the end of the run"""


RECORDS: dict[str, type[Record]] = {"pipeline": PipelineRecord, "crossing": CrossingRecord}

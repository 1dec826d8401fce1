"""Inductor's scheduler around fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from core.report.places import Module

Direction = Literal["forward", "backward", "inference", "joint", ""]


@dataclass(frozen=True, slots=True)
class Buffer:
    """A buffer of the generated code: dtype, shape and stride in elements; symbols stay text."""

    name: str
    dtype: str
    shape: tuple[str, ...]
    stride: tuple[str, ...]
    input: bool
    output: bool


@dataclass(frozen=True, slots=True)
class SchedulerNode:
    """A `BaseSchedulerNode`; `nodes` are the names of the nodes that were fused into it, itself if none were.

    `reads` and `writes` are (buffer, bytes), upper bounds for the buffers in `at_most`; `origins` are FX nodes;
    `kernel` is the kernel it became, empty if none was generated; `flops` is None if torch gives no estimate;
    `iterations` is the number of its loop iterations, reductions included, None if it has none or was not recorded.
    """

    name: str
    kind: str
    nodes: tuple[str, ...]
    ops: tuple[str, ...]
    reads: tuple[tuple[str, int], ...]
    writes: tuple[tuple[str, int], ...]
    origins: tuple[str, ...]
    flops: int | None
    device: str
    kernel: str = ""
    at_most: tuple[str, ...] = ()
    iterations: int | None = None

    @property
    def bytes_accessed(self) -> int:
        """Bytes read and written together."""
        return sum(size for _, size in (*self.reads, *self.writes))


@dataclass(frozen=True, slots=True)
class FusionRound:
    """A pass of the scheduler over all pairs: the fused pairs, in order, and the refused pairs, each
    with torch's reason.
    """

    fused: tuple[tuple[str, str], ...]
    rejected: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The scheduler's facts about one graph.

    `subgraph` names a branch, a loop's body or another inner graph; `one_count` is True if bytes were counted by one
    rule before and after fusion. Torch counts fused nodes by another rule, so older records cannot be compared.
    """

    graph_id: int
    direction: Direction
    before: tuple[SchedulerNode, ...]
    after: tuple[SchedulerNode, ...]
    rounds: tuple[FusionRound, ...]
    buffers: tuple[Buffer, ...]
    modules: dict[str, Module]
    subgraph: str = ""
    one_count: bool = False

    @property
    def bytes_before(self) -> int | None:
        """Memory traffic if every node ran alone; None if both sides were not counted by one rule."""
        return sum(node.bytes_accessed for node in self.before) if self.one_count else None

    @property
    def bytes_after(self) -> int | None:
        """Memory traffic of the fused nodes; None if both sides were not counted by one rule."""
        return sum(node.bytes_accessed for node in self.after) if self.one_count else None

    @property
    def at_most(self) -> bool:
        """True if the traffic is a bound: some node may read less of a buffer, as by an index that depends on data."""
        return any(node.at_most for node in (*self.before, *self.after))

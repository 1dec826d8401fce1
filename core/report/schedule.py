"""Inductor's scheduler around fusion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

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
    """One `BaseSchedulerNode`; `nodes` are the names of the nodes that were fused into it, itself if none were.

    `reads` and `writes` are (buffer, bytes) as `get_read_write_buffer_accesses` counts them; `origins` are FX nodes;
    `kernel` is the kernel it became, empty where none was generated; `flops` is None where torch gives no estimate.
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

    @property
    def bytes_accessed(self) -> int:
        """Bytes read and written together."""
        return sum(size for _, size in (*self.reads, *self.writes))


@dataclass(frozen=True, slots=True)
class FusionRound:
    """One pass of the scheduler over all pairs: what it fused, in order, and what it refused, each with torch's reason."""

    fused: tuple[tuple[str, str], ...]
    rejected: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True, slots=True)
class Schedule:
    """The scheduler's whole story for one graph."""

    graph_id: int
    direction: Direction
    before: tuple[SchedulerNode, ...]
    after: tuple[SchedulerNode, ...]
    rounds: tuple[FusionRound, ...]
    buffers: tuple[Buffer, ...]
    modules: dict[str, tuple[str, str]]

    @property
    def bytes_before(self) -> int:
        """Memory traffic if every node ran alone."""
        return sum(node.bytes_accessed for node in self.before)

    @property
    def bytes_after(self) -> int:
        """Memory traffic of the fused nodes."""
        return sum(node.bytes_accessed for node in self.after)

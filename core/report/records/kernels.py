"""Records about Inductor's scheduler, its kernels, and their binaries for a target."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report import Binary, FusionRound, Module
from core.report.inductor import Direction
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledNode:
    """A scheduler node."""

    name: str
    """torch's name"""
    kind: str
    """torch's class"""
    nodes: tuple[str, ...]
    """the names of its fused nodes"""
    ops: tuple[str, ...]
    """classes of Inductor's IR"""
    reads: dict[str, int]
    """buffer → bytes read"""
    writes: dict[str, int]
    """buffer → bytes written"""
    at_most: tuple[str, ...] = ()
    """the buffers whose bytes are a bound"""
    origins: tuple[str, ...]
    """FX nodes"""
    flops: int | None
    """torch's FLOP count of a library call or template, attention by a formula; null otherwise"""
    iterations: int | None = None
    """number of loop iterations, reductions included; null if it has no loops"""
    device: str
    """the node's device"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferLayout:
    """A buffer's layout; symbolic sizes are text."""

    dtype: str
    """torch's name of the dtype"""
    shape: tuple[str, ...]
    """in elements"""
    stride: tuple[str, ...]
    """in elements"""
    input: bool
    """true if it is an input of the graph"""
    output: bool
    """true if it is an output of the graph"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRecord(Record):
    """The scheduler's nodes before and after fusion: logged once per graph that Inductor schedules.

    The rule for bytes: a node accesses a buffer through index expressions. Each counts the distinct elements that it
    addresses in the loops (a data-dependent index: one per iteration). An expression that several nodes of a kernel
    share counts once, and a buffer counts at most its size. Reads of buffers that the kernel wrote itself don't count,
    nor do writes of buffers that nothing else needs. A library call reads its argument views and writes the buffers
    that it returns or changes. A call that only returns a view moves nothing, nor does a call of a branch or loop,
    which has its own schedule. A size that is known only at run time counts as 0.
    """

    graph_id: int | None = None
    """Inductor's number of the graph"""
    direction: Direction
    """`forward`, `backward` or `inference`"""
    subgraph: str = ""
    """the name of the branch, loop body or other inner graph; empty for the graph itself"""
    one_count: bool = False
    """true if bytes are counted by the rule above, both before and after fusion. Otherwise they are from torch's
    `get_read_write_buffer_accesses`, which counts the whole buffer for each fused node and cannot be compared"""
    nodes_before: tuple[ScheduledNode, ...]
    """the nodes before fusion"""
    nodes_after: tuple[ScheduledNode, ...]
    """the nodes after fusion"""
    rounds: tuple[FusionRound, ...]
    """one entry per fusion round: the fused pairs in order, and the refused pairs with torch's reason (without
    duplicates, at most 20,000 per graph)"""
    buffers: dict[str, BufferLayout]
    """the buffers that the nodes read or write, by name"""
    modules: dict[str, Module] = field(default_factory=dict)
    """as in `compileboard_modules`, for the post-grad graph"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRecord(Record):
    """A kernel that Inductor names, extern kernels included: logged once per kernel."""

    graph_id: int | None = None
    """as in `compileboard_schedule`"""
    direction: Direction = ""
    """as in `compileboard_schedule`"""
    name: str
    """the kernel's name in the output code"""
    handle: int | None = None
    """the debug handle in Inductor's provenance node mappings, null if there is none"""
    nodes: tuple[str, ...] = ()
    """the scheduler nodes in the kernel"""
    extern: bool = False
    """true if it is a library call"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryRecord(Binary, Record):
    """A Triton kernel compiled to machine code in a run for a target: logged once per kernel of an output code."""

    graph_id: int
    """as in `compileboard_schedule`"""
    direction: Direction
    """as in `compileboard_schedule`"""
    name: str
    """the kernel's name in the output code"""

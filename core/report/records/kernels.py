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
    """the names of the nodes that were fused into it"""
    ops: tuple[str, ...]
    """classes of Inductor's IR"""
    reads: dict[str, int]
    """buffer to bytes"""
    writes: dict[str, int]
    """buffer to bytes"""
    at_most: tuple[str, ...] = ()
    """the buffers whose bytes are a bound"""
    origins: tuple[str, ...]
    """FX nodes"""
    flops: int | None
    """torch's count of a library call or template, attention by its formula, or null"""
    iterations: int | None = None
    """how often its loops run, reductions included, or null"""
    device: str
    """its device"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferLayout:
    """A buffer; symbols stay text."""

    dtype: str
    """torch's name of it"""
    shape: tuple[str, ...]
    """in elements"""
    stride: tuple[str, ...]
    """in elements"""
    input: bool
    """whether it is an input of the graph"""
    output: bool
    """whether it is an output of the graph"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRecord(Record):
    """The scheduler's nodes before and after fusion: logged once a graph that Inductor schedules.

    The rule for bytes: a node touches a buffer through index expressions, each for as many elements as it has places
    over the loops (an index that depends on data: as many as there are iterations). An expression that several nodes of
    a kernel share is counted once, and a buffer at most at its size. Buffers that the kernel wrote itself are not read;
    buffers that nothing else needs are not written. A library call reads its argument views and writes the buffers that
    it returns or changes; a call that only returns a view moves nothing, nor does a call of a branch or loop, which has
    a separate schedule. A size that is known only at run time counts as 0.
    """

    graph_id: int | None = None
    """Inductor's number of the graph"""
    direction: Direction
    """`forward`, `backward` or `inference`"""
    subgraph: str = ""
    """the name of the branch, loop body or other inner graph; empty for the graph itself"""
    one_count: bool = False
    """true if bytes are counted by the rule above, both before and after fusion. Records without it hold torch's
    `get_read_write_buffer_accesses`, which takes the whole buffer for each fused node and cannot be compared"""
    nodes_before: tuple[ScheduledNode, ...]
    """the nodes before fusion"""
    nodes_after: tuple[ScheduledNode, ...]
    """the nodes after it"""
    rounds: tuple[FusionRound, ...]
    """for each pass over all pairs the pairs that were fused, in order, and each refused pair with torch's reason
    (distinct ones, at most 20,000 a graph)"""
    buffers: dict[str, BufferLayout]
    """the buffers that the nodes touch, by name"""
    modules: dict[str, Module] = field(default_factory=dict)
    """as in `compileboard_modules`, for the post-grad graph"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelRecord(Record):
    """A kernel that Inductor names, extern kernels included: logged for each."""

    graph_id: int | None = None
    """as in `compileboard_schedule`"""
    direction: Direction = ""
    """as in `compileboard_schedule`"""
    name: str
    """the kernel's name in the output code"""
    handle: int | None = None
    """the debug handle of Inductor's provenance, which its node mappings use, null if there is none"""
    nodes: tuple[str, ...] = ()
    """the scheduler nodes that it was made from"""
    extern: bool = False
    """whether it is a call of a library"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BinaryRecord(Binary, Record):
    """A Triton kernel compiled to machine code in a run for a target: logged once for each kernel of a
    graph's output code.
    """

    graph_id: int
    """as in `compileboard_schedule`"""
    direction: Direction
    """as in `compileboard_schedule`"""
    name: str
    """the kernel's name in the output code"""

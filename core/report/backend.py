"""Facts about custom backends, and about the backend `accelerator`.

Custom backends: calls, executions and annotations. `accelerator`: segments, programs, and calls across the C
ABI.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from core.base.machine import Load
from core.report.places import Payload, Record


@dataclass(frozen=True, slots=True)
class BackendNode:
    """A node of a graph as a backend gets it: the columns of `print_tabular`, its users, and its value.

    `value` is torch's notation for the node's value, such as `f32[4, 8]`; empty if it has none.
    """

    name: str
    op: str
    target: str
    args: str
    kwargs: str
    users: tuple[str, ...]
    value: str


@dataclass(frozen=True, slots=True)
class Invocation(Record):
    """A call of a backend other than `inductor`, logged under the id of the compilation.

    `torch.compile` passes a graph and example inputs to the backend, which returns a callable.
    """

    backend: str
    """the backend's name, or the name of the callable passed as `backend=`"""
    inputs: tuple[str, ...]
    """the example inputs, shortened: `f32[4, 8]`"""
    nodes: tuple[BackendNode, ...]
    """the nodes of the graph in order"""
    left_out: int
    """number of nodes beyond those"""
    code: str
    """`gm.code`; empty if it was too long"""
    returned: str
    """type and name of the returned object"""
    seconds: float
    """how long it took"""
    problem: str = ""
    """why the returned object is invalid, or the backend's exception"""
    place: tuple[str, int] | None = None
    """file and line of the exception"""
    key: str = ""
    """the compilation in later records of the same process; empty if it is the record's own id"""


@dataclass(frozen=True, slots=True)
class Execution:
    """An execution of a callable that a backend returned.

    `call` is the index of the run's call that caused the execution; None outside of these calls, such as while
    measuring. `number` is the index of the execution in its compilation, from 0.
    """

    compilation: str
    number: int
    call: int | None
    seconds: float
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Executions:
    """Number of executions of a backend's callable: in the run's calls, and while measuring."""

    compilation: str
    calls: int
    measured: int
    seconds: float


@dataclass(frozen=True, slots=True)
class AnnotationTable:
    """A table that a backend logged through torch's own trace.

    A column named `node` contains names of graph nodes.
    """

    compilation: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class AnnotationText:
    """A text that a backend logged through torch's own trace, such as the graph after one of its stages."""

    compilation: str
    title: str
    language: str
    text: Payload


@dataclass(frozen=True, slots=True)
class RefusedNode:
    """A node that torch executes: its op, the reason, and the bytes that it writes (0 for a view)."""

    node: str
    op: str
    reason: str
    written_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """An instruction of a program: its op, FX nodes and steps, and its input and output tensors."""

    op: str
    nodes: tuple[str, ...]
    steps: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProgramPass:
    """The program after a pass: its text and its number of instructions.

    The first entry is the program before any pass.
    """

    name: str
    entries: int
    text: str


@dataclass(frozen=True, slots=True)
class FileSection:
    """A section of the program's file, with its CRC32C."""

    name: str
    offset: int
    bytes: int
    checksum: int


@dataclass(frozen=True, slots=True)
class ProgramBuffer:
    """A buffer of a program, with the first and the last instruction that need it.

    `place` is a temporary's offset in the arena, a constant's offset in its section, or the index of an input or
    output; None if the buffer has no place. Only temporaries are limited to the instructions that use them: all
    other buffers are needed from the first to the last instruction of the program.
    """

    name: str
    kind: str
    bytes: int
    place: int | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PipelineSegment:
    """Nodes that run as one program; if the program could not be built, `problem` is the reason.

    Bytes are for the sizes of the traced graph, without constants. `written_bytes` are the bytes that the nodes would
    write if each ran alone (0 for a view). `file` is the name of the program's file in the run's directory; `times_s`
    are the seconds of each build stage.
    """

    name: str
    nodes: tuple[str, ...]
    input_bytes: int
    output_bytes: int
    problem: str = ""
    file: str = ""
    file_bytes: int = 0
    arena_bytes: int = 0
    temporary_bytes: int = 0
    constant_bytes: int = 0
    dynamic: bool = False
    entries: tuple[ProgramEntry, ...] = ()
    passes: tuple[ProgramPass, ...] = ()
    sections: tuple[FileSection, ...] = ()
    buffers: tuple[ProgramBuffer, ...] = ()
    times_s: dict[str, float] = field(default_factory=dict)
    written_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Pipeline(Record):
    """A graph that the backend `accelerator` compiled.

    Logged for each forward, backward and inference graph.
    """

    direction: str
    """`forward`, `backward` or `inference`"""
    calls: int
    """number of calls in the graph before partitioning"""
    order: tuple[str, ...]
    """execution order after partitioning: names of the segments and of the nodes that stay with torch"""
    refusals: tuple[RefusedNode, ...]
    """the nodes that stay with torch, each with its op and the reason"""
    segments: tuple[PipelineSegment, ...]
    """the segments in execution order, each with its program"""
    without: tuple[str, ...] = ()
    """ops that were switched off"""
    frozen: int = 0
    """parameters and buffers that became constants of the programs"""
    times_s: dict[str, float] = field(default_factory=dict)
    """seconds of the stages: `capture`, `partition`, `programs`"""
    key: str = ""
    """the compilation in later records of the same process; empty if it is the record's own id"""


@dataclass(frozen=True, slots=True)
class Crossing(Record):
    """Calls of one segment across the C ABI, including calls while measuring.

    Logged once per segment, near the end of the run.
    """

    compilation: str
    """the segment's compilation, by the key of its `compileboard_pipeline`"""
    direction: str
    """`forward`, `backward` or `inference`"""
    segment: str
    """the segment's name"""
    calls: int
    """calls across the ABI"""
    runtime_s: float
    """total seconds in the runtime"""
    call_s: float
    """total seconds of the segment's calls, measured in Python"""
    allocated_bytes: int
    """bytes of temporaries in the last call"""
    threads: int
    """threads of the runtime"""
    copies: int = 0
    """number of inputs that were copied because their layout differs from the traced one"""
    programs: int = 0
    """number of size sets that programs were compiled for"""
    fallbacks: dict[str, int] = field(default_factory=dict)
    """reason → number of calls that torch ran instead"""
    load: Load | None = None
    """the machine's other load from the first compilation to the end of the run"""

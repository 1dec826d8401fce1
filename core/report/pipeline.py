"""What the backend `accelerator` made of a graph: segments, programs, their files, and what went across the ABI."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.base.load import Load


@dataclass(frozen=True, slots=True)
class RefusedNode:
    """A node that stays with torch, its op, why, and the bytes that it writes; a view writes none."""

    node: str
    op: str
    reason: str
    written_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """One instruction of a program: its op, the FX nodes that are in it, its steps, and the tensors that it reads and
    writes.
    """

    op: str
    nodes: tuple[str, ...]
    steps: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ProgramPass:
    """The program after a pass, as text, and how many instructions it then has; the first is as it was read."""

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
    """Memory of a program: `place` is a temporary's offset in the arena or a constant's in its section, otherwise the
    number of the input or output; `first` and `last` are the instructions between which it is needed.
    """

    name: str
    kind: str
    bytes: int
    place: int | None
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PipelineSegment:
    """Nodes that run as one program; without a program, and with the `problem`, where it could not be made.

    Bytes are those of the sizes that the graph was traced with, constants not among them; `written_bytes` those that
    its nodes would write one by one, views none. `file` is its name in the run's directory; `times_s` has the stages
    of making it.
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
class Pipeline:
    """One graph on its way: `order` has what runs, segments and torch's ops by name; `calls` counts the graph's calls
    before it was divided, `frozen` the parameters that became constants, `without` the ops that were switched off.
    """

    direction: str
    calls: int
    order: tuple[str, ...]
    refusals: tuple[RefusedNode, ...]
    segments: tuple[PipelineSegment, ...]
    without: tuple[str, ...] = ()
    frozen: int = 0
    times_s: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Crossing:
    """All calls of one segment: seconds in the runtime and of the whole call, inputs that had to be copied, sets of
    sizes that a program was compiled for, how often torch ran it instead, by reason, and what else the machine did.
    """

    compilation: str
    direction: str
    segment: str
    calls: int
    runtime_s: float
    call_s: float
    allocated_bytes: int
    threads: int
    copies: int = 0
    programs: int = 0
    fallbacks: dict[str, int] = field(default_factory=dict)
    load: Load | None = None

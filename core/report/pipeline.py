"""Graphs of the backend `accelerator`: segments, programs, their files, and the calls across the ABI."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.base.load import Load
from core.report.record import Record


@dataclass(frozen=True, slots=True)
class RefusedNode:
    """A node that stays with torch, its op, why, and the bytes that it writes; a view writes none."""

    node: str
    op: str
    reason: str
    written_bytes: int = 0


@dataclass(frozen=True, slots=True)
class ProgramEntry:
    """An instruction of a program: its op, the FX nodes that are in it, its steps, and the tensors that
    it reads and writes.
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
    """Nodes that run as one program; if it could not be made, there is a `problem` in its place.

    Bytes are for the sizes that the graph was traced with, without constants; `written_bytes` are the bytes that its
    nodes would write one by one, views none. `file` is its name in the run's directory; `times_s` has the stages of
    making it.
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
    """A graph that the backend `accelerator` got, forward and backward each."""

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


@dataclass(frozen=True, slots=True)
class Crossing(Record):
    """The calls of one segment across the ABI: once, near the end of the run, with the calls that were measured."""

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
    """threads of the runtime"""
    copies: int = 0
    """inputs that had another layout than when they were traced, and were copied"""
    programs: int = 0
    """sets of sizes that a program was compiled for"""
    fallbacks: dict[str, int] = field(default_factory=dict)
    """how often torch ran it instead, by reason"""
    load: Load | None = None
    """the machine's other load from the first compilation to the end of the run"""

"""Requests about one kernel, and their results.

A request is small JSON; its digest is the name of its result's directory. Texts of a result are cut after `MAX_LINES`
lines, with the number of left-out lines.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import msgspec

from core.code.cpp import Loop, Region
from core.code.stages import Resources

SCHEMA = 1
MAX_LINES = 20_000


class Ladder(msgspec.Struct, frozen=True, tag=True):
    """Request for the compilation stages of one config of a Triton kernel, from Python to machine code.

    `target` is a key of `core.job.targets.TARGETS`, empty for the device that the kernel was generated for.
    """

    kernel: str
    target: str = ""
    config: int = 0


class Passes(msgspec.Struct, frozen=True, tag=True):
    """Request for the MLIR passes that changed the module, and their changes."""

    kernel: str
    target: str = ""
    config: int = 0


class Configs(msgspec.Struct, frozen=True, tag=True):
    """Request for every config of the autotuner with its resources."""

    kernel: str
    target: str = ""


class Assembly(msgspec.Struct, frozen=True, tag=True):
    """Request for the assembly of a C++ kernel from the compiler that Inductor calls."""

    kernel: str


class Reproduce(msgspec.Struct, frozen=True, tag=True):
    """Request to run the script that reproduces a kernel alone."""

    kernel: str


class Interpret(msgspec.Struct, frozen=True, tag=True):
    """Request to run a Triton kernel in Triton's interpreter on the CPU.

    It is the run's kernel, or launched by `code`, a module. `program` is the program id, three axes, whose loads and
    stores are recorded.
    """

    kernel: str = ""
    code: str = ""
    program: tuple[int, int, int] = (0, 0, 0)


Request = Ladder | Passes | Configs | Assembly | Reproduce | Interpret


def digest(request: Request, rank: int | None = None) -> str:
    """Return a name for the request, on one rank of its run, that is also a valid file name."""
    named = [SCHEMA, request] if rank is None else [SCHEMA, request, rank]
    return hashlib.sha256(msgspec.json.encode(named)).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Rung:
    """A compilation stage of a kernel: `name` is Triton's, `lines` maps lines of its text to lines of the source."""

    name: str
    text: str
    lines: dict[int, int] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file in Triton's cache; `text` is empty for binaries and for compilation stages."""

    name: str
    size_bytes: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class ConfigFigures:
    """A config of the autotuner: `name` as Triton prints it, and a short form.

    `problem` is why it does not compile or exceeds the device's resources.
    """

    name: str
    words: str
    resources: Resources | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PassChange:
    """A pass that changed the module: name and argument as MLIR prints them, and a unified diff without locations."""

    name: str
    argument: str
    added: int
    removed: int
    diff: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class TouchedElements:
    """A tensor argument of an interpreted kernel, and the elements that one program accessed.

    Elements are offsets into the tensor's storage, in order of access, each once, and cut at a bound; `loads` and
    `stores` count all of them.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    loaded: tuple[int, ...]
    stored: tuple[int, ...]
    loads: int
    stores: int


class Trouble(msgspec.Struct, frozen=True, tag=True):
    """Failure of a tool: its error message, and its printed output."""

    message: str
    detail: str = ""


class LadderAnswer(msgspec.Struct, frozen=True, tag=True):
    """All compilation stages of one config, the source first.

    `problem` is why the last is missing or too large. `stage_us` are Triton's own microseconds of each stage that it
    ran, by the ending of the stage's file.
    """

    target: str
    config: int
    configs: tuple[str, ...]
    rungs: tuple[Rung, ...]
    resources: Resources | None
    files: tuple[CachedFile, ...]
    problem: str = ""
    stage_us: dict[str, int] = {}


class PassesAnswer(msgspec.Struct, frozen=True, tag=True):
    """The passes that changed the module, in order, and the total number of passes."""

    target: str
    ran: int
    changes: tuple[PassChange, ...]
    left_out: int = 0


class ConfigsAnswer(msgspec.Struct, frozen=True, tag=True):
    """Every config of the autotuner."""

    target: str
    configs: tuple[ConfigFigures, ...]


class AssemblyAnswer(msgspec.Struct, frozen=True, tag=True):
    """The source and its assembly, with the compiler's command, and its remarks on loops."""

    compiler: str
    command: str
    source: str
    assembly: Rung
    loops: tuple[Loop, ...]
    regions: tuple[Region, ...]
    outlined: tuple[str, ...]


class ReproduceAnswer(msgspec.Struct, frozen=True, tag=True):
    """Output and exit code of the script."""

    output: str
    exit_code: int


class InterpretAnswer(msgspec.Struct, frozen=True, tag=True):
    """Accesses of an interpreted kernel, and whether its result equals eager's; `same` is None without a comparison."""

    kernel: str
    grid: tuple[int, ...]
    program: tuple[int, ...]
    tensors: tuple[TouchedElements, ...]
    same: bool | None
    words: str
    output: str


Answer = Trouble | LadderAnswer | PassesAnswer | ConfigsAnswer | AssemblyAnswer | ReproduceAnswer | InterpretAnswer

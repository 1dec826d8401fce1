"""What the tools answer. Texts are cut after `MAX_LINES` lines, and say how many are left out."""

from __future__ import annotations

from dataclasses import dataclass, field

import msgspec

from core.code.cpp import Loop, Region
from core.code.resources import Resources

MAX_LINES = 20_000


@dataclass(frozen=True, slots=True)
class Rung:
    """One form of a kernel: `name` as Triton calls it, `lines` from a line of its text to a line of the source."""

    name: str
    text: str
    lines: dict[int, int] = field(default_factory=dict)
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class CachedFile:
    """A file that Triton left in its cache; `text` is empty for binaries and for what is a rung."""

    name: str
    size_bytes: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class ConfigFigures:
    """One config of the autotuner: its `name` as Triton prints it, and in short; `problem` says why it does not fit or
    compile.
    """

    name: str
    words: str
    resources: Resources | None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PassChange:
    """One pass that changed the module: its name and argument as MLIR prints them, and a unified diff without
    locations.
    """

    name: str
    argument: str
    added: int
    removed: int
    diff: str
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Touched:
    """A tensor argument of an interpreted kernel, and the elements that one program touched, as offsets into its
    storage.

    The offsets are in the order of the accesses, each once, cut after a bound; `loads` and `stores` count them all.
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
    """The tool could not do it: what happened in its own words, and what it printed."""

    message: str
    detail: str = ""


class LadderAnswer(msgspec.Struct, frozen=True, tag=True):
    """The rungs of one config, the source first; `problem` says why the last rung is missing or does not fit the
    target.
    """

    target: str
    config: int
    configs: tuple[str, ...]
    rungs: tuple[Rung, ...]
    resources: Resources | None
    files: tuple[CachedFile, ...]
    problem: str = ""


class PassesAnswer(msgspec.Struct, frozen=True, tag=True):
    """The passes that changed the module, in order, and how many ran in all."""

    target: str
    ran: int
    changes: tuple[PassChange, ...]
    left_out: int = 0


class ConfigsAnswer(msgspec.Struct, frozen=True, tag=True):
    """Every config of the autotuner."""

    target: str
    configs: tuple[ConfigFigures, ...]


class AssemblyAnswer(msgspec.Struct, frozen=True, tag=True):
    """The source and its assembly, with the compiler's command, and what became of the loops."""

    compiler: str
    command: str
    source: str
    assembly: Rung
    loops: tuple[Loop, ...]
    regions: tuple[Region, ...]
    outlined: tuple[str, ...]


class ReproduceAnswer(msgspec.Struct, frozen=True, tag=True):
    """What the script printed, and how it ended."""

    output: str
    exit_code: int


class InterpretAnswer(msgspec.Struct, frozen=True, tag=True):
    """What an interpreted kernel touched, and whether its result is eager's; `same` is None where nothing was
    compared.
    """

    kernel: str
    grid: tuple[int, ...]
    program: tuple[int, ...]
    tensors: tuple[Touched, ...]
    same: bool | None
    words: str
    output: str


Answer = Trouble | LadderAnswer | PassesAnswer | ConfigsAnswer | AssemblyAnswer | ReproduceAnswer | InterpretAnswer

"""A model exported by `torch.export`, compiled ahead of time by AOTInductor, and who ran its package."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.base.load import Load
from core.report.places import Frame, Payload
from core.report.run import Difference

PackagedKind = Literal["library", "wrapper", "kernels", "binary", "object", "weights", "metadata", "other"]
PackageUser = Literal["python", "c++"]
PackagePart = Literal["graph", "file", "runner"]


@dataclass(frozen=True, slots=True)
class ExportedDim:
    """A dimension that was exported as dynamic: `at` are the dimensions of inputs that share it, `text` is the `Dim` as
    one writes it, and `size` what the example inputs have there.
    """

    name: str
    at: tuple[str, ...]
    text: str
    size: int
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class ExportedValue:
    """An input or output of the exported program, `kind` as its signature has it: `user_input`, `parameter`, `buffer`,
    `user_output` …; `target` is the name in the model's state, `value` torch's word for it: `f32[s77, 8]`.
    """

    name: str
    kind: str
    target: str
    value: str


@dataclass(frozen=True, slots=True)
class Export:
    """What `torch.export.export` made: in a report at most once.

    `call` is how it was called. `ranges` are its `range_constraints`, a line each as torch prints them; `guards` are
    what its module checks before it runs, `left_out` counts the values beyond the first. Its graph is the text of part
    `graph`. `problem` is what torch said where there is none, at `frames` of the user's code.
    """

    call: str
    seconds: float
    dims: tuple[ExportedDim, ...] = ()
    nodes: int = 0
    targets: dict[str, int] = field(default_factory=dict)
    values: tuple[ExportedValue, ...] = ()
    left_out: int = 0
    ranges: tuple[str, ...] = ()
    guards: tuple[str, ...] = ()
    problem: str = ""
    frames: tuple[Frame, ...] = ()


@dataclass(frozen=True, slots=True)
class RangeTrial:
    """A call with another size of one dynamic dimension, at the end of its range or next to it.

    `program` is what the exported program said, `package` what the package said as it is loaded by default, and
    `checked` what it said with `AOTI_RUNTIME_CHECK_INPUTS=1`, each empty where it ran, `checked` None where that was
    not tried. `program_same` and `package_same` hold the results against the model's own, None where there are none to
    compare. `skipped` says why the call was not made, or not by the package.
    """

    dim: str
    size: int
    inside: bool
    inputs: str = ""
    program: str = ""
    package: str = ""
    checked: str | None = None
    program_same: bool | None = None
    package_same: bool | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file in a package by its name there; that of its text is the same, where it was recorded."""

    name: str
    kind: PackagedKind
    bytes: int
    crc32: int


@dataclass(frozen=True, slots=True)
class Package:
    """What `aoti_compile_and_package` wrote: in a report at most once.

    `file` is its name in the run's directory, empty with the reason in `problem` where it was too large to be kept;
    `left_out` counts the files beyond the first. `metadata` is what AOTInductor wrote into it, `constants` counts the
    parameters and buffers in it. `problem` is what torch or the compiler said where there is no package.
    """

    seconds: float
    file: str = ""
    bytes: int = 0
    sha256: str = ""
    files: tuple[PackagedFile, ...] = ()
    left_out: int = 0
    metadata: dict[str, str] = field(default_factory=dict)
    constants: int = 0
    problem: str = ""


@dataclass(frozen=True, slots=True)
class PackageRun:
    """The package loaded and called by one of its users; `differences` are from what eager returned.

    `same_bits` says of the C++ program whether its outputs are those of Python bit by bit. `compiler` and `command` are
    what built it in `build_s`, None where it was built before. `stage` is where the `problem` was: `build`, `load` or
    `call`; `output` is what the program printed.
    """

    user: PackageUser
    load_s: float | None = None
    call_s: float | None = None
    differences: tuple[Difference, ...] = ()
    same_bits: bool | None = None
    compiler: str = ""
    command: str = ""
    build_s: float | None = None
    threads: int | None = None
    stage: str = ""
    problem: str = ""
    output: str = ""


@dataclass(frozen=True, slots=True)
class PackageTimes:
    """Seconds per call of `eager`, `compiled`, `python` and `c++`, those that ran, all in each round and their order by
    lot; the first `warm_up` rounds are not counted. The C++ program reads its own `steady_clock`.

    `reason` says why nothing was timed, empty if it was.
    """

    sides: dict[str, tuple[float, ...]] = field(default_factory=dict)
    warm_up: int = 0
    calls_per_sample: int = 1
    stopped: str = ""
    spent_s: float | None = None
    load: Load | None = None
    threads: int | None = None
    clock: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PackageText:
    """A text that belongs to a package: the exported `graph`, a `file` of the package by its name, or a source of the
    `runner` in C++.
    """

    part: PackagePart
    name: str
    language: str
    text: Payload

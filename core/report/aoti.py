"""Exported programs, AOTInductor's packages and their runs, and other compilers and runtimes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from core.report.measurements import SideTimes
from core.report.places import Frame, Payload, Record
from core.report.run import Difference

PackagedKind = Literal["library", "wrapper", "kernels", "binary", "object", "weights", "metadata", "other"]
PackageUser = Literal["python", "c++"]
PackagePart = Literal["graph", "file", "runner"]


@dataclass(frozen=True, slots=True)
class ExportedDim:
    """A dimension that was exported as dynamic.

    `at` lists the input dimensions that share it. `text` is the `Dim` as code, and `size` is the size in the
    example inputs. `least` and `most` are the requested bounds, None if not requested.
    """

    name: str
    at: tuple[str, ...]
    text: str
    size: int
    least: int | None = None
    most: int | None = None


@dataclass(frozen=True, slots=True)
class ExportedValue:
    """An input or output of the exported program.

    `kind` is from the program's signature: `user_input`, `parameter`, `buffer`, `user_output` …; `target` is the name
    in the model's state, and `value` is in torch's notation: `f32[s77, 8]`.
    """

    name: str
    kind: str
    target: str
    value: str


@dataclass(frozen=True, slots=True)
class Export(Record):
    """The result of `torch.export.export` on a newly loaded model.

    Logged once, if the job asks for AOTInductor. The graph is the `PackageText` with the part `graph`.
    """

    call: str
    """the call of `torch.export.export` as code"""
    seconds: float
    """how long it took"""
    dims: tuple[ExportedDim, ...] = ()
    """the requested dynamic dimensions"""
    nodes: int = 0
    """number of the graph's nodes that compute"""
    targets: dict[str, int] = field(default_factory=dict)
    """how often each op is called"""
    values: tuple[ExportedValue, ...] = ()
    """inputs and outputs by the program's signature"""
    left_out: int = 0
    """number of values beyond those"""
    ranges: tuple[str, ...] = ()
    """`range_constraints`, one line each, as torch prints them"""
    guards: tuple[str, ...] = ()
    """the input checks of the program's module"""
    problem: str = ""
    """torch's message if the export failed"""
    frames: tuple[Frame, ...] = ()
    """the user's own lines of the problem's traceback"""


@dataclass(frozen=True, slots=True)
class RangeTrial(Record):
    """A call with another size of one dynamic dimension.

    Logged for both ends of the dimension's range, and for the sizes just outside it.
    """

    dim: str
    """the dimension's name"""
    size: int
    """the size"""
    inside: bool
    """true if the size is within the range"""
    inputs: str = ""
    """the inputs in torch's notation"""
    program: str = ""
    """the exception of the exported program, empty if it ran"""
    package: str = ""
    """the error of the package as loaded by default, empty if it ran"""
    checked: str | None = None
    """its error with `AOTI_RUNTIME_CHECK_INPUTS=1`, empty if it ran; null if that was not tried"""
    program_same: bool | None = None
    """true if the program's results equal the model's; null if there is nothing to compare"""
    package_same: bool | None = None
    """true if the package's results equal the model's; null if there is nothing to compare"""
    skipped: str = ""
    """why the call was not made, or not by the package"""


@dataclass(frozen=True, slots=True)
class PackagedFile:
    """A file in a package; a `PackageText` with the same name has its text, if recorded."""

    name: str
    kind: PackagedKind
    bytes: int
    crc32: int


@dataclass(frozen=True, slots=True)
class Package(Record):
    """The result of `aoti_compile_and_package`: logged once, right after the call."""

    seconds: float
    """how long it took"""
    file: str = ""
    """the package's file name in the run's directory; empty if it was not stored"""
    bytes: int = 0
    """its size"""
    sha256: str = ""
    """SHA-256 of the package"""
    files: tuple[PackagedFile, ...] = ()
    """the files in it"""
    left_out: int = 0
    """number of files beyond those"""
    metadata: dict[str, str] = field(default_factory=dict)
    """AOTInductor's metadata of the package"""
    constants: int = 0
    """number of parameters and buffers in it"""
    problem: str = ""
    """the error message of torch or the compiler, or why the package was not stored"""


@dataclass(frozen=True, slots=True)
class PackageRun(Record):
    """A run of the package: logged once for `python`, and once for the C++ program."""

    user: PackageUser
    """the program that ran it"""
    load_s: float | None = None
    """seconds to load it"""
    call_s: float | None = None
    """seconds of the first call"""
    differences: tuple[Difference, ...] = ()
    """its results compared with eager's"""
    same_bits: bool | None = None
    """true if the results in C++ and Python are bitwise equal"""
    compiler: str = ""
    """the compiler and its version"""
    command: str = ""
    """the command that built the C++ program"""
    build_s: float | None = None
    """seconds of the build, null if the program was built before"""
    threads: int | None = None
    """torch's intra-op threads"""
    stage: str = ""
    """the stage that failed: `build`, `load` or `call`"""
    problem: str = ""
    """the error message"""
    output: str = ""
    """the program's printed output"""


@dataclass(frozen=True, slots=True)
class PackageTimes(SideTimes):
    """Times of `eager`, `compiled`, `python` and `c++`, as far as they ran.

    Logged once, if the job measures.
    """

    reason: str = ""
    """why nothing was timed, empty if it was"""


@dataclass(frozen=True, slots=True)
class PackageText:
    """A text that belongs to a package.

    `part` is `graph` for the exported graph, `file` for a file of the package with this name, and `runner` for a
    C++ source of the runner.
    """

    part: PackagePart
    name: str
    language: str
    text: Payload


@dataclass(frozen=True, slots=True)
class LazyNode:
    """A primitive in MLX's graph of pending work; `reads` are the indices of the primitives that it reads."""

    name: str
    reads: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class PortedFunction:
    """A function of torch, and the same function written for MLX; both are code with the input `x`.

    `graph` is MLX's graph before `mx.eval`, and `left` is the number of primitives that are pending after
    `mx.eval`. `compiled_graph` is the graph of the function compiled by `mx.compile`. `built_bytes` is the growth
    of MLX's memory while the graph is built, and `computed_bytes` the growth in `mx.eval`. `times` has seconds
    per call of `eager`, `compiled`, `mlx` and `mlx compiled`, interleaved; None if the job does not measure.
    """

    name: str
    torch: str
    mlx: str
    inputs: str = ""
    differences: tuple[Difference, ...] = ()
    graph: tuple[LazyNode, ...] = ()
    compiled_graph: tuple[LazyNode, ...] = ()
    left: int = 0
    built_bytes: int = 0
    computed_bytes: int = 0
    built_s: float = 0.0
    computed_s: float = 0.0
    times: SideTimes | None = None


@dataclass(frozen=True, slots=True)
class Neighbour(Record):
    """The result of another compiler or runtime for the run's model.

    Logged once for each, if the job asks. A separate process converts the model with the inputs of the run's last
    call, and makes that call.
    """

    name: str
    """its name, such as `ONNX Runtime`"""
    call: str
    """its calls in Python"""
    install: str = ""
    """the command that installs it; empty for a part of torch"""
    missing: tuple[str, ...] = ()
    """the modules that are not installed"""
    version: str = ""
    """its version; empty if it is not installed"""
    stage: str = ""
    """the stage that failed: `start`, `eager`, `convert`, `call`, `time` or `process`; empty if none did"""
    problem: str = ""
    """the first line of the error, or why it was not tried"""
    inputs: str = ""
    """the inputs of the call in torch's notation"""
    convert_s: float | None = None
    """seconds of the conversion; those of a backend of torch.compile are in the first call"""
    call_s: float | None = None
    """seconds of the first call"""
    differences: tuple[Difference, ...] = ()
    """its outputs compared with eager's, by the rules of a run"""
    ported: tuple[PortedFunction, ...] = ()
    """for MLX alone: functions of torch written for it"""
    times: SideTimes | None = None
    """seconds per call of `eager`, `compiled` and `neighbour`, interleaved; null if they were not timed"""

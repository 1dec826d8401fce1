"""Records of AOTInductor: the exported program, its package, who ran it, and how long that took."""

from __future__ import annotations

from dataclasses import dataclass, field

from core.report import (
    Difference,
    ExportedDim,
    ExportedValue,
    Frame,
    Load,
    PackagedFile,
    PackageUser,
)
from core.report.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportRecord(Record):
    """Once a run that asks for AOTInductor, after `torch.export.export` of a model that was loaded for it."""

    call: str
    """the call as one writes it"""
    seconds: float
    """how long it took"""
    dims: tuple[ExportedDim, ...] = ()
    """the dimensions that were asked to be dynamic"""
    nodes: int = 0
    """nodes of the graph that compute"""
    targets: dict[str, int] = field(default_factory=dict)
    """how often each op is called"""
    values: tuple[ExportedValue, ...] = ()
    """inputs and outputs, as the program's signature names them"""
    left_out: int = 0
    """how many more there were"""
    ranges: tuple[str, ...] = ()
    """`range_constraints`, a line each as torch prints them"""
    guards: tuple[str, ...] = ()
    """what the program's module checks before it runs"""
    problem: str = ""
    """torch's words where there is no program"""
    frames: tuple[Frame, ...] = ()
    """the user's own lines of it"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeTrialRecord(Record):
    """Once a size that a dynamic dimension was tried with: the ends of its range, and what is next to them."""

    dim: str
    """the dimension's name"""
    size: int
    """the size"""
    inside: bool
    """whether the range holds it"""
    inputs: str = ""
    """the inputs in torch's notation"""
    program: str = ""
    """what the exported program raised, empty if it ran"""
    package: str = ""
    """what the package said as it is loaded by default, empty if it ran"""
    checked: str | None = None
    """what it said with `AOTI_RUNTIME_CHECK_INPUTS=1`, empty if it ran; null where that was not tried"""
    program_same: bool | None = None
    """whether the program's results are the model's own; null where there are none to compare"""
    package_same: bool | None = None
    """the same of the package"""
    skipped: str = ""
    """why the call was not made, or not by the package"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageRecord(Record):
    """Once, after `aoti_compile_and_package`."""

    seconds: float
    """how long it took"""
    file: str = ""
    """the package's name in the run's directory; empty where it was not kept"""
    bytes: int = 0
    """its size"""
    sha256: str = ""
    """its digest"""
    files: tuple[PackagedFile, ...] = ()
    """the files in it"""
    left_out: int = 0
    """how many more there were"""
    metadata: dict[str, str] = field(default_factory=dict)
    """what AOTInductor wrote of it"""
    constants: int = 0
    """parameters and buffers in it"""
    problem: str = ""
    """what torch or the compiler said, or why the package was not kept"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageRunRecord(Record):
    """Once for each that ran the package: `python`, and the program in C++."""

    user: PackageUser
    """who ran it"""
    load_s: float | None = None
    """seconds until it was loaded"""
    call_s: float | None = None
    """seconds of the first call"""
    differences: tuple[Difference, ...] = ()
    """what it returned against what eager returned"""
    same_bits: bool | None = None
    """whether C++ returned what Python did, bit by bit"""
    compiler: str = ""
    """the compiler and its version"""
    command: str = ""
    """how the program was built"""
    build_s: float | None = None
    """how long that took, null where it was built before"""
    threads: int | None = None
    """torch's intra-op threads"""
    stage: str = ""
    """where the problem was: `build`, `load` or `call`"""
    problem: str = ""
    """what was said"""
    output: str = ""
    """what the program printed"""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageTimesRecord(Record):
    """Once, if the job measures: all that ran, timed in turn."""

    sides: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """seconds per call of `eager`, `compiled`, `python` and `c++`, a number a round"""
    warm_up: int = 0
    """so many rounds at the start are not counted"""
    calls_per_sample: int = 1
    """calls that make one sample"""
    stopped: str = ""
    """what ended it: `narrow enough` or `limit`"""
    spent_s: float | None = None
    """after how many seconds"""
    load: Load | None = None
    """what else the machine did meanwhile"""
    threads: int | None = None
    """torch's intra-op threads"""
    clock: str = ""
    """what timed the samples, in words"""
    reason: str = ""
    """why nothing was timed, empty if it was"""


RECORDS: dict[str, type[Record]] = {
    "export": ExportRecord,
    "range_trial": RangeTrialRecord,
    "package": PackageRecord,
    "package_run": PackageRunRecord,
    "package_times": PackageTimesRecord,
}

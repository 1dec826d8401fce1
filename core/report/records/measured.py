"""Records of measurements: calls, kernels, the device's ceilings, and autotuning."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import KernelTime, Load
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedKernel(KernelTime):
    """A line of an output code that calls a kernel."""

    line: int
    """the line, counted from 1"""
    name: str = ""
    """the kernel's name in the output code"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTimesRecord(Record):
    """The seconds of each kernel call of an output code, forward, backward and extern: logged once for each output code
    that the last call executed, if the job measures. A record whose `path` is empty has in `reason` why nothing was
    timed.

    On an accelerator `samples_s` are from Inductor's own benchmarker, which flushes the L2 cache before each run;
    `in_place_s` and `wrapper_s` are between events of the device, with the launches running ahead of it.
    """

    path: str = ""
    """the file of the output code, as torch's `inductor_output_code` names it"""
    call_s: tuple[float, ...] = ()
    """seconds of the whole compiled call, one after the other and without eager in between"""
    wrapper_s: tuple[float, ...] = ()
    """seconds in the generated `call` for one call of the model, as Inductor wrote it"""
    calls: int = 0
    """number of its calls in one call of the model"""
    kernels: tuple[TimedKernel, ...] = ()
    """the lines that call a kernel"""
    load: Load | None = None
    """the machine's other load while all of them were timed"""
    reason: str
    """why nothing was timed, empty if it was"""

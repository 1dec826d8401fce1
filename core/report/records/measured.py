"""Records of what was measured: calls, kernels, the device's ceilings, and what autotuning tried."""

from __future__ import annotations

from dataclasses import dataclass

from core.report import Load
from core.report.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedKernel:
    """One line of an output code that calls a kernel."""

    line: int
    """the line, counted from 1"""
    calls: int
    """how often one call of the model calls it"""
    name: str = ""
    """the kernel's name in the output code"""
    in_place_s: tuple[float, ...] = ()
    """seconds of all these calls where they stand, a number a call of the model"""
    samples_s: tuple[float, ...] = ()
    """seconds of one, by itself on copies of its arguments"""
    calls_per_sample: int = 0
    """calls that make one sample"""
    method: str = ""
    """how it was timed by itself"""
    reason: str = ""
    """why it could not be repeated by itself, empty if it was"""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelTimesRecord(Record):
    """Once an output code that the last call went through, if the job measures: the seconds of each kernel call,
    forward, backward and extern. A record whose `path` is empty says in `reason` why nothing could be timed.

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
    """how often one call of the model calls it"""
    kernels: tuple[TimedKernel, ...] = ()
    """the lines that call a kernel"""
    load: Load | None = None
    """what else the machine did while all of them were timed"""
    reason: str
    """why nothing was timed, empty if it was"""

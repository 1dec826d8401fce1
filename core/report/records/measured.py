"""Records of what was measured: calls, kernels, the device's ceilings, and what autotuning tried."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from core.report import Bandwidth, Call, Choice, Load
from core.report.records.base import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingRecord(Record):
    """Once, if the job measures: samples of the last call, eager and compiled in turn.

    Which goes first in a pair is tossed; calls of up to 0.1 s are made once more before they are timed, so that the
    caches hold what they need. It goes on until the ratio is known to one percent (or a twentieth of its distance from
    1), for 10 seconds at most, 30 where there are fewer than eight pairs by then, and never for more than half of the
    time that the job has left.
    """

    eager_s: tuple[float, ...]
    """seconds per call, a number a sample: the call alone, without grad mode, stance, and copying of results"""
    compiled_s: tuple[float, ...]
    """the same of the compiled call"""
    warm_up: int
    """so many pairs at the start, a quarter at most, have samples slower than anything later, and are not counted"""
    calls_per_sample: int
    """calls that make one sample, so that short ones can be timed"""
    stopped: str = ""
    """what ended it: `narrow enough` or `limit`"""
    spent_s: float | None = None
    """after how many seconds"""
    load: Load | None = None
    """what else the machine did meanwhile"""
    threads: int | None = None
    """torch's intra-op threads while it was measured"""
    clock: str = ""
    """what timed the samples, in words: the wall clock; on a GPU the device's own events, around each call, with the L2
    cache flushed before it"""
    eager_wall_s: tuple[float, ...] = ()
    """where the device's events are the clock: seconds per call by the wall clock, back to back and launches included,
    a number a sample"""
    compiled_wall_s: tuple[float, ...] = ()
    """the same of the compiled call"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RivalRecord(Record):
    """Once, if the job names a rival and measures: another call of `torch.compile`, whose model was loaded, compiled
    and called as the run's own, unheard, and then timed in turn with it, by the same rules as in `timing`.
    """

    options: dict[str, Any]
    """the rival's parameters of `torch.compile`, as the job has them"""
    calls: tuple[Call, ...] = ()
    """the run's calls, made eagerly and by the rival, on two more copies of the model, with how the results differ"""
    compiled_s: tuple[float, ...] = ()
    """seconds per call of the run's own compiled call, a number a sample"""
    rival_s: tuple[float, ...] = ()
    """the same of the rival's"""
    warm_up: int = 0
    """so many pairs at the start are not counted"""
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
    """why nothing was timed, in torch's words, empty if it was"""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineRecord(Record):
    """Once, after the kernels were timed: what the device can do at most, the best of all runs on a machine with one
    torch and number of threads, kept in the cache of compiled objects. It is measured by each run until the machine
    was once quiet meanwhile.
    """

    device: str
    """the device in words"""
    threads: int | None = None
    """torch's threads, null on an accelerator"""
    bandwidths: tuple[Bandwidth, ...]
    """levels of memory by STREAM's triad, nearest first; on an accelerator the memory alone"""
    flops_s: dict[str, float]
    """FLOP/s of a square matrix product by dtype"""
    measured_s: float | None = None
    """seconds since the epoch"""
    how: str
    """with what"""
    disturbed: bool | None = None
    """whether the machine was busy in all runs that measured it, so that it may be too low; older versions tell it in
    `how`
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class AutotuningRecord(Record):
    """Whenever Inductor has timed configs of a Triton kernel, or kernels for an op."""

    name: str
    """the kernel, or the op"""
    kind: Literal["configs", "choices"]
    """what was tried"""
    choices: tuple[Choice, ...] = ()
    """what was timed, fastest first"""


RECORDS: dict[str, type[Record]] = {
    "timing": TimingRecord,
    "rival": RivalRecord,
    "kernel_times": KernelTimesRecord,
    "roofline": RooflineRecord,
    "autotuning": AutotuningRecord,
}

"""Measured times of calls and kernels, and the ceilings of the device. Times are seconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.base.load import Load
from core.report.record import Record
from core.report.run import Call
from core.report.schedule import Direction


@dataclass(frozen=True, slots=True)
class Timing(Record):
    """Samples of the last call in its steady state, eager and compiled alternately: logged once, if the job measures.

    The first side of each pair is random; calls of up to 0.1 s are made once more before they are timed, to fill the
    caches. Sampling continues until the ratio is known to one percent (or a twentieth of its distance from 1), for 10
    seconds at most, 30 with fewer than eight pairs by then, and never for more than half of the job's remaining time.
    """

    eager_s: tuple[float, ...]
    """seconds per call, a number a sample: the call alone, without grad mode, stance, and copying of results"""
    compiled_s: tuple[float, ...]
    """the same of the compiled call"""
    warm_up: int
    """number of pairs at the start, a quarter at most, that are slower than all later ones, and are not counted"""
    calls_per_sample: int
    """calls that make one sample, so that short ones can be timed"""
    stopped: str = ""
    """why sampling ended: `narrow enough` or `limit`"""
    spent_s: float | None = None
    """after how many seconds"""
    load: Load | None = None
    """the machine's other load meanwhile"""
    threads: int | None = None
    """torch's intra-op threads while it was measured"""
    clock: str = ""
    """the clock of the samples, in words: the wall clock; on a GPU the device's own events, around each call, with the
    L2 cache flushed before it"""
    eager_wall_s: tuple[float, ...] = ()
    """if the device's events are the clock: seconds per call by the wall clock, back to back and launches included, a
    number a sample"""
    compiled_wall_s: tuple[float, ...] = ()
    """the same of the compiled call"""


@dataclass(frozen=True, slots=True)
class Rival(Record):
    """Another configuration of `torch.compile`, timed alternately with the run's own in one process: logged once, if
    the job names one and measures.

    Its model is loaded, compiled and called as the run's own, without a trace of it in the log, and timed by the rules
    of `Timing`.
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
    """number of pairs at the start that are not counted"""
    calls_per_sample: int = 1
    """calls that make one sample"""
    stopped: str = ""
    """why sampling ended: `narrow enough` or `limit`"""
    spent_s: float | None = None
    """after how many seconds"""
    load: Load | None = None
    """the machine's other load meanwhile"""
    threads: int | None = None
    """torch's intra-op threads"""
    clock: str = ""
    """the clock of the samples, in words"""
    reason: str = ""
    """why nothing was timed, in torch's words, empty if it was"""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Times of one line of a wrapper that calls a kernel."""

    calls: int
    """number of its calls in one call of the model"""
    samples_s: tuple[float, ...] = ()
    """seconds of one call, warm and by itself on copies of its arguments"""
    calls_per_sample: int = 0
    """calls that make one sample"""
    in_place_s: tuple[float, ...] = ()
    """seconds of all these calls in place, a number a call of the model"""
    method: str = ""
    """how it was timed by itself"""
    reason: str = ""
    """why it could not be repeated by itself, empty if it was"""


@dataclass(frozen=True, slots=True)
class WrapperTime:
    """The generated wrapper of one graph: seconds in it for one call of the model, which calls it `calls` times."""

    direction: Direction
    samples_s: tuple[float, ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """Bytes a second of one level of memory, nearest first; `bytes` is what fits it, None for the memory itself."""

    level: str
    bytes: int | None
    bytes_s: float


@dataclass(frozen=True, slots=True)
class Roofline(Record):
    """The ceilings of a device: logged once, after the kernels were timed.

    Measured ceilings are the best of all runs on a machine with one torch and number of threads, kept in the cache of
    compiled objects. Each run measures them again until the machine was quiet during one measurement.
    """

    device: str
    """the device in words"""
    source: Literal["measured", "datasheet"] = field(default="measured", kw_only=True)
    """`datasheet` in no log"""
    bandwidths: tuple[Bandwidth, ...]
    """levels of memory by STREAM's triad, nearest first; on an accelerator the memory alone"""
    flops_s: dict[str, float]
    """FLOP/s of a square matrix product by dtype"""
    how: str
    """the method of the measurement, or the name of the datasheet"""
    measured_s: float | None = None
    """seconds since the epoch, null for a datasheet"""
    threads: int | None = None
    """torch's threads, null on an accelerator"""
    disturbed: bool = False
    """whether the machine was busy in all runs that measured it, so that it may be too low; logs of older versions say
    so in `how`
    """

    @property
    def bandwidth_bytes_s(self) -> float:
        """Bytes a second of the memory itself."""
        return self.bandwidths[-1].bytes_s

    def bandwidth(self, moved_bytes: int) -> Bandwidth:
        """Return the nearest level that all of these bytes fit into."""
        fitting = (level for level in self.bandwidths if level.bytes is None or moved_bytes <= level.bytes)
        return next(fitting, self.bandwidths[-1])


@dataclass(frozen=True, slots=True)
class Choice:
    """A config or a kernel that autotuning tried: its seconds (None if it failed), and True if it was chosen."""

    name: str
    time_s: float | None
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Autotuning(Record):
    """The configs of one Triton kernel, or the kernels for one op, that Inductor has timed: once each time it does."""

    name: str
    """the kernel, or the op"""
    kind: Literal["configs", "choices"]
    """kind of the alternatives"""
    choices: tuple[Choice, ...] = ()
    """the timed alternatives, fastest first"""

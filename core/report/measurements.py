"""Measured times of calls and kernels, and the ceilings of the device. Times are seconds.

The memory use of one eager and one compiled call: the peak, the course over time, and the places of allocation.

Errors of eager and compiled against the same in float64: the results of a call, and the nodes of its graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.base.load import Load
from core.report.inductor import Direction
from core.report.record import Record
from core.report.run import Call

MemorySide = Literal["eager", "compiled"]


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


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """A place that allocated memory: the outermost op, a generated kernel or a backward node, as torch names it.

    `line` is of the user's file for eager, and of the generated code for compiled, 0 if neither ran; `code` is the
    index of that generated code in the list, None for eager. `module` is the path of the `nn.Module` whose forward ran
    an eager op, empty if no named module did.
    """

    op: str
    line: int = 0
    code: int | None = None
    module: str = ""


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """The allocated bytes from each moment on, beyond those before the call; `places` are the allocating places.

    A place is an index into the list of places, −1 for a release. Of a long curve the extremes are kept.
    """

    at_us: tuple[float, ...] = ()
    live_bytes: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AliveMemory:
    """Tensors from one place that were alive at the peak: their number and their bytes together."""

    place: int
    tensors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryFigures(Record):
    """Memory of one call, by the allocator and by the system."""

    side: MemorySide
    """`eager` or `compiled`"""
    device: str = ""
    """the device whose memory it is, as the job names it"""
    held_bytes: int = 0
    """bytes before the call: parameters, buffers and inputs"""
    peak_bytes: int = 0
    """peak of the allocated bytes, beyond those before the call"""
    peak_us: float = 0.0
    """time of the peak, from the beginning of the call, as timed under the profiler"""
    call_us: float = 0.0
    """how long the call takes under the profiler"""
    left_bytes: int = 0
    """allocated bytes after the call, beyond those before it: results and gradients"""
    allocated_bytes: int = 0
    """bytes of all allocations of the call together"""
    allocations: int = 0
    """number of those allocations"""
    events: int = 0
    """allocations and releases; of more than 1,000 the curve holds the extremes"""
    curve: MemoryCurve = MemoryCurve()
    """allocated bytes after each allocation and release"""
    alive: tuple[AliveMemory, ...] = ()
    """tensors alive at the peak, by place, the largest first, 40 places at most"""
    places: tuple[MemoryPlace, ...] = ()
    """the places that allocated memory; other fields name a place by its index"""
    codes: tuple[object, ...] = ()
    """the generated codes that places are in"""
    path: str = ""
    """the file whose lines eager's places name"""
    resident_bytes: int | None = None
    """largest growth of the process's resident memory in a call: `VmHWM` of `/proc/self/status`, reset by writing 5 to
    `/proc/self/clear_refs`, less `VmRSS` before; the C library is made to release large blocks at once; null if the
    system does not report it, and on an accelerator
    """
    counted_bytes: int | None = None
    """the peak in a call without the profiler, by the device's own `max_memory_allocated`; null on a CPU"""
    reason: str = ""
    """why it was not measured, empty if it was"""


@dataclass(frozen=True, slots=True)
class MemoryUse(MemoryFigures):
    """The figures with the offset of each generated code in the log, None for a code that is not in the log."""

    codes: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Eager and compiled of one value, against the same in float64.

    An error is the norm of the difference over the norm in float64; of whole numbers and booleans, the part of the
    elements that differ. `max_abs` is the largest difference of one element. All leave out elements that are NaN or
    infinite on one side alone, which `eager_odd` and `compiled_odd` count. `apart` is compiled against eager, over
    eager's norm. None is a value that could not be computed. `same` is True if compiled is as right as eager,
    `tolerance` is the dtype's, and `reason` is why it is right beyond that, or why it cannot be decided.
    """

    dtype: str
    elements: int = 0
    eager_error: float | None = None
    compiled_error: float | None = None
    eager_max_abs: float | None = None
    compiled_max_abs: float | None = None
    eager_odd: int = 0
    compiled_odd: int = 0
    apart: float | None = None
    tolerance: float = 0.0
    same: bool | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ResultAccuracy:
    """A result of a call, by its name: `output[0]`, ``gradient of `0.weight` ``, ``buffer `seen` ``."""

    what: str
    accuracy: Accuracy


@dataclass(frozen=True, slots=True)
class CallNumerics(Record):
    """The outputs, gradients and changed state of one call, eager and compiled, each compared with a third copy of the
    model that computes in float64 from its inputs: logged once a call.

    Casts of the model's own to narrower floats are left out there, as torch's accuracy tools leave them out.
    """

    call: int
    """number of the call, from 0"""
    results: tuple[ResultAccuracy, ...] = ()
    """a row each, `what` as in `compileboard_call`"""
    reason: str = ""
    """why nothing could be compared with float64, empty if it was"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""


@dataclass(frozen=True, slots=True)
class NodeAccuracy:
    """A node of a graph that calls something, in execution order; `left_out` is why it was not compared."""

    name: str
    accuracy: Accuracy | None = None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class GraphNumerics(Record):
    """Values of all nodes of a graph that Dynamo captured, in its last call: logged once a graph, if the job asks.

    The model is captured once more for it, which the rest of the log does not show. Each graph is run eagerly, in
    float64 and compiled, all three with eager's inputs; if a node draws random numbers, all continue with eager's. The
    compiled values are outputs that were added to the graph, each a copy from right after its node.
    """

    compilation: str
    """the compilation, as torch prints it: `0/0`"""
    nodes: tuple[NodeAccuracy, ...] = ()
    """the nodes that call something, in execution order"""
    parts: int = 0
    """number of separately compiled pieces that returned the values, which may change the fusion"""
    changed: float | None = None
    """largest change of the graph's own outputs by that, over their norm; null if not compared"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""
    reason: str = ""
    """why nothing was compared, or why it ended early"""
    spent_s: float | None = None
    """seconds that it took"""

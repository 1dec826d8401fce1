"""Measurements of a run: times of calls and kernels, the roofline, memory, and errors against float64.

Times are in seconds. Memory figures cover one eager and one compiled call: peak, curve, and places of
allocation. Errors cover the results of calls, and the nodes of graphs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from core.base.machine import Load
from core.report.nodes import Direction
from core.report.places import Record
from core.report.run import Call

MemorySide = Literal["eager", "compiled"]


@dataclass(frozen=True, slots=True)
class SideTimes(Record):
    """Steady-state samples of several sides, in rounds: each round times all sides once, in random order.

    The sides of a run are `eager` and `compiled`, and its record is logged once, if the job measures. Calls of up
    to 0.1 s get an extra untimed call before each sample, to warm the caches.

    Sampling ends when the ratio of every side to the first is known to one percent, or to a twentieth of its
    distance from 1. Sampling takes at most 10 seconds, or 30 seconds if there are fewer than eight rounds by then.
    For a run, it never takes more than half of the job's remaining time.
    """

    sides: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """seconds per call of each side, one number per round, without setting grad mode and stance and copying results"""
    warm_up: int = 0
    """number of rounds at the start that are not counted, since all later rounds are faster; at most a quarter"""
    calls_per_sample: int = 1
    """number of calls per sample, more than 1 for short calls"""
    stopped: str = ""
    """why sampling ended: `narrow enough` or `limit`"""
    spent_s: float | None = None
    """after how many seconds"""
    load: Load | None = None
    """the machine's other load meanwhile"""
    threads: int | None = None
    """torch's intra-op threads during the measurement"""
    clock: str = ""
    """description of the samples' clock: the wall clock, or on a GPU device events around each call, with the L2 cache
    flushed before it; a C++ program reads its own `steady_clock`"""
    walls: dict[str, tuple[float, ...]] = field(default_factory=dict)
    """if device events are the clock: seconds per call of each side by the wall clock, calls back to back, launches
    included, one number per round"""

    def steady(self, side: str) -> tuple[float, ...]:
        """Return the samples of a side after the warm-up; empty if it was not timed."""
        return self.sides.get(side, ())[self.warm_up :]


@dataclass(frozen=True, slots=True)
class Bisection(Record):
    """Result of torch's CompilerBisector for a run that fails or differs from eager.

    Logged once, after all calls.
    """

    backend: str = ""
    """first backend that fails or differs; empty if there is none"""
    subsystem: str = ""
    """part of the backend without which it does not, such as `post_grad_passes`; empty if there is none"""
    application: int | None = None
    """first application of that part that makes the difference, from 0; null for a setting"""
    what: str = ""
    """the pass or the node of that application as torch describes it, or the setting"""
    trials: int = 0
    """times that the model was compiled and compared"""
    seconds: float = 0.0
    """seconds that all trials took"""
    problem: str = ""
    """why there is no result"""
    script: str = ""
    """smallest graph that torch's minifier leaves, in the form of a model's file; empty if there is none"""
    ops: int = 0
    """ops of the script's graph"""
    captured_ops: int = 0
    """ops of Dynamo's graph that was minified"""
    outcome: str = ""
    """what the minified graph does: the type of its error, or `differs`"""
    reproduces: bool = False
    """true if the script, run by Python alone, has the same outcome"""
    not_minified: str = ""
    """why there is no script"""
    nan_node: str = ""
    """first node of Dynamo's graphs that makes a NaN in eager from inputs without one; empty if there is none"""
    nan_line: str = ""
    """line of that node's code, as torch's stack trace has it"""
    mitigation: str = ""
    """options of Inductor with which all results equal eager's; empty if none was found, or none was tried"""


@dataclass(frozen=True, slots=True)
class NodeBits:
    """A value that a kernel writes, and that differs bitwise in the other configuration.

    `node`, `op` and `line` are the FX node of the value; `kernel` and `other_kernel` write the value. `differing`
    is the number of elements that differ. `max_abs` is the largest finite difference, None if there is none.
    `source` is True if all inputs of the kernel are bitwise equal, so that the difference begins here. `reason`
    is empty if none is known.
    """

    node: str
    op: str
    line: str
    kernel: str
    other_kernel: str
    dtype: str
    elements: int
    differing: int
    max_abs: float | None = None
    source: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BitComparison(Record):
    """A bitwise comparison of the first call with another configuration.

    Logged once, if the job requests it.
    """

    changes: dict[str, Any]
    """settings of the other configuration by their names"""
    nodes: tuple[NodeBits, ...] = ()
    """values whose bits differ, in execution order"""
    compared: int = 0
    """values that both configurations write"""
    different: int = 0
    """values whose bits differ, also those that are not listed"""
    unmatched: tuple[str, ...] = ()
    """FX nodes whose value only one of the two configurations writes, or with another shape"""
    too_large: int = 0
    """values that were not compared, since there was no memory for both"""
    problem: str = ""
    """why nothing was compared"""


@dataclass(frozen=True, slots=True)
class Alternative(Record):
    """The alternative, timed alternately with the run's own compiled call in one process.

    The alternative is another `torch.compile` configuration, or the code of a baseline. Logged once, if the job
    has an alternative and measures. The alternative's model is loaded, compiled and called like the run's own,
    but torch does not log it.
    """

    options: dict[str, Any]
    """the alternative's parameters of `torch.compile`, as in the job"""
    calls: tuple[Call, ...] = ()
    """the run's calls, eager and by the alternative, on two more copies of the model, with the differing results"""
    times: SideTimes | None = None
    """seconds per call of `compiled`, the run's own, and `alternative`; null if they were not timed"""
    reason: str = ""
    """torch's message why nothing was timed, empty if it was"""


@dataclass(frozen=True, slots=True)
class KernelTime:
    """Times of a wrapper line that calls a kernel."""

    calls: int
    """number of calls of the line in one call of the model"""
    samples_s: tuple[float, ...] = ()
    """seconds of one call: warm, alone, and on copies of its arguments"""
    calls_per_sample: int = 0
    """calls that make one sample"""
    in_place_s: tuple[float, ...] = ()
    """total seconds of the line within a call of the model, one number per call of the model"""
    method: str = ""
    """how it was timed alone"""
    reason: str = ""
    """why it could not be timed alone, empty if it was"""


@dataclass(frozen=True, slots=True)
class WrapperTime:
    """Times of the generated wrapper of one graph.

    `samples_s` are seconds in the wrapper per call of the model; `calls` is the number of wrapper calls in one
    call of the model.
    """

    direction: Direction
    samples_s: tuple[float, ...]
    calls: int


@dataclass(frozen=True, slots=True)
class Bandwidth:
    """The bandwidth of one memory level, in bytes per second.

    `bytes` is the level's capacity, None for main memory.
    """

    level: str
    bytes: int | None
    bytes_s: float


@dataclass(frozen=True, slots=True)
class Roofline(Record):
    """The roofline of a device: logged once, after the kernels were timed.

    Measured ceilings are the highest of all measurements on a machine with the same torch and number of threads.
    They are stored in the cache of compiled objects. Each run measures again until one measurement ran on an idle
    machine.
    """

    device: str
    """the device in words"""
    source: Literal["measured", "datasheet"] = field(default="measured", kw_only=True)
    """always `measured` in a log"""
    bandwidths: tuple[Bandwidth, ...]
    """memory levels by STREAM's triad, nearest first; on an accelerator only the device memory"""
    flops_s: dict[str, float]
    """dtype → FLOP/s of a square matmul"""
    how: str
    """the method of the measurement, or the name of the datasheet"""
    measured_s: float | None = None
    """seconds since the epoch, null for a datasheet"""
    threads: int | None = None
    """torch's threads, null on an accelerator"""
    disturbed: bool = False
    """true if the machine was busy in all measurements, so that the ceilings may be too low; logs of older versions say
    so in `how`
    """

    @property
    def bandwidth_bytes_s(self) -> float:
        """Return the bytes per second of main memory."""
        return self.bandwidths[-1].bytes_s

    def bandwidth(self, moved_bytes: int) -> Bandwidth:
        """Return the nearest memory level with a capacity of at least `moved_bytes`; main memory if none fits."""
        fitting = (level for level in self.bandwidths if level.bytes is None or moved_bytes <= level.bytes)
        return next(fitting, self.bandwidths[-1])


@dataclass(frozen=True, slots=True)
class Choice:
    """A config or kernel that autotuning timed.

    `time_s` is None if the config or kernel failed.
    """

    name: str
    time_s: float | None
    chosen: bool = False


@dataclass(frozen=True, slots=True)
class Autotuning(Record):
    """An autotuning round: the configs of one Triton kernel, or the kernels for one op.

    Logged each time that Inductor times the alternatives.
    """

    name: str
    """the kernel, or the op"""
    kind: Literal["configs", "choices"]
    """kind of the alternatives"""
    choices: tuple[Choice, ...] = ()
    """the timed alternatives, fastest first"""


@dataclass(frozen=True, slots=True)
class MemoryPlace:
    """A place that allocated memory: the outermost op, a generated kernel or a backward node.

    `op` is the name from torch. `line` is in the user's file for eager and in the output code for compiled, 0 if
    neither called the op. `code` is the index of that output code in `codes`, None for eager. `module` is the
    path of the `nn.Module` whose forward ran an eager op, empty if no named module did.
    """

    op: str
    line: int = 0
    code: int | None = None
    module: str = ""


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Allocated bytes after each event, beyond the bytes before the call.

    `places` has the place of each allocation, as an index into the list of places; −1 for a release. A long curve
    contains only its extremes.
    """

    at_us: tuple[float, ...] = ()
    live_bytes: tuple[int, ...] = ()
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class AliveMemory:
    """Tensors from one place that were alive at the peak: their number and their total bytes."""

    place: int
    tensors: int
    bytes: int


@dataclass(frozen=True, slots=True)
class MemoryFigures(Record):
    """Memory use of one call, measured by the allocator and by the system."""

    side: MemorySide
    """`eager` or `compiled`"""
    device: str = ""
    """the device whose memory is measured, as the job names it"""
    held_bytes: int = 0
    """bytes before the call: parameters, buffers and inputs"""
    peak_bytes: int = 0
    """peak of the allocated bytes, beyond those before the call"""
    peak_us: float = 0.0
    """microseconds from the start of the call to the peak, under the profiler"""
    call_us: float = 0.0
    """microseconds that the call takes under the profiler"""
    left_bytes: int = 0
    """allocated bytes after the call, beyond those before it: results and gradients"""
    allocated_bytes: int = 0
    """total bytes of all allocations of the call"""
    allocations: int = 0
    """number of allocations of the call"""
    events: int = 0
    """number of allocations and releases; beyond 1,000 the curve contains only the extremes"""
    curve: MemoryCurve = MemoryCurve()
    """allocated bytes after each allocation and release"""
    alive: tuple[AliveMemory, ...] = ()
    """tensors alive at the peak, by place, the largest first, 40 places at most"""
    places: tuple[MemoryPlace, ...] = ()
    """the places that allocated memory; other fields name a place by its index"""
    codes: tuple[object, ...] = ()
    """the output codes that contain places"""
    path: str = ""
    """the file with the lines of eager's places"""
    resident_bytes: int | None = None
    """largest growth of the process's resident memory in a call: `VmHWM` of `/proc/self/status`, reset by writing 5 to
    `/proc/self/clear_refs`, minus `VmRSS` before; the C library releases large blocks at once; null if the system does
    not report it, and on an accelerator
    """
    counted_bytes: int | None = None
    """the peak in a call without the profiler, by the device's own `max_memory_allocated`; null on a CPU"""
    reason: str = ""
    """why it was not measured, empty if it was"""


@dataclass(frozen=True, slots=True)
class MemoryUse(MemoryFigures):
    """Memory figures of one call.

    `codes` has the log offset of each output code, None for an output code that is not in the log.
    """

    codes: tuple[int | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Errors of one value, eager and compiled, against the same value in float64.

    An error is the norm of the difference divided by the float64 norm; for integers and booleans, the fraction of
    elements that differ. `max_abs` is the largest difference of one element. Elements that are NaN or infinite on only
    one side are excluded, and counted by `eager_odd` and `compiled_odd`. `apart` is the norm of the difference between
    compiled and eager, divided by eager's norm. An error is None if it could not be computed. `same` is True if
    compiled is as accurate as eager, None if undecided. `tolerance` is the dtype's. `reason` is why `same` is
    undecided, or why it is True for an error beyond the tolerance.
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
    """Errors of one result of a call.

    `what` is the result's name: `output[0]`, ``gradient of `0.weight` ``, ``buffer `seen` ``.
    """

    what: str
    accuracy: Accuracy


@dataclass(frozen=True, slots=True)
class CallNumerics(Record):
    """Errors of the results of one call, eager and compiled, against float64.

    Logged once per call. The results are outputs, gradients and changed state. The float64 values are from a
    third copy of the model with the same inputs. This copy skips the model's own casts to narrower floats, as
    torch's accuracy tools do.
    """

    call: int
    """number of the call, from 0"""
    results: tuple[ResultAccuracy, ...] = ()
    """one row per result, `what` as in `compileboard_call`"""
    reason: str = ""
    """why nothing could be compared with float64, empty if it was"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""


@dataclass(frozen=True, slots=True)
class NodeAccuracy:
    """Errors of a call node; `left_out` is the reason if the node was not compared, otherwise empty."""

    name: str
    accuracy: Accuracy | None = None
    left_out: str = ""


@dataclass(frozen=True, slots=True)
class GraphNumerics(Record):
    """Errors of all nodes of a Dynamo graph in its last call, against float64.

    Logged once per graph, if the job asks for it. The model is captured again for this check; the log has no
    other record of that capture. Each graph runs eagerly, in float64 and compiled, each time with eager's inputs.
    After a node that draws random numbers, all three runs continue with eager's values. The compiled values are
    extra outputs of the graph, each copied right after its node.
    """

    compilation: str
    """the compilation, as torch prints it: `0/0`"""
    nodes: tuple[NodeAccuracy, ...] = ()
    """the nodes that call something, in execution order"""
    parts: int = 0
    """number of pieces in which the graph was compiled to return the values, which may change the fusion"""
    changed: float | None = None
    """largest change of the graph's own outputs by the extra outputs, over their norm; null if not compared"""
    narrowed: tuple[str, ...] = ()
    """ops that torch does not have in float64: they were computed in float32, and their errors are those of both"""
    reason: str = ""
    """why nothing was compared, or why the check ended early"""
    spent_s: float | None = None
    """seconds that the check took"""


# Field of older logs and reports, which have one for each side → table and name of the side.
SIDE_FIELDS = {
    "eager_s": ("sides", "eager"),
    "compiled_s": ("sides", "compiled"),
    "rival_s": ("sides", "alternative"),
    "eager_wall_s": ("walls", "eager"),
    "compiled_wall_s": ("walls", "compiled"),
}


def with_sides(data: dict[str, Any], kind: type) -> dict[str, Any]:
    """Return the JSON of a `SideTimes` or an `Alternative` from that of an older log or report.

    JSON of another kind or of today's fields is returned unchanged.
    """
    if kind is Alternative and data.get("rival_s"):
        return {**data, "times": with_sides(data, SideTimes)}
    if kind is not SideTimes or "sides" in data:
        return data
    tables: dict[str, dict[str, Any]] = {"sides": {}, "walls": {}}
    for name, (table, side) in SIDE_FIELDS.items():
        if data.get(name):
            tables[table][side] = data[name]
    return {**data, **tables}


def report_with_sides(data: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON of a report from that of an older report."""
    kinds = {"timing": SideTimes, "rival": Alternative}
    return {**data, **{name: with_sides(data[name], kind) for name, kind in kinds.items() if data.get(name)}}

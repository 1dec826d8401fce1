"""Kernel ledger: one row per kernel call, with its traffic, FLOPs, time and roofline limit.

`summary` compares the sum of kernel times with the compiled call. The roofline limits a kernel on a device by bytes
and FLOPs (Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", CACM 52(4), 2009).
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.analysis.interval import busy
from core.analysis.kernels.features import cold_parts, kernel_work
from core.analysis.kernels.kernel import (
    ALONE,
    IN_PLACE,
    PREDICTED,
    KernelNames,
    Timed,
    call_origins,
    how_timed,
    in_place_s,
    kernel_kind,
    kernel_times,
    kernels_disturbed,
    node_op,
    quartiles_s,
    schedule_of,
    time_s,
    times_unreliable,
    untimed_reason,
)
from core.analysis.kernels.predicted import (
    CallPrediction,
    Doubt,
    KernelShare,
    KernelWork,
    Limit,
    Prediction,
    by_roofline,
    predict,
    predict_call,
)
from core.code.cpp import CppFacts
from core.code.stages import occupancy
from core.job.targets import TARGETS, Target
from core.ops.costs import aten_name, op_class
from core.report import (
    Bandwidth,
    Binary,
    Compilation,
    Counters,
    Frame,
    Kernel,
    KernelCall,
    KernelTuning,
    Language,
    Module,
    Report,
    Roofline,
    Schedule,
    SchedulerNode,
)
from core.report.nodes import Direction

TF32 = "tfloat32"
CONVOLUTION = re.compile(r"\bconv(?!ert)|_conv(?!ert)")
# Tolerance of a ceiling, which is one benchmark's result: kernels with another share of reads exceeded it by an eighth.
CEILING_SPREAD = 1.125
FLOAT_BYTES = 4
# The dtype and sizes of a tensor in a guard, and the sources of a model's own tensors.
SIZE = re.compile(r"torch\.(\w+), device=.*size=\[([\d, ]*)\]")
OF_MODEL = re.compile(r"_modules|_parameters|_buffers|\bself\b")
NOT_REACHED = "the last call did not reach it in Python"


def ceilings(report: Report) -> Roofline | None:
    """Return the device's ceilings: measured, otherwise from the target's datasheet; None if unknown."""
    target = TARGETS.get(report.setting.target)
    if report.roofline is not None or target is None:
        return report.roofline
    memory = (Bandwidth("memory", None, target.bandwidth),)
    return Roofline(target.title, memory, dict(target.peak_flops), target.source, source="datasheet")


def allowed_s(ceilings: Roofline, moved_bytes: int | None, flops: int | None, dtype: str) -> float | None:
    """Return the minimum seconds for this traffic and arithmetic; None if neither is known.

    If the dtype's peak is unknown, the peak of float32 is used.
    """
    memory_s = moved_bytes / ceilings.bandwidth(moved_bytes).bytes_s if moved_bytes else None
    peak = ceilings.flops_s.get(dtype, ceilings.flops_s.get("float32"))
    compute_s = flops / peak if flops and peak else None
    limits = [seconds for seconds in (memory_s, compute_s) if seconds is not None]
    return max(limits, default=None)


def product_dtype(ops: Collection[str], dtype: str, counters: Counters | None) -> str:
    """Return the dtype whose peak applies to a kernel of these ops.

    The result is `tfloat32` for float32 products that the device multiplies as TF32: matrix products if
    `torch.set_float32_matmul_precision` allows TF32, convolutions by default (`torch.backends.cudnn.allow_tf32`).
    `dtype` may be empty, as for an op that writes several tensors.
    """
    if counters is None or not counters.has_tf32 or dtype not in ("float32", ""):
        return dtype
    products = [op for op in ops if op_class(op) == "matmul"]
    if any(CONVOLUTION.search(op) for op in products):
        return TF32
    return TF32 if products and counters.float32_matmul_precision in ("high", "medium") else dtype


def ridge(level: Bandwidth, peak: float) -> float:
    """Return the FLOPs per byte above which arithmetic is the limit instead of this memory level."""
    return peak / level.bytes_s


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """A call of a kernel in the wrapper; `label` is its display name, `name` torch's name.

    Bytes, FLOPs and seconds are for one call. `calls` is the number of runs of the line in one call of the model,
    1 if not counted. The bytes are an upper bound if `at_most`. `flops` are torch's, or with `flops_estimated`
    one per op and iteration. `timed` is the origin of `time_s`: the kernel alone, the kernel in place if the time
    alone is missing or disturbed, or a prediction with the interval `range_s`, which is wide for the `doubts`.
    Times are medians, or minima if the machine was busy. `reason` is why the call was not timed, or why the time of
    the kernel alone does not count. `allowed_s`
    is the roofline's minimum, `wasted_s` the time above it over all calls. `share` is the fraction of all rows'
    time, None if times are unreliable. A `disturbed` row has unreliable times, and is not compared with the
    roofline. Unknown values are None.
    """

    id: str
    kernel: str
    line: int | None
    name: str
    kind: str
    language: Language
    direction: Direction
    ops: tuple[str, ...]
    modules: tuple[Module, ...]
    frames: tuple[Frame, ...]
    dtype: str
    calls: int
    bytes_read: int | None
    bytes_written: int | None
    at_most: bool
    flops: int | None
    flops_estimated: bool
    timed: Timed
    time_s: float | None
    quartiles_s: tuple[float, float] | None
    in_place_s: float | None
    reason: str
    cpp: CppFacts | None
    range_s: tuple[float, float] | None = None
    doubts: tuple[Doubt, ...] = ()
    compile_s: float | None = None
    tuning: KernelTuning | None = None
    registers: int | None = None
    spill_bytes: int | None = None
    shared_bytes: int | None = None
    occupancy: float | None = None
    allowed_s: float | None = None
    share: float | None = None
    disturbed: bool = False
    label: str = ""

    @property
    def measured(self) -> bool:
        """True if the time was measured."""
        return self.timed in (ALONE, IN_PLACE)

    @property
    def bytes_moved(self) -> int | None:
        """Bytes read and written."""
        return None if self.bytes_read is None else self.bytes_read + (self.bytes_written or 0)

    @property
    def intensity(self) -> float | None:
        """FLOPs per byte."""
        return self.flops / self.bytes_moved if self.flops and self.bytes_moved else None

    @property
    def bandwidth_bytes_s(self) -> float | None:
        """Achieved bytes per second."""
        return self.bytes_moved / self.time_s if self.time_s and self.bytes_moved else None

    @property
    def flops_s(self) -> float | None:
        """Achieved FLOP/s."""
        return self.flops / self.time_s if self.time_s and self.flops else None

    @property
    def total_s(self) -> float | None:
        """Seconds of all runs of this line in one call of the model."""
        return None if self.time_s is None else self.time_s * self.calls

    @property
    def fraction(self) -> float | None:
        """Fraction of the roofline, at most 1.

        None without a reliable measured time or a roofline, and if `above_ceilings` is True.
        """
        reached = self._ceiling_ratio
        return None if reached is None or reached > CEILING_SPREAD else min(reached, 1.0)

    @property
    def above_ceilings(self) -> bool:
        """True if the kernel is faster than the ceilings allow by more than their spread.

        Then the kernel's data was in a cache, or the library computes less than the counted FLOPs.
        """
        return self._ceiling_ratio is not None and self._ceiling_ratio > CEILING_SPREAD

    @property
    def _ceiling_ratio(self) -> float | None:
        judged = self.measured and not self.disturbed
        return self.allowed_s / self.time_s if judged and self.time_s and self.allowed_s else None

    @property
    def wasted_s(self) -> float | None:
        """Seconds above the roofline, over all calls; None without a reliable measured time or a roofline."""
        if not self.measured or self.disturbed or self.time_s is None or self.allowed_s is None:
            return None
        return max(0.0, self.time_s - self.allowed_s) * self.calls


def ledger(
    report: Report, compilation: Compilation, facts: Mapping[str, CppFacts] | None = None
) -> tuple[LedgerRow, ...]:
    """Return the rows of a compilation, worst first: by time above the roofline, time, traffic.

    For a cross-compilation target, times are predicted. `facts` are the facts of C++ kernels, by id.
    """
    limits = ceilings(report)
    timed = bool(kernel_times(compilation))
    untimed = report.untimed or (NOT_REACHED if timed else "")
    # Both look at the kernels of all compilations, which takes long in a large log, and matters for times alone.
    disturbed, unreliable = timed and bool(kernels_disturbed(report)), timed and bool(times_unreliable(report))
    least = busy(report.kernel_load)
    names, rows = KernelNames.within(compilation), []
    cold = _cold_parts(report, compilation)
    for kernel in compilation.kernels:
        schedule = schedule_of(kernel, compilation)
        origins = call_origins(kernel, schedule)
        for index, call in enumerate(kernel.calls or (None,)):
            row = _row(kernel, index, call, schedule, (facts or {}).get(kernel.id), least)
            label, modules = names.named(kernel, origins[index], schedule), _modules(origins[index], schedule)
            row = replace(row, label=label, modules=modules)
            row = _with_resources(replace(row, disturbed=disturbed), kernel.binary, report.setting.target)
            row = _with_roofline(row, limits, report.counters, untimed)
            rows.append(_with_prediction(row, kernel, schedule, report, cold))
    total_s = 0.0 if unreliable else sum(row.total_s or 0.0 for row in rows)
    shared = [
        replace(row, share=(row.total_s / total_s) if total_s and row.total_s is not None else None) for row in rows
    ]
    return tuple(sorted(shared, key=lambda row: (-(row.wasted_s or 0), -(row.total_s or 0), -(row.bytes_moved or 0))))


def _row(
    kernel: Kernel,
    index: int,
    call: KernelCall | None,
    schedule: Schedule | None,
    cpp: CppFacts | None,
    least: bool,
) -> LedgerRow:
    line, timed = (call.line, call.time) if call else (None, None)
    parts = max(1, len(kernel.calls))
    nodes = _nodes(kernel, schedule)
    estimate = _estimated_flops(nodes) if kernel.flops is None else None
    flops = kernel.flops if kernel.flops is not None else estimate
    return LedgerRow(
        id=f"{kernel.id}@{line}",
        kernel=kernel.id,
        line=line,
        name=kernel.name,
        kind=kernel_kind(kernel, nodes),
        language=kernel.language,
        direction=kernel.direction,
        ops=_ops(kernel),
        modules=(),
        frames=kernel.stacks,
        dtype=_dtype(nodes, schedule),
        calls=timed.calls if timed else 1,
        bytes_read=_call_part(kernel.bytes_read, index, parts),
        bytes_written=_call_part(kernel.bytes_written, index, parts),
        at_most=kernel.at_most,
        flops=_call_part(flops, index, parts),
        flops_estimated=estimate is not None,
        timed=how_timed(timed),
        time_s=time_s(timed, least),
        quartiles_s=quartiles_s(timed),
        in_place_s=in_place_s(timed, least),
        reason=untimed_reason(timed),
        cpp=cpp,
        compile_s=kernel.compile_s,
        tuning=kernel.tuning,
    )


def _with_resources(row: LedgerRow, binary: Binary | None, target: str) -> LedgerRow:
    """Add the multiprocessor resources that the Triton kernel uses in its chosen or first config."""
    config = binary.shown if binary else None
    if config is None:
        return row
    device = TARGETS.get(target)
    return replace(
        row,
        compile_s=config.compile_s,
        registers=config.registers,
        spill_bytes=config.spill_bytes,
        shared_bytes=config.shared_bytes,
        occupancy=occupancy(device.architecture, config.num_warps, config.registers, config.shared_bytes)
        if device
        else None,
    )


def _with_roofline(row: LedgerRow, limits: Roofline | None, counters: Counters | None, untimed: str) -> LedgerRow:
    """Return the row with its roofline limit.

    A row without a measured time gets the reason why there is none. A library matmul or attention
    has no roofline if torch counts no FLOPs for it: by bytes alone the call would look slow. A TF32 matmul has none
    on a device with unknown TF32 peak: by the float32 peak it would look too fast.
    """
    flops = None if row.flops_estimated else row.flops
    arithmetic = row.language == "extern" and any(op_class(op) in ("matmul", "attention") for op in row.ops)
    counted = flops is not None or not arithmetic
    dtype = row.dtype if flops is None else product_dtype(row.ops, row.dtype, counters)
    peaked = limits is not None and (dtype != TF32 or TF32 in limits.flops_s)
    allowed = allowed_s(limits, row.bytes_moved, flops, dtype) if limits and counted and peaked else None
    row = replace(row, allowed_s=allowed)
    return row if row.measured else replace(row, reason=row.reason or untimed)


def _cold_parts(report: Report, compilation: Compilation) -> Mapping[str, float]:
    """Return the part of each kernel's traffic that is not in the target's cache; empty without target."""
    device = TARGETS.get(report.setting.target)
    return cold_parts(compilation.schedules, device) if device else {}


def _with_prediction(
    row: LedgerRow, kernel: Kernel, schedule: Schedule | None, report: Report, cold: Mapping[str, float]
) -> LedgerRow:
    """Return the row with a predicted time, if it was not timed and is for a target."""
    device = TARGETS.get(report.setting.target)
    if device is None or row.measured:
        return row
    nodes = _nodes(kernel, schedule)
    work = kernel_work(kernel, row.ops, nodes, schedule, product_dtype(row.ops, row.dtype, report.counters))
    predicted = predict(work, device, cold.get(kernel.id, 0.0), report.setting.torch) if work else None
    prediction = predicted or by_roofline(row.allowed_s)
    if prediction is None:
        return row
    range_s = prediction.low_s, prediction.high_s
    return replace(row, timed=PREDICTED, time_s=prediction.time_s, range_s=range_s, doubts=prediction.doubts)


def predicted_calls(report: Report, device: Target) -> tuple[CallPrediction, ...]:
    """Return a call of the model on a device: eager, compiled and with CUDA graphs; empty without kernels.

    A call runs the last compilation of each frame once. Eager is left out if its calls were not recorded.
    """
    there = replace(report, setting=replace(report.setting, target=device.key), roofline=None)
    last = {compilation.frame: compilation for compilation in report.compilations if compilation.kernels}
    shares: list[KernelShare] = []
    eager: list[KernelShare] = []
    for compilation in last.values():
        made = [*_shares(there, compilation)]
        shares += (share for _, share in made)
        eager += _eager_shares(compilation, made, device, report.setting.torch)
    if not shares:
        return ()
    training = any(kernel.direction == "backward" for each in last.values() for kernel in each.kernels)
    copied = sum(_input_bytes(compilation) for compilation in last.values())
    compiled = (predict_call(way, shares, training, device, copied) for way in ("compiled", "CUDA graphs"))
    return (*([predict_call("eager", eager, training, device)] if eager else []), *compiled)


def _shares(report: Report, compilation: Compilation) -> Iterator[tuple[Kernel, KernelShare]]:
    """Yield each kernel of a compilation that has a predicted time."""
    limits, cold = ceilings(report), _cold_parts(report, compilation)
    for kernel in compilation.kernels:
        schedule = schedule_of(kernel, compilation)
        row = _with_roofline(_row(kernel, 0, None, schedule, None, False), limits, report.counters, "")
        row = _with_prediction(row, kernel, schedule, report, cold)
        if row.time_s and row.range_s:
            prediction = Prediction(row.time_s, *row.range_s, row.doubts)
            yield kernel, KernelShare(_limit(row), prediction, max(1, len(kernel.calls)), kernel.extern)


def _limit(row: LedgerRow) -> Limit:
    classes = {op_class(op) for op in row.ops}
    if row.language != "extern":
        return "memory traffic"
    if any(CONVOLUTION.search(op) for op in row.ops):
        return "convolutions"
    return (
        "attention" if "attention" in classes else "matrix products" if "matmul" in classes else "other library calls"
    )


def _eager_shares(
    compilation: Compilation, made: Sequence[tuple[Kernel, KernelShare]], device: Target, torch: str
) -> Iterator[KernelShare]:
    """Yield eager's calls: library calls as they are in the compiled code, others by their traffic."""
    library = {name for kernel, _ in made if kernel.extern for name in kernel.origins}
    if any(schedule.eager_calls for schedule in compilation.schedules):
        yield from (share for kernel, share in made if kernel.extern)
    for schedule in compilation.schedules:
        for call in schedule.eager_calls:
            if library.isdisjoint(call.nodes):
                half = max(1, call.bytes // 2)
                work = KernelWork("loop", half, half, elements=half / FLOAT_BYTES, simple=1)
                prediction = predict(work, device, 0.0, torch)
                if prediction is not None:
                    yield KernelShare("memory traffic", prediction, 1, library=False)


def _input_bytes(compilation: Compilation) -> int:
    """Return the bytes of a frame's inputs in the guards, without the model's own tensors."""
    tensors = (guard for guard in compilation.guards if guard.kind == "TENSOR_MATCH")
    inputs = [SIZE.search(guard.expression) for guard in tensors if not OF_MODEL.search(guard.source)]
    known = [(each[1], each[2].split(", ")) for each in inputs if each and each[2]]
    return sum(
        max(1, int("".join(filter(str.isdigit, dtype)) or 8) // 8) * math.prod(map(int, sizes))
        for dtype, sizes in known
    )


def batch_of(report: Report) -> tuple[int, str]:
    """Return the samples of a call, or its tokens if all its tensors are rows of them; (0, "") if unknown.

    Both are sizes of the first input in the guards.
    """
    for compilation in report.compilations:
        tensors = (guard for guard in compilation.guards if guard.kind == "TENSOR_MATCH")
        inputs = [SIZE.search(guard.expression) for guard in tensors if not OF_MODEL.search(guard.source)]
        known = [(each[1], [int(size) for size in each[2].split(", ")]) for each in inputs if each and each[2]]
        if known:
            texts = all("int" in dtype and len(sizes) == 2 for dtype, sizes in known)
            sizes = known[0][1]
            return (sizes[0] * sizes[1], "token") if texts else (sizes[0], "sample")
    return 0, ""


def _call_part(total: int | None, index: int, parts: int) -> int | None:
    """Return one call's part of a kernel's total; all calls of a generated kernel have equal sizes."""
    return None if total is None else total // parts + (index < total % parts)


def _nodes(kernel: Kernel, schedule: Schedule | None) -> tuple[SchedulerNode, ...]:
    """Return the unfused scheduler nodes of this kernel."""
    return tuple(node for node in schedule.before if node.kernel == kernel.id) if schedule else ()


def _ops(kernel: Kernel) -> tuple[str, ...]:
    """Return the distinct ops of the kernel's FX nodes, without views unless all nodes are views.

    Without nodes, a library call has its ATen op.
    """
    names = [node_op(name) for name in kernel.origins]
    working = [name for name in names if op_class(name) != "view"]
    return tuple(dict.fromkeys(working or names)) or ((aten_name(kernel.name),) if kernel.extern else ())


def _modules(origins: tuple[str, ...], schedule: Schedule | None) -> tuple[Module, ...]:
    modules = (schedule.modules[name] for name in origins if schedule and name in schedule.modules)
    return tuple(dict.fromkeys(modules))


def _dtype(nodes: tuple[SchedulerNode, ...], schedule: Schedule | None) -> str:
    """Return the first floating dtype of the outputs, otherwise the first dtype; empty if not recorded."""
    dtypes = {buffer.name: buffer.dtype for buffer in schedule.buffers} if schedule else {}
    written = [dtypes[name] for node in nodes for name, _ in node.writes if name in dtypes]
    return next((dtype for dtype in written if "float" in dtype), written[0] if written else "")


def _estimated_flops(nodes: tuple[SchedulerNode, ...]) -> int | None:
    """Return estimated FLOPs: one per pointwise op or reduction, and loop iteration.

    None without such ops, or if the iterations of a node are not recorded.
    """
    flops = 0
    for node in nodes:
        ops = sum(op_class(node_op(name)) in ("pointwise", "reduction") for name in node.origins)
        if ops and node.iterations is None:
            return None
        flops += ops * (node.iterations or 0)
    return flops or None


def fusion_schedules(compilation: Compilation) -> tuple[Schedule, ...]:
    """Return the recorded schedules of a compilation; without any, those of its kernels' calls.

    Torch logs which FX nodes each kernel computes, but no scheduler nodes; without its provenance tracking, only those
    of Triton kernels. A node then stands for a call, or for all calls of a kernel whose FX nodes are not recorded call
    by call; it has no kind, no buffers, and no fusions.
    """
    if compilation.schedules:
        return compilation.schedules
    directions = dict.fromkeys(kernel.direction for kernel in compilation.kernels if kernel.origins)
    return tuple(_schedule_of_calls(compilation, direction) for direction in directions)


def _schedule_of_calls(compilation: Compilation, direction: Direction) -> Schedule:
    calls: list[tuple[int, Kernel, tuple[str, ...]]] = []
    for kernel in compilation.kernels:
        if kernel.direction == direction:
            single = [(call.line, kernel, call.origins) for call in kernel.calls if call.origins or not kernel.origins]
            known = len(single) == len(kernel.calls) and single
            calls += known or [(min(kernel.call_lines, default=0), kernel, kernel.origins)]
    calls.sort(key=lambda call: call[0])
    nodes = tuple(
        SchedulerNode(f"call{index}", "", (f"call{index}",), (), (), (), origins, None, "", kernel.id)
        for index, (_, kernel, origins) in enumerate(calls)
    )
    return Schedule(-1, direction, nodes, nodes, (), (), {})

"""Predicted times of kernels on a GPU: a model of few parameters, fitted to measured times.

A generated kernel takes a floor, and what limits it: memory, arithmetic, steps along rows, accesses by an index. A
matrix product takes waves of tiles, as in NeuSight (Lee, Phanishayee, Mahajan, arXiv 2407.13853); a convolution is a
product over an image's places; attention takes waves of query blocks. `parameters.json` has the parameters, in seconds,
bytes and their ratios, with the interval of the fit; `python -m benchmarks.devices fit` makes it again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal

from core.base.decoder import decoded_as
from core.job.targets import TARGETS, Target

PARAMETERS = Path(__file__).with_name("parameters.json")
Kind = Literal["loop", "rows", "long rows", "scan", "sort", "topk", "product", "convolution", "attention"]
Way = Literal["eager", "compiled", "CUDA graphs"]
# What takes most of a predicted call: the CPU's launches, or the kernels of a class.
Limit = Literal["launches", "memory traffic", "matrix products", "convolutions", "attention", "other library calls"]
# Parts of a kernel that were not measured: its size, version of torch, device or kind.
Doubt = Literal["size", "torch", "device", "kind"]
Parameters = Mapping[str, float]
# Least factor of an interval on a device that was not measured: one of the same vendor, and any other.
UNMEASURED, OTHER_VENDOR = 1.5, 2.0
# Factor of an interval outside of the measured range, and of a call whose kind was not measured.
OUTSIDE, UNKNOWN = 1.5, 3.0
# Part of the errors of kernels that all kernels of a call have in common; the rest cancels.
COMMON = 0.4
BRIEF_S = 5e-6
OTHER_TORCH = 1.1  # factor of an interval with a version of torch that was not measured
GENERIC = "product half"  # the kind whose floor and efficiency stand for kinds without a model
TILES = ((16, 64), (64, 64), (64, 128), (128, 64), (128, 128), (128, 256), (256, 128))
# Of float32, by threads instead of matrix units.
THREAD_TILES = ((32, 32), (32, 64), (64, 64), (128, 32), (128, 64), (64, 256), (128, 128), (256, 128))
DEPTHS = {"float32": 8}  # elements of the contraction that a tile loads at once; others: `STEP`
TILE = 128 * 128  # elements of the tiles that a multiprocessor works on at once
MOST_TILES = 8  #: tiles that a multiprocessor works on at once
SPLITS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 64, 128)
STEP = 64  # elements of the contraction that a tile loads at once
PIECE = 16  # bytes that an image's channels are read in
FEW_TAPS = 9  # places of a weight up to which libraries have kernels of their own
QUERIES = 128  # queries of a block of attention


@dataclass(frozen=True, slots=True)
class MatrixSizes:
    """A product of `batch` matrices, `m` by `k` and `k` by `n`.

    For attention, `m` are the queries, `n` the keys, and `k` is the width of a head.
    """

    batch: int
    m: int
    n: int
    k: int
    aligned: bool = True


@dataclass(frozen=True, slots=True)
class KernelWork:
    """Features that decide a kernel's time.

    `elements` are the iterations of its longest loop, `row` the elements that a reduction makes one of, `passes` how
    often a row is read, by `blocks` with `steps` each. Rows are `outer` if neighbours in memory are of neighbouring
    rows, `apart` if their elements are in several pieces, `uneven` if they begin between multiples of 16 bytes, and
    `dependent` if they are read by an index; a block reduces `serial` of them one by one. `simple`, `slow`, `heavy` and
    `drawn` are ops of an iteration: arithmetic, functions such as `exp` and `erf`, random numbers, `windows` are ops
    that read an element's neighbours. `loads` are the buffers that are read, `again` bytes that are read once more,
    `spread` bytes whose neighbours in memory are not read together. `lookups` are accesses by an index to
    `table_bytes`, `adds` are atomic, to `addresses`, and `wide` if neighbours add to neighbours. `turned` is a product
    whose factors are not stored along the contraction, or a convolution of channels that come first; a `biased` product
    adds a bias; `taps` are the places of a convolution's weight, `weights_only` a backward without the gradient of its
    image, `grouped` one of channels in groups.
    """

    kind: Kind
    read_bytes: float
    written_bytes: float
    elements: float = 0.0
    row: float = 1.0
    passes: int = 1
    simple: int = 0
    slow: int = 0
    heavy: int = 0
    drawn: int = 0
    windows: int = 0
    spread: float = 0.0
    apart: bool = False
    outer: bool = False
    uneven: bool = False
    serial: float = 1.0
    loads: int = 1
    blocks: float = 0.0
    steps: float = 0.0
    again: float = 0.0
    dependent: bool = False
    lookups: float = 0.0
    table_bytes: float = 0.0
    adds: float = 0.0
    addresses: float = 0.0
    wide: bool = False
    precision: str = ""
    product: MatrixSizes | None = None
    backward: bool = False
    turned: bool = False
    biased: bool = False
    grouped: bool = False
    taps: int = 1
    weights_only: bool = False

    @property
    def key(self) -> str:
        """The kind of kernel that has parameters of its own."""
        if self.product:
            groups = "depthwise " if self.product.k == self.taps else "grouped "
            return f"{groups if self.grouped else ''}{self.kind} {self.precision}"
        indexed = self.adds or self.lookups or self.windows or self.spread or self.again
        if self.kind == "loop":
            return "indexed loop" if indexed else "loop"
        if self.kind in ("rows", "long rows") and self.outer:
            return "columns" if self.kind == "rows" else "long columns"
        return "long rows apart" if self.kind == "long rows" and self.apart else self.kind

    @property
    def size(self) -> float:
        """Bytes, or the arithmetic of a product, by which the measured range is known."""
        shape = self.product
        return shape.batch * shape.m * shape.n * shape.k if shape else self.read_bytes + self.written_bytes


@dataclass(frozen=True, slots=True)
class Prediction:
    """A predicted time, and the interval for nine of ten; `doubts` are why it is wider than the fit's."""

    time_s: float
    low_s: float
    high_s: float
    doubts: tuple[Doubt, ...] = ()


def power_of_two(size: float) -> int:
    """Return the least power of two that is not less."""
    return 1 << max(0, math.ceil(size) - 1).bit_length()


def memory_s(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    """Return seconds for the traffic: by the cache if it holds all of it, otherwise by memory.

    `cold` is the part of the reads that is not in the cache, and for which other data is written back.
    """
    moved = work.read_bytes + work.written_bytes + work.spread * on.get("spread", 0.0)
    if not moved:
        return 0.0
    cached = min(1.0, max(0.0, 2.0 - moved / (device.l2_cache_bytes * on["cache_part"])))
    warm = moved * (cached / on["cache_bytes_s"] + (1 - cached) / on["bytes_s"])
    away = moved - work.written_bytes + max(work.written_bytes, min(moved, on["dirty_bytes"]))
    return (1 - cold) * warm + cold * max(warm, away / on["bytes_s"])


def _generated_s(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    count = device.multi_processor_count
    costs = (
        (work.simple, "simple_s"), (work.slow, "slow_s"), (work.heavy, "heavy_s"), (work.drawn, "drawn_s"),
        (work.windows, "window_s"), (work.apart, "apart_s"), (work.uneven, "uneven_s"), (work.loads, "load_s"),
    )  # fmt: skip
    each = on["element_s"] + sum(number * on[name] for number, name in costs if number)
    padded = power_of_two(work.row) / work.row if work.kind == "rows" else 1.0
    arithmetic = work.elements * padded * work.passes * each / count
    steps = 0.0
    if work.kind in ("rows", "long rows"):
        step_s = on["step_s"] * (on["dependent"] if work.dependent else 1.0) + work.loads * on["load_step_s"]
        steps = max(1.0, work.blocks / (count * on["at_once"])) * work.steps * step_s * (1.0 + cold * on["cold_step"])
        steps += 0.0 if work.outer else work.elements / work.row * on["row_s"] / count
    if work.serial > 1.0:
        steps += work.serial * on["serial_s"]
    late = (cold * on["cold_s"] if work.read_bytes else 0.0) + (on["index_s"] if work.adds else 0.0)
    memory = memory_s(work, on, device, cold)
    return on["floor_s"] + late + _longest(memory, arithmetic, steps, _indexed_s(work, on, device))


def _indexed_s(work: KernelWork, on: Parameters, device: Target) -> float:
    held = device.l2_cache_bytes * on["cache_part"]
    seconds = 0.0
    if work.again:
        seconds += work.again / on["again_s"]
    if work.lookups:
        near = min(1.0, held / max(1.0, work.table_bytes))
        seconds += work.lookups * (near / on["near_lookups_s"] + (1 - near) / on["far_lookups_s"])
    if work.adds and work.wide:
        seconds += work.adds / on["wide_adds_s"]
    elif work.adds:
        near = min(1.0, held / max(1.0, 4 * work.addresses))
        crowd = min(1.0, work.addresses / 2**20) ** on["crowd"]
        seconds += work.adds * (near / (on["near_adds_s"] * crowd) + (1 - near) / on["far_adds_s"])
    return seconds


def _longest(*parts: float) -> float:
    """Return the longest part, and more where several are close: the 4-norm."""
    most = max(parts)
    return most * math.fsum((part / most) ** 4 for part in parts) ** 0.25 if most else 0.0


def _product_s(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    shape = work.product or MatrixSizes(1, 1, 1, 1)
    rate = _rate(work, device) * on["efficiency"]
    slower = 1.0 if shape.aligned else on["unaligned"]
    itemsize, count = 2 if work.precision == "half" else 4, device.multi_processor_count
    memory, floor = memory_s(work, on, device, cold), on["floor_s"] + cold * on["cold_s"]
    if work.kind == "product":
        if shape.batch == 1 and min(shape.m, shape.n) == 1:
            return floor + memory * on["vector"]
        slower *= on["turned"] if work.turned else 1.0
        split_s = on["biased_split_s" if work.biased else "split_s"]
        return floor + _longest(memory, slower * _tiles_s(shape, work.precision, rate, on, count, split_s))
    turned = on["copies_s"] + on["turned"] * (work.read_bytes + work.written_bytes) / on["bytes_s"]
    if work.grouped:
        channels = max(1.0, shape.k / work.taps)
        one = 2 * shape.m * shape.n * shape.k / (on["grouped_flops_s"] * channels ** on["grouped_power"])
        parts = [one, one * on["grouped_backward"]] if work.backward else [one]
    else:
        slower *= max(1.0, work.taps / FEW_TAPS) ** on["many_taps"] * work.taps ** (work.backward * on["taps"])
        # Channels are read in pieces of 16 bytes.
        piece = PIECE // itemsize
        padded = replace(shape, k=work.taps * piece * math.ceil(shape.k / work.taps / piece))
        parts = [slower * _tiles_s(padded, work.precision, rate, on, count)]
        if work.backward:
            turns = MatrixSizes(1, shape.m, shape.k, shape.n), MatrixSizes(1, shape.n, shape.k, shape.m)
            splits = zip(turns, (math.inf, on["split_s"]), strict=True)
            parts = [slower * _tiles_s(each, work.precision, rate, on, count, split_s) for each, split_s in splits]
            parts[1] *= on["weights"]
            parts = parts[1:] if work.weights_only else parts
    memory /= len(parts)
    return sum(floor + _longest(memory, part) for part in parts) + (turned * len(parts) if work.turned else 0.0)


def _rate(work: KernelWork, device: Target) -> float:
    """Return the datasheet's FLOP/s of a multiprocessor."""
    dtype = "bfloat16" if work.precision == "half" else work.precision
    return device.peak_flops.get(dtype, device.peak_flops["float32"]) / device.multi_processor_count


def _tiles_s(
    shape: MatrixSizes, precision: str, rate: float, on: Parameters, count: int, split_s: float = math.inf
) -> float:
    """Return the least seconds over sizes of tiles and splits of the contraction, at `split_s` each.

    A tile takes its arithmetic, the transfer of its factors, or the latency of its steps. Batches are not split.
    """
    best, depth = math.inf, DEPTHS.get(precision, STEP)
    splits = 1 if shape.batch > 1 or split_s == math.inf else max(1, shape.k // (2 * depth))
    byte_s = (2 if precision == "half" else 4) / on["supply_bytes_s"] * count
    for rows, columns in THREAD_TILES if precision == "float32" else TILES:
        tiles = shape.batch * math.ceil(shape.m / rows) * math.ceil(shape.n / columns)
        at_once = max(1, min(MOST_TILES, TILE // (rows * columns)))
        for split in SPLITS:
            if split > splits or (split > 1 and tiles * split > 2 * count):
                break
            mine = math.ceil(tiles * split / count)
            busy = mine * max(2 * rows * columns * depth / rate, (rows + columns) * depth * byte_s)
            each = math.ceil(shape.k / split / depth) * max(busy, math.ceil(mine / at_once) * on["step_s"])
            each += mine * rows * columns * byte_s * on["stored"]
            best = min(best, each + (split_s if split > 1 else 0.0))
    return best


def _attention_s(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    """Return seconds of waves of blocks: of queries, each over all keys, and of keys in the backward."""
    shape = work.product or MatrixSizes(1, 1, 1, 1)
    mine, others = (shape.n, shape.m) if work.backward else (shape.m, shape.n)
    rows = QUERIES if mine > STEP else STEP
    each = rows * max(STEP, others) * (4 * shape.k / (_rate(work, device) * on["efficiency"]) + on["score_s"])
    each = on["block_s"] + max(each, math.ceil(others / STEP) * on["step_s"])
    waves = max(1.0, shape.batch * math.ceil(mine / rows) / device.multi_processor_count)
    again = on["backward"] if work.backward else 1.0
    floor = on["floor_s"] + cold * on["cold_s"]
    return floor * math.ceil(again) + _longest(memory_s(work, on, device, cold), again * waves * each)


# `topk` divides rows of a length among blocks, if there are up to so many rows: torch's `should_use_multiblock`.
DIVIDED = ((20, 20_000), (40, 10_000), (80, 8_000), (199, 5_000), (799, 3_000), (4_000, 800), (math.inf, 400))
BLOCK_SORT = 4096  # elements of a row up to which one block sorts it


def _sort_s(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    """Return seconds of a sort by radix: passes over the keys' bits."""
    bits, rows = 8 * work.read_bytes / work.elements, work.elements / work.row
    each = on["element_s"] * bits
    if work.row <= BLOCK_SORT:
        return on["floor_s"] + rows * power_of_two(work.row) * each
    return on["floor_s"] + bits * on["pass_s"] + work.elements * each * (on["segments"] if rows > 1 else 1.0)


def _topk_s(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    rows = work.elements / work.row
    if work.row >= next(length for most, length in DIVIDED if rows <= most):
        return on["divided_s"] + work.elements * on["element_s"] + rows * on["row_s"]
    waves = max(1.0, rows / (device.multi_processor_count * on["at_once"]))
    return on["floor_s"] + waves * (on["select_s"] + work.row * on["place_s"])


def bound(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    """Return the part of a kernel's predicted time that its traffic or its arithmetic alone takes, 0 to 1."""
    if work.kind in ("sort", "topk"):
        return 0.0
    least, shape = memory_s(work, on, device, cold), work.product
    if shape:
        flops = (4 if work.kind == "attention" else 2) * shape.batch * shape.m * shape.n * shape.k
        least = max(least, flops / (_rate(work, device) * device.multi_processor_count * on["efficiency"]))
    return min(1.0, least / seconds(work, on, device, cold))


def seconds(work: KernelWork, on: Parameters, device: Target, cold: float) -> float:
    """Return a kernel's seconds by the model; `cold` is the part of its reads that is not in the cache."""
    models = {"attention": _attention_s, "sort": _sort_s, "topk": _topk_s}
    return models.get(work.kind, _product_s if work.product else _generated_s)(work, on, device, cold)


@dataclass(frozen=True, slots=True)
class Fit:
    """The fit of one kind of kernel: parameters, intervals of measured over predicted, range of sizes.

    An interval has the least `bound` of its kernels, its low and its high factor, those of the least bound first.
    `brief` is the interval of kernels that take less than `BRIEF_S`, whose times are mostly floors.
    """

    parameters: dict[str, float]
    intervals: tuple[tuple[float, float, float], ...]
    brief: tuple[float, float]
    sizes: tuple[float, float]

    def interval(self, time_s: float, bound: float) -> tuple[float, float]:
        """Return the interval of a kernel by its predicted time and its bound."""
        if time_s < BRIEF_S:
            return self.brief
        _, low, high = max(each for each in self.intervals if each[0] <= bound)
        return low, high


@dataclass(frozen=True, slots=True)
class DeviceFit:
    """A measured device with the fit of each kind of kernel; `files` has its measurements."""

    target: str
    torch: str
    triton: str
    driver: str
    date: str
    files: tuple[str, ...]
    events_us: float
    host: dict[str, float]
    host_interval: tuple[float, float]
    kinds: dict[str, Fit]


@cache
def measured() -> DeviceFit:
    """Return the parameters of the measured device."""
    return decoded_as(PARAMETERS.read_bytes(), DeviceFit)


def predict(work: KernelWork, device: Target, cold: float, torch: str) -> Prediction | None:
    """Return the predicted time of a kernel on a device; None for a kind without a fit.

    A device that was not measured gets the measured one's parameters, by ratios of the datasheets.
    """
    source = measured()
    fit = source.kinds.get(work.key)
    if fit is None:
        return None
    on = TARGETS[source.target]
    parameters = fit.parameters if device.key == on.key else scaled(fit.parameters, on, device)
    time_s = seconds(work, parameters, device, cold)
    low, high = fit.interval(time_s, bound(work, parameters, device, cold))
    doubts: list[Doubt] = []
    if not fit.sizes[0] <= work.size <= fit.sizes[1]:
        low, high = low / OUTSIDE, high * OUTSIDE
        doubts.append("size")
    if torch and torch.split(".")[:2] != source.torch.split(".")[:2]:
        low, high = low / OTHER_TORCH, high * OTHER_TORCH
        doubts.append("torch")
    if device.key != on.key:
        factor = UNMEASURED if device.backend == on.backend else OTHER_VENDOR
        low, high = low / factor, high * factor
        doubts.append("device")
    return Prediction(time_s, time_s * low, time_s * high, tuple(doubts))


def by_roofline(allowed_s: float | None) -> Prediction | None:
    """Return a coarse prediction from the roofline's seconds, for a kind without a model."""
    if allowed_s is None:
        return None
    fit = measured().kinds[GENERIC].parameters
    time_s = fit["floor_s"] + allowed_s / fit["efficiency"]
    return Prediction(time_s, time_s / UNKNOWN, time_s * UNKNOWN, ("kind",))


def scaled(parameters: Parameters, on: Target, device: Target) -> dict[str, float]:
    """Return parameters for another device, by ratios of the datasheets.

    Memory goes by bandwidth, caches by clocks and multiprocessors, an element's arithmetic by clocks. Efficiencies are
    parts of each device's peaks. Floors and latencies stay.
    """
    memory = device.bandwidth / on.bandwidth
    clock = device.max_clock_mhz / on.max_clock_mhz
    count = clock * device.multi_processor_count / on.multi_processor_count
    factors = dict.fromkeys(("bytes_s", "far_lookups_s", "far_adds_s"), memory)
    factors |= dict.fromkeys(("cache_bytes_s", "supply_bytes_s", "near_lookups_s", "near_adds_s"), count)
    factors |= dict.fromkeys(("wide_adds_s", "again_s", "grouped_flops_s"), count)
    each = ("element_s", "simple_s", "slow_s", "heavy_s", "drawn_s", "score_s", "uneven_s")
    factors |= dict.fromkeys(each, 1 / clock)
    return {name: value * factors.get(name, 1.0) for name, value in parameters.items()}


@dataclass(frozen=True, slots=True)
class KernelShare:
    """The kernels of one class in a call: predictions of a launch, each with the number of launches."""

    limit: Limit
    prediction: Prediction
    launches: int
    library: bool


@dataclass(frozen=True, slots=True)
class CallLaunches:
    """Launches of a call: generated kernels or eager's simple ops, library calls, and convolutions."""

    generated: int
    library: int
    convolutions: int
    training: bool

    @classmethod
    def of(cls, shares: Sequence[KernelShare], training: bool) -> CallLaunches:
        """Count the launches of kernels."""
        counts = {"generated": 0, "library": 0, "convolutions": 0}
        for share in shares:
            convolves = share.limit == "convolutions"
            counts["convolutions" if convolves else "library" if share.library else "generated"] += share.launches
        return cls(**counts, training=training)


@dataclass(frozen=True, slots=True)
class CallPrediction:
    """A predicted call of a model, when calls follow each other, with the interval for nine of ten.

    The device takes `device_s` for its kernels and the gaps between them, and the CPU `host_s` to launch them, on the
    host that was measured; a call takes the longer of both. `limit` is what takes most of it.
    """

    way: Way
    time_s: float
    low_s: float
    high_s: float
    device_s: float
    host_s: float
    launches: int
    limit: Limit
    doubts: tuple[Doubt, ...] = ()


def predict_call(
    way: Way, shares: Sequence[KernelShare], training: bool, device: Target, input_bytes: int = 0
) -> CallPrediction:
    """Return the predicted time of a call that launches these kernels; `training` calls have a backward.

    A CUDA graph's inputs are copied to where it reads them.
    """
    fit = measured()
    launches = sum(share.launches for share in shares)
    gap = fit.host["graph_gap_s" if way == "CUDA graphs" else "gap_s"] * launches
    if way == "CUDA graphs":
        bandwidth = fit.kinds["loop"].parameters["bytes_s"] * device.bandwidth / TARGETS[fit.target].bandwidth
        gap += 2 * input_bytes / bandwidth
    host = host_s(way, CallLaunches.of(shares, training), fit.host)
    longer = fit.host["eager_device"] if way == "eager" else 1.0
    sums = summed([(share.prediction, share.launches) for share in shares])
    busy, low, high = (seconds * longer + gap for seconds in sums)
    wider = 1.0 if device.key == fit.target else UNMEASURED
    host_low, host_high = host * fit.host_interval[0] / wider, host * fit.host_interval[1] * wider
    totals: dict[Limit, float] = {}
    for share in shares:
        totals[share.limit] = totals.get(share.limit, 0.0) + share.prediction.time_s * share.launches
    limit: Limit = "launches" if host > busy else max(totals, key=lambda name: totals[name])
    doubts = tuple(dict.fromkeys(doubt for share in shares for doubt in share.prediction.doubts))
    return CallPrediction(
        way, max(busy, host), max(low, host_low), max(high, host_high), busy, host, launches, limit, doubts
    )


def host_s(way: Way, launches: CallLaunches, on: Parameters) -> float:
    """Return the CPU's seconds for a call: of the call itself, and of each launch."""
    if way == "CUDA graphs":
        return on["replay_s"] + (on["replay_training_s"] if launches.training else 0.0)
    prefix = "eager_" if way == "eager" else ""
    each = launches.generated * on["eager_s" if prefix else "launch_s"]
    each += launches.library * on[f"{prefix}library_s"] + launches.convolutions * on[f"{prefix}convolution_s"]
    if way == "eager":
        return each * (on["eager_training"] if launches.training else 1.0)
    return on["call_s"] + each + (on["training_s"] if launches.training else 0.0)


def summed(predictions: Sequence[tuple[Prediction, int]]) -> tuple[float, float, float]:
    """Return the sum of predictions, each so many times, and its interval: a part of their errors cancels."""
    time_s = math.fsum(each.time_s * count for each, count in predictions)
    sides = []
    for errors in (
        [(each.time_s - each.low_s) * count for each, count in predictions],
        [(each.high_s - each.time_s) * count for each, count in predictions],
    ):
        own = math.fsum(error**2 for error in errors)
        sides.append(math.sqrt((COMMON * math.fsum(errors)) ** 2 + (1 - COMMON**2) * own))
    return time_s, max(time_s - sides[0], 0.0), time_s + sides[1]

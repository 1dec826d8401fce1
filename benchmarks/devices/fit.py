"""Fit the parameters of predicted times to a file of measurements, without a random start.

Each kind of kernel is fitted by itself. The parameters of memory are those of loops for all kinds. The intervals are
those of kernels that a fit did not see: a fifth of the functions and models is left out of each of five fits. A kind
has an interval for each range of the part that traffic or arithmetic alone take.
"""

from __future__ import annotations

import itertools
import json
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.devices.host_fit import (
    CALLS,
    LEAST_FACTOR,
    ROUNDS,
    START,
    HostRow,
    eager_device,
    gaps,
    host_rows,
    read_calls,
)
from benchmarks.devices.model_rows import MODELS, model_works
from benchmarks.devices.solver import fitted
from core.analysis.kernels.features import generated_work
from core.analysis.kernels.library import BufferTraffic, sort_work
from core.analysis.kernels.predicted import BRIEF_S, PARAMETERS, KernelWork, Kind, MatrixSizes, bound, seconds
from core.job.targets import TARGETS
from core.ops.costs import op_class

FILE = Path(__file__).parent / "measured" / "h200.json"
FILES = FILE, FILE.with_name("h200-designed.json"), FILE.with_name("h200-usual.json")
TARGET = TARGETS["h200"]
BOUNDS = (0.0, 0.3, 0.45, 0.6, 0.7, 0.8, 0.9, 1.01)  # of parts of kernels with an interval of their own
OF_MODEL = 6.0  # weight of a model's kernel, since models are what is predicted
REPEATED = ("generate",)  # models whose frames run several times in a call
LIGHT = 0.25  # weight of a kernel that takes less than `BRIEF_S`
MOST_ROUNDS, FOLD_ROUNDS = 40, 8
FOLDS = 5
ENOUGH = 24  # kernels for an interval of their own
NINE_OF_TEN = 0.9
LEAST_SIDE = 1.08  # of an interval
DIGITS = 4
KINDS: dict[str, Kind] = {"poi": "loop", "per": "rows", "red": "long rows", "spl": "long rows"}
MEMORY = {"bytes_s": 4.2e12, "cache_bytes_s": 6e12, "cache_part": 0.5, "dirty_bytes": 1e7}
ARITHMETIC = {
    "element_s": 1e-11,
    "load_s": 5e-12,
    "simple_s": 5e-12,
    "slow_s": 2e-11,
    "heavy_s": 5e-11,
    "drawn_s": 4e-10,
}
INDEXED = {
    "near_lookups_s": 1e11, "far_lookups_s": 3e10, "near_adds_s": 9e10, "far_adds_s": 2e10, "wide_adds_s": 4e11,
    "again_s": 6e12, "crowd": 0.3, "index_s": 2e-6,
}  # fmt: skip
STEPS_OF_ROWS = {
    "at_once": 4.0,
    "step_s": 5e-7,
    "row_s": 5e-10,
    "dependent": 3.0,
    "cold_step": 0.3,
    "load_step_s": 1e-7,
}
STARTS: dict[str, dict[str, float]] = {
    "loop": {"floor_s": 1e-6, "cold_s": 5e-7, **ARITHMETIC, **MEMORY},
    "indexed loop": {**INDEXED, "spread": 0.5, "window_s": 3e-10},
    "rows": {"floor_s": 1e-6, "cold_s": 5e-7, **ARITHMETIC, **STEPS_OF_ROWS, "apart_s": 3e-11, "uneven_s": 5e-11,
             "serial_s": 1.6e-7},
    "sort": {"floor_s": 1e-5, "pass_s": 5e-7, "element_s": 1e-12, "segments": 2.0},
    "topk": {"floor_s": 5e-6, "divided_s": 6e-5, "element_s": 1.1e-11, "row_s": 9e-9, "at_once": 4.0,
             "select_s": 3e-6, "place_s": 2.7e-9},
    "scan": {"floor_s": 1e-6, "cold_s": 5e-7, **ARITHMETIC},
    "long rows": {"floor_s": 1e-6, "cold_s": 5e-7, **ARITHMETIC, **STEPS_OF_ROWS, "apart_s": 3e-11},
    "product": {"floor_s": 2e-6, "cold_s": 8e-7, "efficiency": 0.8, "unaligned": 3.0, "supply_bytes_s": 1e13,
                "step_s": 5e-8, "split_s": 1.5e-6, "biased_split_s": 4e-6, "stored": 1.0, "turned": 1.0,
                "vector": 1.5},
    "convolution": {"floor_s": 3e-6, "cold_s": 8e-7, "efficiency": 0.6, "unaligned": 3.0, "supply_bytes_s": 1e13,
                    "step_s": 5e-8, "split_s": 1.5e-6, "stored": 1.0, "weights": 1.2, "turned": 2.0, "copies_s": 4e-6,
                    "taps": 0.1, "many_taps": 0.2,
                    "grouped_flops_s": 4e12, "grouped_power": 0.5, "grouped_backward": 2.0},
    "attention": {"floor_s": 3e-6, "cold_s": 1e-6, "efficiency": 0.7, "score_s": 1e-12, "step_s": 3e-7, "block_s": 1e-6,
                  "backward": 3.0},
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A measured kernel: work, part of its reads not in the cache, seconds, function, family."""

    work: KernelWork
    cold: float
    seconds: float
    name: str
    family: str
    weight: float = 1.0

    def error(self, parameters: Mapping[str, float]) -> float:
        """The logarithm of measured over predicted."""
        return math.log(self.seconds / seconds(self.work, parameters, TARGET, self.cold))


@dataclass(frozen=True, slots=True)
class Unseen:
    """A kernel that a fit did not see: error, predicted seconds, bound, weight."""

    error: float
    seconds: float
    bound: float
    weight: float

    @classmethod
    def of(cls, row: Row, parameters: Mapping[str, float]) -> Unseen:
        """Predict a row."""
        error = row.error(parameters)
        part = bound(row.work, parameters, TARGET, row.cold)
        return cls(error, row.seconds / math.exp(error), part, row.weight)


def read(path: Path) -> dict[str, Any]:
    """Return a file of measurements; raises SystemExit if the device was throttled."""
    data: dict[str, Any] = json.loads(path.read_text())
    if data.get("refused", "not measured to its end"):
        raise SystemExit(f"{path.name}: {data.get('refused', 'not measured to its end')}")
    return data


def measured_rows() -> list[Row]:
    """Return the kernels of all files of measurements."""
    made = [row for path in FILES for row in rows_of(read(path))]
    equal: dict[tuple[str, str, KernelWork, float], list[float]] = {}
    for model, kernel, work, cold, seconds_ in model_works():
        if model not in REPEATED:
            equal.setdefault((model, kernel.rstrip("0123456789"), work, cold), []).append(seconds_)
    for (model, kernel, work, cold), times in equal.items():
        seconds_ = statistics.median(times)
        weight = OF_MODEL * len(times) * (1.0 if seconds_ >= BRIEF_S else LIGHT)
        made.append(Row(work, cold, seconds_, model, kernel, weight))
    return made


def rows_of(data: Mapping[str, Any]) -> Iterator[Row]:
    """Yield every kernel of a file twice, with warm and with cold caches."""
    for key, records in data["groups"].items():
        for record in records:
            work = call_work(record) if key.startswith("calls") else kernel_work(record)
            if work is not None and "warm_us" in record:
                name = record.get("kernel", "").rstrip("0123456789") or str(record.get("sizes"))
                family = record.get("kind") or record["op"]
                for cold, times in ((0.0, record["warm_us"]), (1.0, record["cold_us"])):
                    seconds_ = times[1] * 1e-6
                    yield Row(work, cold, seconds_, name, family, 1.0 if seconds_ >= BRIEF_S else LIGHT)


def kernel_work(record: Mapping[str, Any]) -> KernelWork | None:
    """Return the work of a generated kernel; None if its features are missing."""
    features = record["features"]
    if not features.get("iterations"):
        return None
    names = [_op_name(target) for target in features["ops"]]
    kind = KINDS.get(record["kernel"].split("_")[1], "loop")
    scans = any("Scan" in each for each in features["kinds"])
    if scans and "_spl_" in record["kernel"]:
        return None
    return generated_work(
        "scan" if scans else kind,
        [name for name in names if op_class(f"aten.{name}.default") != "view"],
        [_moved(buffer) for buffer in features["reads"]],
        [_moved(buffer) for buffer in _stores(record)],
        max(features["iterations"]),
        1 if scans else features["rnumel"],
        features["indirect"],
        record["config"].get("atomic_add_found", False),
        kind == "long rows",
    )


def _op_name(target: str) -> str:
    """Return `add` for `aten.add.Tensor`, and for `prims.add.default`."""
    parts = target.split(".")
    return parts[1] if len(parts) > 2 else parts[-1]


def _moved(buffer: Mapping[str, Any]) -> BufferTraffic:
    return BufferTraffic(
        buffer["bytes"], buffer.get("dtype", ""), tuple(buffer.get("shape", (1,))), tuple(buffer.get("stride", (1,)))
    )


def _stores(record: Mapping[str, Any]) -> list[Any]:
    """Return as many results as the code stores, those of the main input's dtype and the largest first."""
    reads, writes = record["features"]["reads"], record["features"]["writes"]
    main = max(reads, key=lambda buffer: buffer["bytes"])["dtype"] if reads else ""
    ordered = sorted(writes, key=lambda buffer: (buffer.get("dtype") != main, -buffer["bytes"]))
    return ordered[: max(1, record["config"].get("num_store", len(writes)))]


def call_work(record: Mapping[str, Any]) -> KernelWork | None:
    """Return the work of a library call; None for copies."""
    op, sizes = record["op"], record["sizes"]
    precision = "half" if record["dtype"] in ("bfloat16", "float16") else record["dtype"]
    make: dict[str, Callable[[str, int, Mapping[str, int], bool], KernelWork]] = {
        "mm": _product, "addmm": _product, "bmm": _product, "convolution": _convolution, "attention": _attention,
        "convolution_line": _line, "sort": _sort, "topk": _topk,
    }  # fmt: skip
    found = make.get(op.removesuffix("_backward"))
    work = found(precision, 2 if precision == "half" else 4, sizes, op.endswith("_backward")) if found else None
    return work and replace(work, biased=op == "addmm")


def _product(precision: str, itemsize: int, sizes: Mapping[str, int], backward: bool) -> KernelWork:
    m, n, k, batch = sizes["m"], sizes["n"], sizes["k"], sizes.get("batch", 1)
    leading = (m if sizes.get("left_t") else k, k if sizes.get("right_t") else n, n)
    shape = MatrixSizes(batch, m, n, k, all(length * itemsize % 16 == 0 for length in leading))
    read, written = itemsize * batch * (m * k + k * n), itemsize * batch * m * n
    turned = bool(sizes.get("left_t")) or not sizes.get("right_t", 1)
    return KernelWork("product", read, written, precision=precision, product=shape, turned=turned)


def _convolution(precision: str, itemsize: int, sizes: Mapping[str, int], backward: bool) -> KernelWork:
    kernel, side, out = sizes["kernel"], sizes["side"], sizes["out"]
    places = sizes["batch"] * ((side + 2 * (kernel // 2) - kernel) // sizes["stride"] + 1) ** 2
    channels = sizes["channels"] // sizes["groups"]
    k = channels * kernel**2
    whole = side**2 * itemsize % 16 == 0
    read, written = sizes["batch"] * sizes["channels"] * side**2 + k * out, places * out
    return KernelWork(
        "convolution",
        itemsize * (read + written * backward),
        itemsize * (read if backward else written),
        precision=precision,
        product=MatrixSizes(1, places, out, k, channels * itemsize % 16 == 0),
        backward=backward,
        turned=not sizes["channels_last"] and (kernel > 1 or not whole),
        grouped=sizes["groups"] > 1,
        taps=kernel**2,
    )


def _line(precision: str, itemsize: int, sizes: Mapping[str, int], backward: bool) -> KernelWork:
    """Return the work of a convolution of one dimension."""
    kernel, length, out, batch = sizes["kernel"], sizes["length"], sizes["out"], sizes["batch"]
    places = batch * (length + 2 * (kernel // 2) - kernel + 1)
    channels = sizes["channels"] // sizes["groups"]
    read, written = batch * sizes["channels"] * length + channels * kernel * out, places * out
    return KernelWork(
        "convolution",
        itemsize * (read + written * backward),
        itemsize * (read if backward else written),
        precision=precision,
        product=MatrixSizes(1, places, out, channels * kernel, channels * itemsize % 16 == 0),
        backward=backward,
        turned=True,
        grouped=sizes["groups"] > 1,
        taps=kernel,
    )


def _sort(precision: str, itemsize: int, sizes: Mapping[str, int], backward: bool) -> KernelWork:
    return sort_work("sort", sizes["rows"], sizes["columns"], 8 if precision == "int64" else itemsize)


def _topk(precision: str, itemsize: int, sizes: Mapping[str, int], backward: bool) -> KernelWork:
    return sort_work("topk", sizes["rows"], sizes["columns"], itemsize)


def _attention(precision: str, itemsize: int, sizes: Mapping[str, int], backward: bool) -> KernelWork:
    batch, queries, keys, width = sizes["batch"] * sizes["heads"], sizes["queries"], sizes["keys"], sizes["width"]
    shape, one = MatrixSizes(batch, queries, keys, width), itemsize * batch * width
    read = one * (queries + 2 * keys + 2 * queries * backward)
    written = one * (queries + 2 * keys * backward)
    return KernelWork("attention", read, written, precision=precision, product=shape, backward=backward)


def fit() -> dict[str, Any]:
    """Return the fit of each kind, in the form of `parameters.json`."""
    by_kind = rows_by_kind()
    made = {"loop": fit_kind(by_kind.pop("loop"), {})}
    made["indexed loop"] = fit_kind(by_kind.pop("indexed loop"), made["loop"]["parameters"])
    shared = made["indexed loop"]["parameters"]
    return {**made, **{key: fit_kind(by_kind[key], shared) for key in sorted(by_kind)}}


def rows_by_kind() -> dict[str, list[Row]]:
    """Return the measured kernels by the kind that has parameters of its own."""
    by_kind: dict[str, list[Row]] = {}
    for row in measured_rows():
        by_kind.setdefault(row.work.key, []).append(row)
    return by_kind


def fit_kind(rows: Sequence[Row], shared: Mapping[str, float]) -> dict[str, Any]:
    """Return one kind's parameters, intervals and sizes; `shared` are those of loops for all kinds."""
    start, fixed = _beginning(rows[0].work, shared)
    found = fitted(rows, start, fixed, MOST_ROUNDS)
    unseen = _unseen(rows, found, fixed)
    long = [each for each in unseen if each.seconds >= BRIEF_S]
    brief = [each for each in unseen if each.seconds < BRIEF_S]
    return {
        "parameters": {name: _rounded(value) for name, value in {**fixed, **found}.items()},
        "intervals": _intervals(long if len(long) >= ENOUGH else unseen),
        "brief": _interval(brief if len(brief) >= ENOUGH else unseen),
        "sizes": [min(row.work.size for row in rows), max(row.work.size for row in rows)],
    }


def _beginning(work: KernelWork, shared: Mapping[str, float]) -> tuple[dict[str, float], dict[str, float]]:
    """Return the parameters that the fit of a kind begins with, and those that it shares with other kinds."""
    used = (
        ()
        if work.kind in ("sort", "topk")
        else MEMORY
        if work.product
        else (*MEMORY, *INDEXED, "window_s")
        if work.kind != "loop"
        else shared
    )
    return STARTS.get(work.key) or STARTS[work.kind], {name: shared[name] for name in used if name in shared}


def families() -> Iterator[tuple[str, str, list[float]]]:
    """Yield kind, family and the errors of a fit of the kind without that family."""
    kinds = json.loads(PARAMETERS.read_text())["kinds"]
    for key, rows in sorted(rows_by_kind().items()):
        shared = {} if key == "loop" else kinds["loop" if key == "indexed loop" else "indexed loop"]["parameters"]
        start, fixed = _beginning(rows[0].work, shared)
        for family in sorted({row.family for row in rows}):
            seen = [row for row in rows if row.family != family]
            if len(seen) >= ENOUGH:
                parameters = {**fixed, **fitted(seen, start, fixed, MOST_ROUNDS)}
                yield key, family, [row.error(parameters) for row in rows if row.family == family]


def families_table() -> str:
    """Return the errors of each family of functions that a fit did not see, as Markdown."""
    lines = ["| kind | family left out | kernels | median error | within 1.5 |", "|---|---|---|---|---|"]
    for key, family, errors in families():
        sizes = [abs(error) for error in errors]
        within = sum(size <= math.log(1.5) for size in sizes) / len(sizes)
        lines.append(f"| {key} | {family} | {len(sizes)} | {math.expm1(statistics.median(sizes)):.0%} | {within:.0%} |")
    return "\n".join(lines)


def _unseen(rows: Sequence[Row], start: Mapping[str, float], fixed: Mapping[str, float]) -> list[Unseen]:
    """Return the errors of rows by fits that did not see their functions or models."""
    names = {name: index % FOLDS for index, name in enumerate(sorted({row.name for row in rows}))}
    made: list[Unseen] = []
    for fold in range(FOLDS):
        unseen = [row for row in rows if names[row.name] == fold]
        seen = [row for row in rows if names[row.name] != fold]
        if seen and unseen:
            parameters = {**fixed, **fitted(seen, start, fixed, FOLD_ROUNDS)}
            made += [Unseen.of(row, parameters) for row in unseen]
    return made


def _intervals(unseen: Sequence[Unseen]) -> list[list[float]]:
    """Return an interval for each range of bounds; one with few kernels counts with that below."""
    parts: list[tuple[float, list[Unseen]]] = []
    for least, most in itertools.pairwise(BOUNDS):
        part = [each for each in unseen if least <= each.bound < most]
        if (parts and len(part) < ENOUGH) or (parts and len(parts[-1][1]) < ENOUGH):
            parts[-1][1].extend(part)
        else:
            parts.append((least, part))
    if len(parts) > 1 and len(parts[0][1]) < ENOUGH:
        parts = [(0.0, parts[0][1] + parts[1][1]), *parts[2:]]
    return [[least, *_interval(part)] for least, part in parts]


def _interval(unseen: Sequence[Unseen]) -> list[float]:
    """Return the factors of the shortest interval with nine of ten kernels, by weight."""
    ordered = sorted((each.error, each.weight) for each in unseen)
    sums = [0.0, *itertools.accumulate(weight for _, weight in ordered)]
    wanted, last, best = NINE_OF_TEN * sums[-1], 0, (-math.inf, math.inf)
    for first, (low, _) in enumerate(ordered):
        while last < len(ordered) and sums[last] - sums[first] < wanted:
            last += 1
        if sums[last] - sums[first] < wanted:
            break
        if ordered[last - 1][0] - low < best[1] - best[0]:
            best = low, ordered[last - 1][0]
    low, high = math.exp(best[0]), math.exp(best[1])
    return [_rounded(min(low, 1 / LEAST_SIDE)), _rounded(max(high, LEAST_SIDE))]


def fit_host(rows: Sequence[HostRow]) -> tuple[dict[str, float], list[float]]:
    """Return the CPU's parameters, and the interval of models that a fit did not see."""
    host = fitted(rows, START, {}, ROUNDS)
    errors: list[float] = []
    for model in sorted({row.model for row in rows}):
        without = fitted([row for row in rows if row.model != model], host, {}, ROUNDS)
        errors += [row.error(without) for row in rows if row.model == model]
    low, high = _interval([Unseen(error, 1.0, 0.0, 1.0) for error in errors])
    factors = [_rounded(min(low, 1 / LEAST_FACTOR)), _rounded(max(high, LEAST_FACTOR))]
    return {name: _rounded(value) for name, value in host.items()}, factors


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def events_us(data: Mapping[str, Any]) -> float:
    """Return the µs by which events around a kernel exceed its own duration: the median of all."""
    records = (record for records in data["groups"].values() for record in records if "events_us" in record)
    return _rounded(statistics.median(record["events_us"] - record["cold_us"][1] for record in records))


def parameters() -> dict[str, Any]:
    """Return the content of `parameters.json`, fitted to the file of measurements."""
    data = read(FILE)
    driver = data["device"]["smi"].split(", ")[1]
    host, host_interval = fit_host([*host_rows(read_calls())])
    return {
        "target": TARGET.key,
        "torch": data["software"]["torch"],
        "triton": data["software"]["triton"],
        "driver": driver,
        "date": data["device"]["date"],
        "files": [*(path.name for path in FILES), MODELS.name, CALLS.name],
        "events_us": events_us(data),
        "host": {**host, **gaps(data), "eager_device": eager_device(read_calls())},
        "host_interval": host_interval,
        "kinds": fit(),
    }


def write() -> None:
    """Fit the parameters and write them to the repository."""
    PARAMETERS.write_text(json.dumps(parameters(), indent=1) + "\n")

"""Roofline of this machine: its maximum bandwidth and FLOP/s, for comparison with kernels.

Bandwidth is measured by STREAM's triad, a = b + s * c. Each array is four times the last-level cache
(STREAM's rule). On a CPU, arrays that fit each cache are measured, too. An accelerator needs no such arrays,
since its kernels are timed with a flushed cache. FLOP/s are measured by a square matmul in each dtype. As in
STREAM, the best sample counts: a ceiling is a rate that was reached once. The best rates of all runs are
stored. Later runs measure again until a measurement has no noise from other processes.
"""

import hashlib
import json
import os
import platform
import re
import resource
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import torch
from torch._inductor.runtime.cache_dir_utils import cache_dir

from core.analysis.interval import busy
from core.base.decoder import decoded_as
from core.base.files import read
from core.base.machine import LoadWatch
from core.report import Bandwidth, Roofline
from core.worker.environment import device_name, synchronize
from core.worker.record import emit

PROBE = 3
ROUNDS, ROUND_S = 4, 0.035
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
LEAST_MEMORY_BYTES, MOST_MEMORY_BYTES = 192_000_000, 4_000_000_000
# Three arrays, each four times the last-level cache.
TIMES_CACHE = 12
SLOW_S = 0.1
LARGEST_PRODUCT, LEAST_PRODUCT = {"cpu": 1024}, 128
HOW = "STREAM triad and square matmuls in torch, the best sample within a second"


@dataclass(slots=True)
class TimedWork:
    """Repeatable work: its bytes or FLOP per run, and the seconds of the fastest run."""

    run: Callable[[], Any]
    work: float
    best_s: float = float("inf")

    @property
    def rate(self) -> float:
        """Return the work per second."""
        return self.work / self.best_s


def emit_roofline(device: str) -> None:
    """Record the device's ceilings, the best ever measured here; record nothing if they can't be measured."""
    try:
        found = _best(device, _store(device))
    except (RuntimeError, OSError, ValueError):
        return
    emit(found)


def _store(device: str) -> Path:
    """Return the file with the ceilings of this machine, torch and number of threads."""
    what = [PROBE, platform.node(), device, device_name(device), torch.__version__, torch.get_num_threads()]
    key = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    # All runs share this file, also runs with their own caches.
    shared = os.environ.get("COMPILEBOARD_CACHE")
    return (Path(shared, "inductor") if shared else Path(cache_dir())) / "compileboard_roofline" / f"{key}.json"


def _best(device: str, path: Path) -> Roofline:
    """Return the stored ceilings, measured again if there are none or all were disturbed."""
    stored = decoded_as(read(path), Roofline) if path.exists() else None
    if stored is not None and not stored.disturbed:
        return stored
    watch = LoadWatch()
    found = probe(device)
    found = raised(replace(found, disturbed=busy(watch.load())), stored)
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(asdict(found)))
    fresh.replace(path)
    return found


def raised(measured: Roofline, stored: Roofline | None) -> Roofline:
    """Return the new ceilings, each at least as high as the stored one; disturbed if both were."""
    if stored is None:
        return measured
    before = {(level.level, level.bytes): level.bytes_s for level in stored.bandwidths}
    return replace(
        measured,
        bandwidths=tuple(
            replace(level, bytes_s=max(level.bytes_s, before.get((level.level, level.bytes), 0.0)))
            for level in measured.bandwidths
        ),
        flops_s={dtype: max(rate, stored.flops_s.get(dtype, 0.0)) for dtype, rate in measured.flops_s.items()},
        disturbed=measured.disturbed and stored.disturbed,
    )


def probe(device: str) -> Roofline:
    """Measure the ceilings by interleaved probes, in about a second."""
    caches = _cpu_caches() if device == "cpu" else []
    far_bytes, far_level = far_arrays(max((size for _, size in caches), default=0), _free_bytes())
    triads = [_triad(device, size) for size in (*(size // 2 for _, size in caches), far_bytes)]
    products = {name: product(device, dtype, precision=precision) for name, dtype, precision in _products(device)}
    for found in (*triads, *products.values()):
        found.run()
    for _ in range(ROUNDS):
        for found in (*triads, *products.values()):
            _time(found, device, ROUND_S)
    for nearer, farther in reversed(list(pairwise(triads))):
        nearer.best_s = min(nearer.best_s, nearer.work / farther.rate)
    levels: list[tuple[str, int | None]] = [*caches, (far_level, None)]
    return Roofline(
        device=device_name(device),
        threads=torch.get_num_threads() if device == "cpu" else None,
        bandwidths=tuple(
            Bandwidth(level, size, triad.rate) for (level, size), triad in zip(levels, triads, strict=True)
        ),
        flops_s={name: found.rate for name, found in products.items()},
        measured_s=time.time(),
        how=HOW,
    )


def far_arrays(cache_bytes: int, free_bytes: int) -> tuple[int, str]:
    """Return the total bytes of three arrays that exceed the caches, and the name of their bandwidth.

    If memory is short, the arrays are smaller, and the name says that a part of them is in the last cache.
    """
    wanted = max(LEAST_MEMORY_BYTES, TIMES_CACHE * cache_bytes)
    most = min(MOST_MEMORY_BYTES, max(LEAST_MEMORY_BYTES, free_bytes // 4))
    return (wanted, "memory") if wanted <= most else (most, "memory, in part the last cache")


def _free_bytes() -> int:
    """Return the free memory of the machine, within the run's limit."""
    free = psutil.virtual_memory().available
    limit = resource.getrlimit(resource.RLIMIT_DATA)[0]
    return free if limit == resource.RLIM_INFINITY else min(free, limit - psutil.Process().memory_info().rss)


def _cpu_caches() -> list[tuple[str, int]]:
    """Return the name and total bytes of each cache from L2 up by Linux's sysfs, for torch's cores."""
    found = []
    for index in sorted(CACHES.glob("index*")):
        level = int((index / "level").read_text())
        size = re.fullmatch(r"(\d+)K", (index / "size").read_text().strip())
        if level >= 2 and size:
            shared = len(_cpus((index / "shared_cpu_list").read_text().strip()))
            copies = max(1, torch.get_num_threads() // max(1, shared))
            found.append((f"L{level} cache", int(size.group(1)) * 1024 * copies))
    return found


def _cpus(text: str) -> list[int]:
    """Return the CPU numbers in a list such as `0-3,8`."""
    ranges = [part.partition("-") for part in text.split(",")]
    return [number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)]


def _triad(device: str, total_bytes: int) -> TimedWork:
    """Return the triad a = b + 3 c, which reads two arrays and writes one, `total_bytes` in all."""
    items = max(1024, total_bytes // 12)
    b, c = (torch.ones(items, device=device) for _ in range(2))
    a = torch.empty_like(b)
    return TimedWork(lambda: torch.add(b, c, alpha=3.0, out=a), 12 * items)


def product(device: str, dtype: torch.dtype, slow_s: float = SLOW_S, precision: str = "highest") -> TimedWork:
    """Return the largest square matmul below `slow_s` seconds, at a float32 precision of its own."""
    size = LARGEST_PRODUCT.get(device, 8192)
    while True:
        a, b = (torch.full((size, size), 0.5, device=device, dtype=dtype) for _ in range(2))
        found = _mm(a, b, precision)
        found.run()
        if size <= LEAST_PRODUCT or _time(found, device, 0.0) < slow_s:
            return found
        size //= 2


def _mm(a: torch.Tensor, b: torch.Tensor, precision: str) -> TimedWork:
    out = torch.empty_like(a)

    def run() -> None:
        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision(precision)
        try:
            torch.mm(a, b, out=out)
        finally:
            torch.set_float32_matmul_precision(before)

    return TimedWork(run, 2 * len(a) ** 3)


def _products(device: str) -> list[tuple[str, torch.dtype, str]]:
    """Return the measured matmuls of a device: name of the peak, dtype, and float32 matmul precision.

    A CPU has float32, and bfloat16 if oneDNN supports it. An accelerator has float32, bfloat16 and float16;
    CUDA also has tfloat32 if the GPU supports it.
    """
    float32, bfloat16 = ("float32", torch.float32, "highest"), ("bfloat16", torch.bfloat16, "highest")
    if device == "cpu":
        return [float32, *([bfloat16] if torch.ops.mkldnn._is_mkldnn_bf16_supported() else [])]
    has_tf32 = device.startswith("cuda") and torch.cuda.is_tf32_supported()
    tfloat32 = [("tfloat32", torch.float32, "high")] if has_tf32 else []
    return [float32, *tfloat32, bfloat16, ("float16", torch.float16, "highest")]


def _time(work: TimedWork, device: str, budget_s: float) -> float:
    """Run the work within a budget, at least once; return the fastest seconds of this and earlier calls."""
    clock = _seconds if device == "cpu" else _event_seconds
    end = time.perf_counter() + budget_s
    work.best_s = min(work.best_s, clock(work.run, device))
    while time.perf_counter() < end:
        work.best_s = min(work.best_s, clock(work.run, device))
    return work.best_s


def _seconds(run: Callable[[], Any], device: str) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _event_seconds(run: Callable[[], Any], device: str) -> float:
    """Return the seconds per run between two events around a few runs, so that the launch does not count."""
    module = getattr(torch, device.partition(":")[0])
    begin, end = (module.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(3):
        run()
    end.record()
    synchronize(device)
    return float(begin.elapsed_time(end)) / 3e3

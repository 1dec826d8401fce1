"""What this machine's memory and arithmetic can do at most, measured once: the ceilings that kernels are held against.

Bandwidth by STREAM's triad, a = b + s * c, over arrays larger than every cache, and on a CPU again over arrays that fit each
cache (an accelerator's kernels are timed with its cache flushed); FLOP/s by a square matrix product in each dtype. The best
sample counts, as in STREAM: a ceiling is what was reached once.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import torch
from torch._inductor.runtime.cache_dir_utils import cache_dir

from core.worker.environment import device_name
from core.worker.measure import synchronize
from core.worker.record import emit

PROBE = 1
ROUNDS, ROUND_S = 4, 0.035
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
LEAST_MEMORY_BYTES, MOST_MEMORY_BYTES = 192_000_000, 512_000_000
SLOW_S = 0.1
# Of the CPU time that torch's threads could have had: less, and other processes took it.
UNDISTURBED = 0.9
LARGEST_PRODUCT = {"cpu": 1024}
HOW = "STREAM triad and square matrix products by torch, best sample of a second"


@dataclass(slots=True)
class Probe:
    """Something that is run again and again: the work of one run in bytes or FLOP, and the seconds of the fastest."""

    run: Callable[[], Any]
    work: float
    best_s: float = float("inf")

    @property
    def rate(self) -> float:
        """Work a second."""
        return self.work / self.best_s


def emit_roofline(device: str) -> None:
    """Record the device's ceilings, from the cache if they were measured here before; nothing if they cannot be."""
    try:
        found = _stored(device)
    except (RuntimeError, OSError, ValueError):
        return
    emit(
        "roofline",
        device=found["device"],
        threads=found["threads"],
        bandwidths=found["bandwidths"],
        flops_s=found["flops_s"],
        measured_s=found["measured_s"],
        how=found["how"],
    )


def _stored(device: str) -> dict[str, Any]:
    """The ceilings of this machine, torch and number of threads, measured if they are not in the cache."""
    what = [PROBE, platform.node(), device, device_name(device), torch.__version__, torch.get_num_threads()]
    key = hashlib.sha256(json.dumps(what).encode()).hexdigest()[:16]
    path = Path(cache_dir()) / "compileboard_roofline" / f"{key}.json"
    if path.exists():
        stored: dict[str, Any] = json.loads(path.read_bytes())
        return stored
    start_s, start_cpu_s = time.perf_counter(), time.process_time()
    found = probe(device)
    share = (time.process_time() - start_cpu_s) / ((time.perf_counter() - start_s) * (found["threads"] or 1))
    if share < UNDISTURBED:
        return {**found, "how": f"{HOW}; the machine was busy, so they are measured again by the next run"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found))
    return found


def probe(device: str) -> dict[str, Any]:
    """Measure the ceilings; takes about a second. All probes take turns, so that a busy moment spoils none of them."""
    caches = _cpu_caches() if device == "cpu" else []
    largest = max((size for _, size in caches), default=MOST_MEMORY_BYTES)
    far = min(MOST_MEMORY_BYTES, max(LEAST_MEMORY_BYTES, 4 * largest))
    triads = [_triad(device, size) for size in (*(size // 2 for _, size in caches), far)]
    products = {dtype: _product(device, dtype) for dtype in _dtypes(device)}
    for found in (*triads, *products.values()):
        found.run()
    products = {dtype: found for dtype, found in products.items() if _time(found, device, 0.0) < SLOW_S}
    for _ in range(ROUNDS):
        for found in (*triads, *products.values()):
            _time(found, device, ROUND_S)
    for nearer, farther in reversed(list(pairwise(triads))):
        nearer.best_s = min(nearer.best_s, nearer.work / farther.rate)
    levels: list[tuple[str, int | None]] = [*caches, ("memory", None)]
    return {
        "device": device_name(device),
        "threads": torch.get_num_threads() if device == "cpu" else None,
        "bandwidths": [
            {"level": level, "bytes": size, "bytes_s": triad.rate}
            for (level, size), triad in zip(levels, triads, strict=True)
        ],
        "flops_s": {str(dtype).removeprefix("torch."): found.rate for dtype, found in products.items()},
        "measured_s": time.time(),
        "how": HOW,
    }


def _cpu_caches() -> list[tuple[str, int]]:
    """L2 of all the cores that torch uses together, and the last level, as Linux names them; empty elsewhere."""
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
    """`0-3,8` as numbers."""
    ranges = [part.partition("-") for part in text.split(",")]
    return [number for first, _, last in ranges for number in range(int(first), int(last or first) + 1)]


def _triad(device: str, total_bytes: int) -> Probe:
    """a = b + 3 c, which reads two arrays and writes one, `total_bytes` together."""
    items = max(1024, total_bytes // 12)
    b, c = (torch.ones(items, device=device) for _ in range(2))
    a = torch.empty_like(b)
    return Probe(lambda: torch.add(b, c, alpha=3.0, out=a), 12 * items)


def _product(device: str, dtype: torch.dtype) -> Probe:
    size = LARGEST_PRODUCT.get(device, 8192)
    a, b = (torch.full((size, size), 0.5, device=device, dtype=dtype) for _ in range(2))
    out = torch.empty_like(a)
    return Probe(lambda: torch.mm(a, b, out=out), 2 * size**3)


def _dtypes(device: str) -> list[torch.dtype]:
    """On an accelerator the precisions that it has matrix units for, too; on a CPU bfloat16 if oneDNN computes it."""
    if device != "cpu":
        return [torch.float32, torch.bfloat16, torch.float16]
    return [torch.float32, *([torch.bfloat16] if torch.ops.mkldnn._is_mkldnn_bf16_supported() else [])]


def _time(found: Probe, device: str, budget_s: float) -> float:
    """Run it within a budget, once at least; returns the seconds of the fastest run so far."""
    clock = _seconds if device == "cpu" else _event_seconds
    end = time.perf_counter() + budget_s
    found.best_s = min(found.best_s, clock(found.run, device))
    while time.perf_counter() < end:
        found.best_s = min(found.best_s, clock(found.run, device))
    return found.best_s


def _seconds(run: Callable[[], Any], device: str) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _event_seconds(run: Callable[[], Any], device: str) -> float:
    """Between two events with a few runs in between, so that the launch does not count."""
    module = getattr(torch, device.partition(":")[0])
    begin, end = (module.Event(enable_timing=True) for _ in range(2))
    begin.record()
    for _ in range(3):
        run()
    end.record()
    synchronize(device)
    return float(begin.elapsed_time(end)) / 3e3

"""Device time of calls by CUPTI, and the versions that have a part in it.

Each call runs between markers, small fills of a dtype that no call uses, so that its kernels are recognised in
the profile. `warm` runs follow each other, so that a call's data is in the L2 cache if it fits. Before each `cold`
run, a fill of `FLUSHED_BYTES` replaces the cache's content.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import itertools
import json
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from benchmarks.devices.state import smi

FLUSHED_BYTES = 256 * 2**20
WARM, COLD, BY_EVENTS = 32, 30, 9  # runs of a call
DROPPED = 2  # first runs that do not count
MARKER = "FillFunctor<short>"


def times(calls: Sequence[Callable[[], Any]]) -> list[dict[str, Any]]:
    """Return the device times of calls in µs; raises RuntimeError if the profile has other runs."""
    device = "cuda"
    small = torch.zeros(64, dtype=torch.int16, device=device)
    flushed = torch.zeros(FLUSHED_BYTES // 2, dtype=torch.int16, device=device)
    for call in calls:
        for _ in range(3):
            call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for call in calls:
            for index in range(WARM + COLD):
                (small if index < WARM else flushed).fill_(1)
                call()
        torch.cuda.synchronize()
    runs = _runs(_events(profile))
    if len(runs) != len(calls) * (WARM + COLD):
        raise RuntimeError(f"{len(runs)} runs in the profile, not {len(calls) * (WARM + COLD)}")
    each = [runs[start : start + WARM + COLD] for start in range(0, len(runs), WARM + COLD)]
    by_events = [_by_events(call, flushed) for call in calls]
    return [{**_summary(run), "events_us": event} for run, event in zip(each, by_events, strict=True)]


def _events(profile: Any) -> list[dict[str, Any]]:
    """Return the device's events of a profile, in the order in which they began."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        profile.export_chrome_trace(str(path))
        trace = json.loads(path.read_text(errors="replace"))
    wanted = ("kernel", "gpu_memcpy", "gpu_memset")
    return sorted(
        (event for event in trace["traceEvents"] if event.get("cat") in wanted), key=lambda event: event["ts"]
    )


def _runs(events: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return the events after each marker."""
    runs: list[list[dict[str, Any]]] = []
    for event in events:
        if MARKER in event["name"]:
            runs.append([])
        elif runs:
            runs[-1].append(event)
    return runs


def _summary(runs: Sequence[Sequence[dict[str, Any]]]) -> dict[str, Any]:
    warm, cold = runs[DROPPED:WARM], runs[WARM + DROPPED :]
    made: dict[str, Any] = {"warm_us": _quartiles(warm), "cold_us": _quartiles(cold)}
    if len({len(run) for run in runs}) == 1 and runs[0]:
        made["kernels"] = [_kernel(index, warm, cold) for index in range(len(runs[0]))]
        made["span_us"] = _round(statistics.median(run[-1]["ts"] + run[-1]["dur"] - run[0]["ts"] for run in warm))
    else:
        made["kernels"] = []
        made["lengths"] = sorted({len(run) for run in runs})
    return made


def _quartiles(runs: Sequence[Sequence[dict[str, Any]]]) -> list[float]:
    """Return the quartiles of the runs' sums of durations."""
    sums = [sum(event["dur"] for event in run) for run in runs]
    return [_round(value) for value in statistics.quantiles(sums, n=4)]


def _kernel(index: int, warm: Sequence[Any], cold: Sequence[Any]) -> dict[str, Any]:
    event = warm[0][index]
    facts = event.get("args", {})
    return {
        "name": event["name"][:96],
        "warm_us": _round(statistics.median(run[index]["dur"] for run in warm)),
        "cold_us": _round(statistics.median(run[index]["dur"] for run in cold)),
        "grid": facts.get("grid"),
        "block": facts.get("block"),
        "registers": facts.get("registers per thread"),
        "shared": facts.get("shared memory"),
        "occupancy_percent": facts.get("est. achieved occupancy %"),
        "bytes": facts.get("bytes"),
    }


def _by_events(call: Callable[[], Any], flushed: Any) -> float:
    """Return the median by device events around a call, after a flush, as Inductor's benchmarker does."""
    pairs = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(BY_EVENTS)]
    for begin, end in pairs:
        flushed.fill_(1)
        begin.record()
        call()
        end.record()
    torch.cuda.synchronize()
    return _round(statistics.median(begin.elapsed_time(end) * 1e3 for begin, end in pairs))


def launches(call: Callable[[], Any], repeats: int = 100) -> dict[str, float]:
    """Return microseconds of a call that launches small kernels: wall, CPU, and the device's gaps.

    `wall_us` is for calls one after another, `cpu_us` the CPU time of this thread for one of them; `gap_us` is the
    median time between two kernels, `device_us` the sum of the kernels.
    """
    for _ in range(10):
        call()
    torch.cuda.synchronize()
    start, cpu = time.perf_counter(), time.thread_time()
    for _ in range(repeats):
        call()
    spent = time.thread_time() - cpu
    torch.cuda.synchronize()
    wall = time.perf_counter() - start
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(10):
            call()
        torch.cuda.synchronize()
    events = _events(profile)
    gaps = [after["ts"] - before["ts"] - before["dur"] for before, after in itertools.pairwise(events)]
    return {
        "wall_us": _round(wall / repeats * 1e6),
        "cpu_us": _round(spent / repeats * 1e6),
        "kernels": len(events) / 10,
        "device_us": _round(sum(event["dur"] for event in events) / 10),
        "gap_us": _round(statistics.median(gaps)) if gaps else 0.0,
        "small_us": _round(statistics.median(event["dur"] for event in events)) if events else 0.0,
    }


def _round(value: float) -> float:
    return round(float(value), 3)


def software() -> dict[str, str]:
    """Return the versions of everything that has a part in the times."""
    made = {"python": platform.python_version(), "host": f"{platform.machine()} {platform.release()}"}
    made["torch"] = str(torch.__version__)
    for name in ("triton", "nvidia-cublas", "nvidia-cublas-cu12", "nvidia-cudnn-cu13", "nvidia-cudnn-cu12"):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            made[name] = importlib.metadata.version(name)
    if torch.cuda.is_available():
        made["cuda"] = str(torch.version.cuda)
        made["cudnn"] = str(torch.backends.cudnn.version())
    return made


def device_facts() -> dict[str, Any]:
    """Return the device's name, limits and driver."""
    properties = torch.cuda.get_device_properties(0)
    asked = "name,driver_version,clocks.max.sm,clocks.max.mem,power.limit,persistence_mode,vbios_version"
    return {
        "name": properties.name,
        "multiprocessors": properties.multi_processor_count,
        "l2_bytes": properties.L2_cache_size,
        "memory_bytes": properties.total_memory,
        "smi": smi(asked),
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
    }

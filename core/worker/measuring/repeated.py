"""A kernel call repeated by itself on copies of its live arguments: what it writes in place stays as it was."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch._inductor.runtime.benchmarking import benchmarker
from torch.utils._pytree import tree_leaves

from core.report.records.measured import TimedKernel
from core.worker.measuring.copies import Copies

SAMPLE_S = 0.0005
# Calls between two restorations of what a kernel writes in place: after a hundred halvings numbers would be denormal
# and slow.
MOST_SAMPLES, MOST_CALLS = 60, 32
MAX_REASON_CHARS = 400
CPU_METHOD = "repeated on copies of its arguments, caches warm"
GPU_METHOD = "Inductor's benchmarker on copies of its arguments, L2 cache flushed before each run"

NO_TIME = "the time to measure kernels went to those that take longer"
Call = Callable[[], Any]


@dataclass(slots=True)
class KernelTiming:
    """A wrapper line that calls a kernel; `in_place_s` is for all its `calls` in one call of the model."""

    name: str
    line: int
    calls: int = 0
    in_place_s: list[float] = field(default_factory=list)
    samples_s: list[float] = field(default_factory=list)
    calls_per_sample: int = 0
    method: str = ""
    reason: str = ""

    def said(self) -> TimedKernel:
        """Return the record of the times."""
        return TimedKernel(
            name=self.name,
            line=self.line,
            calls=self.calls,
            in_place_s=tuple(self.in_place_s),
            samples_s=tuple(self.samples_s),
            calls_per_sample=self.calls_per_sample,
            method=self.method,
            reason=self.reason,
        )


def repeat(timed: KernelTiming, share_s: float, function: Callable[..., Any], args: Any, kwargs: Any) -> None:
    """Time a kernel by itself on copies of its arguments."""
    if share_s <= 0:
        timed.reason = NO_TIME
        return
    try:
        copies = Copies((args, kwargs))
        copied_args, copied_kwargs = copies.values
        device = next((leaf.device.type for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)), "cpu")
        run = _bound(function, copied_args, copied_kwargs)
        found = _on_cpu(run, copies, share_s) if device == "cpu" else _on_gpu(run, share_s)
        timed.samples_s, timed.calls_per_sample = found
        timed.method = CPU_METHOD if device == "cpu" else GPU_METHOD
    except Exception as error:
        timed.reason = error_words(error)


def _bound(function: Callable[..., Any], args: Any, kwargs: Any) -> Call:
    return lambda: function(*args, **kwargs)


def _on_cpu(run: Call, copies: Copies, share_s: float) -> tuple[list[float], int]:
    """Samples until the time is up; a kernel that takes most of it is timed once, since its first run is warm
    enough.
    """
    end = time.perf_counter() + share_s
    first_s = _sample(run, 1)
    if 2 * first_s > share_s:
        return [first_s], 1
    copies.note_changes()
    calls = max(1, min(MOST_CALLS, round(SAMPLE_S / max(_sample(run, 1), 1e-7))))
    samples: list[float] = []
    while not samples or (len(samples) < MOST_SAMPLES and time.perf_counter() < end):
        copies.restore()
        samples.append(_sample(run, calls))
    return samples, calls


def _sample(run: Call, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        run()
    return (time.perf_counter() - start) / calls


def _on_gpu(run: Call, share_s: float) -> tuple[list[float], int]:
    duration_ms = max(1, min(25, int(share_s * 500)))
    found: Any = benchmarker.benchmark_gpu(
        run, memory_warmup_iters=10, max_benchmark_duration=duration_ms, return_mode="all", is_vetted_benchmarking=True
    )
    return [milliseconds / 1e3 for milliseconds in found], 1


def error_words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]

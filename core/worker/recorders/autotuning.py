"""Autotuning results, which torch's trace lacks: the configs of a kernel, the kernels for an op."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from torch._inductor.runtime.triton_heuristics import CachingAutotuner
from torch._inductor.select_algorithm import AlgorithmSelectorCache

from core.report import Autotuning, Choice
from core.report.records import Emit

MAX_CHOICES = 500
MAX_NAME_CHARS = 400


@contextmanager
def watching_autotuning(emit: Emit) -> Iterator[None]:
    """Record each autotuning round at Inductor's two benchmarking functions."""
    configs, results = CachingAutotuner.benchmark_all_configs, AlgorithmSelectorCache.log_results

    def benchmark_all_configs(self: Any, *args: Any, **kwargs: Any) -> Any:
        timings = configs(self, *args, **kwargs)
        name = str(self.inductor_meta.get("kernel_name") or self.fn.__name__)
        choices = _choices({str(choice.config): time_ms for choice, time_ms in timings.items()})
        emit(Autotuning(name=name, kind="configs", choices=choices))
        return timings

    def log_results(name: str, inputs: Any, timings: Any, *args: Any, **kwargs: Any) -> Any:
        choices = _choices({str(choice.name): time_ms for choice, time_ms in timings.items()})
        emit(Autotuning(name=name, kind="choices", choices=choices))
        return results(name, inputs, timings, *args, **kwargs)

    CachingAutotuner.benchmark_all_configs = benchmark_all_configs
    AlgorithmSelectorCache.log_results = staticmethod(log_results)
    try:
        yield
    finally:
        CachingAutotuner.benchmark_all_configs = configs
        AlgorithmSelectorCache.log_results = staticmethod(results)


def _choices(times_ms: dict[str, float]) -> tuple[Choice, ...]:
    """Return the choices, fastest first; Inductor takes the first. A choice without a time failed."""
    ordered = sorted(times_ms.items(), key=lambda entry: entry[1])[:MAX_CHOICES]
    return tuple(
        Choice(
            name=name[:MAX_NAME_CHARS],
            time_s=time_ms / 1e3 if math.isfinite(time_ms) else None,
            chosen=index == 0 and math.isfinite(time_ms),
        )
        for index, (name, time_ms) in enumerate(ordered)
    )

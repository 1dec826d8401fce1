"""Clocks for spans of work on a device, several at once and nested: a CPU's by the wall, an accelerator's by its own
events.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

from core.worker.measuring.stopwatches import synchronize

WAIT_CYCLES = 20_000_000


class CpuClock:
    """Seconds of spans by key, summed until they are read."""

    def __init__(self) -> None:
        self._spans: dict[Any, float] = {}

    def timed(self, key: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        start = time.perf_counter()
        result = function(*args, **kwargs)
        self._spans[key] = self._spans.get(key, 0.0) + time.perf_counter() - start
        return result

    def fill(self) -> None:
        """Nothing runs ahead on a CPU."""

    def read(self) -> dict[Any, float]:
        """The sums since the last reading."""
        spans, self._spans = self._spans, {}
        return spans


class GpuClock:
    """Clock with the CPU clock's interface, using the device's own events."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._module = getattr(torch, device.partition(":")[0])
        self._events: list[tuple[Any, Any, Any]] = []

    def timed(self, key: Any, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        begin, end = (self._module.Event(enable_timing=True) for _ in range(2))
        begin.record()
        result = function(*args, **kwargs)
        end.record()
        self._events.append((key, begin, end))
        return result

    def fill(self) -> None:
        """Let the device wait, so that launches run ahead of it and a span holds no time in which it had nothing to
        do.
        """
        if hasattr(self._module, "_sleep"):
            self._module._sleep(WAIT_CYCLES)

    def read(self) -> dict[Any, float]:
        """The sums since the last reading."""
        synchronize(self._device)
        spans: dict[Any, float] = {}
        for key, begin, end in self._events:
            spans[key] = spans.get(key, 0.0) + begin.elapsed_time(end) / 1e3
        self._events = []
        return spans


def clock_of(device: str) -> CpuClock | GpuClock:
    """The clock that is right for a device."""
    return CpuClock() if device == "cpu" else GpuClock(device)

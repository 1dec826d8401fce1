"""Clocks for a repeated call: wall clock, and a GPU's events with a flushed L2 cache.

The second works like `triton.testing.do_bench`, so that both can be compared: before each call, a buffer larger than
any L2 cache is zeroed, and events on the stream are recorded right before and after the call. While the device flushes,
launches run ahead of it; launch time beyond that, and gaps between kernels, are part of the result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

# The same as in triton.testing.do_bench.
FLUSHED_BYTES = 256 * 2**20
WITH_EVENTS = ("cuda", "xpu")
WALL = "the wall clock"
EVENTS = "the device's own events, the L2 cache flushed before each call"
EVENTS_ALONE = "the device's own events, with no room for a flush of the L2 cache"

Clock = Callable[[], float]


class WallClock:
    """Clock from an idle device until it has finished all calls."""

    name = WALL

    def __init__(self, device: str, clock: Clock = time.perf_counter) -> None:
        self._device = device
        self._clock = clock

    def seconds(self, call: Callable[[], Any], calls: int) -> float:
        """Return seconds per call."""
        synchronize(self._device)
        start = self._clock()
        for _ in range(calls):
            call()
        synchronize(self._device)
        return (self._clock() - start) / calls


class EventClock:
    """Clock of two events on the call's stream."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._module = getattr(torch, device.partition(":")[0])
        self._flushed = _buffer(device)
        self.name = EVENTS if self._flushed is not None else EVENTS_ALONE

    def seconds(self, call: Callable[[], Any], calls: int) -> float:
        """Return seconds per call."""
        stream = self._module.current_stream(self._device)
        events = [[self._module.Event(enable_timing=True) for _ in range(2)] for _ in range(calls)]
        synchronize(self._device)
        for begin, end in events:
            if self._flushed is not None:
                self._flushed.zero_()
            begin.record(stream)
            call()
            end.record(stream)
        synchronize(self._device)
        return sum(float(begin.elapsed_time(end)) for begin, end in events) / calls / 1e3


def event_clock(device: str) -> EventClock | None:
    """Return the device's event clock; None if the wall clock is the right one."""
    return EventClock(device) if device.partition(":")[0] in WITH_EVENTS else None


def _buffer(device: str) -> torch.Tensor | None:
    """Return the buffer written to flush the cache; None if the model has left no memory for it."""
    try:
        return torch.empty(FLUSHED_BYTES, dtype=torch.int8, device=device)
    except torch.OutOfMemoryError:
        return None


def synchronize(device: str) -> None:
    """Wait until an accelerator has finished all its work."""
    kind = device.partition(":")[0]
    if kind in WITH_EVENTS:
        getattr(torch, kind).synchronize(device)
    elif kind != "cpu":
        getattr(torch, kind).synchronize()

"""Seconds of a call that is made several times: by the wall clock, and by a GPU's own events with its L2 cache flushed.

The second is how `triton.testing.do_bench` times, so that both can be held against each other: a buffer larger than any
L2 cache is set to zero before each call, and events on the stream stand right before and after it. While the device
flushes, launches run ahead of it; what they cost beyond that, and gaps between kernels, are in the span.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import torch

# As triton.testing.do_bench has it.
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
        """Seconds per call."""
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
        """Seconds per call."""
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
    """The device's own clock; None where the wall clock is the right one."""
    return EventClock(device) if device.partition(":")[0] in WITH_EVENTS else None


def _buffer(device: str) -> torch.Tensor | None:
    """Return the buffer written to flush the cache; None if the model has left no memory for it."""
    try:
        return torch.empty(FLUSHED_BYTES, dtype=torch.int8, device=device)
    except torch.OutOfMemoryError:
        return None


def synchronize(device: str) -> None:
    """Wait for an accelerator to finish what it was given."""
    kind = device.partition(":")[0]
    if kind in WITH_EVENTS:
        getattr(torch, kind).synchronize(device)
    elif kind != "cpu":
        getattr(torch, kind).synchronize()

"""Interleaved timing of several calls: each round times all of them in random order.

It ends when the ratios are known well enough or the time is up.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch

from core.analysis.interval import median_ratio
from core.base.load import LoadWatch
from core.report import SideTimes
from core.worker.calls import PreparedCall
from core.worker.measuring.pairs import (
    CACHED_S,
    LEAST_S,
    LIMIT,
    LIMIT_S,
    NARROW_ENOUGH,
    SAMPLE_S,
    SLOW_LIMIT_S,
    is_narrow,
    unsettled,
)
from core.worker.measuring.stopwatches import Clock, WallClock

FIRST = "eager"
TRIED = 3


@dataclass(frozen=True, slots=True)
class SampledSide:
    """A timed side: a function that returns seconds per call, and the context around its calls."""

    seconds: Callable[[int], float]
    around: Callable[[], AbstractContextManager[Any]] = nullcontext


def prepared_side(call: PreparedCall, wall: WallClock) -> SampledSide:
    """Return the side of a prepared call."""
    return SampledSide(lambda calls: wall.seconds(call, calls), call.ready)


def time_sides(
    sides: Mapping[str, SampledSide], most_s: float, clocks: str, clock: Clock = time.perf_counter
) -> SideTimes:
    """Time all sides, including `eager`; ends before a round that is expected to exceed `most_s`."""
    call_s = min(_call_seconds(side) for side in sides.values())
    calls = max(1, round(SAMPLE_S / max(call_s, 1e-7)))
    samples: dict[str, list[float]] = {name: [] for name in sides}
    order, rng, watch = list(sides), random.Random(0), LoadWatch()
    start, stopped, spent_s = clock(), "", 0.0
    while not stopped:
        rng.shuffle(order)
        for name in order:
            with sides[name].around():
                if call_s <= CACHED_S:
                    sides[name].seconds(1)
                samples[name].append(sides[name].seconds(calls))
        spent_s = clock() - start
        stopped = _stopped(samples, spent_s, most_s)
    return SideTimes(
        sides={name: tuple(seconds) for name, seconds in samples.items()},
        warm_up=unsettled(*samples.values()),
        calls_per_sample=calls,
        stopped=stopped,
        spent_s=spent_s,
        load=watch.load(),
        threads=torch.get_num_threads(),
        clock=clocks,
    )


def _call_seconds(side: SampledSide) -> float:
    """Return the median seconds of a few calls."""
    with side.around():
        return statistics.median(side.seconds(1) for _ in range(TRIED))


def _stopped(samples: Mapping[str, list[float]], spent_s: float, most_s: float) -> str:
    """Return why sampling can stop; empty if it must continue."""
    warm_up = unsettled(*samples.values())
    first = samples[FIRST][warm_up:]
    ratios = [median_ratio(first, seconds[warm_up:]) for name, seconds in samples.items() if name != FIRST]
    intervals = [ratio for ratio in ratios if ratio is not None]
    all_known = len(intervals) == len(ratios)
    if all_known and all(map(is_narrow, intervals)) and spent_s >= LEAST_S:
        return NARROW_ENOUGH
    round_s = spent_s / len(samples[FIRST])
    return LIMIT if spent_s + round_s > min(most_s, LIMIT_S if all_known else SLOW_LIMIT_S) else ""

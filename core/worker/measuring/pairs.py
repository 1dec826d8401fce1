"""Interleaved timing of calls in random order, until the ratios are known or time is up.

Random order keeps the comparison fair despite noise: each call of a pair is equally likely to run first. More
than two calls are timed in rounds, each round in random order. A sample of a short call begins with an
untimed call, so that the caches contain this side's data and not the other side's.

On a GPU, device events around each call are the clock, and the L2 cache is flushed before each call. Each
such sample is paired with a wall-clock sample of as many back-to-back calls, launches included.

An alternative configuration is timed in the run's own process: two processes may differ by more than it gains.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import msgspec
import torch

from core.analysis.interval import Interval, median_ratio
from core.base.machine import LoadWatch
from core.job import CompileJob, CompileOptions
from core.report import Alternative, Call, Load, SideTimes
from core.worker.backends.selection import compiled_by
from core.worker.calls import PreparedCall, make_calls
from core.worker.load import ModelCopy
from core.worker.measuring.instruments import Clock, WallClock, event_clock
from core.worker.record import silence, unrecorded

SAMPLE_S = 0.005
LEAST_S, LIMIT_S = 1.5, 10.0
# Limit for calls so slow that there are too few pairs by then.
SLOW_LIMIT_S = 30.0
FEW, SLOW_S = 4, 0.2
# A call up to this long gets an untimed call before it; in a longer one, cache contents matter little.
CACHED_S = 0.1
NARROW, RELATIVELY_NARROW = 0.01, 0.05
NARROW_ENOUGH, LIMIT = "narrow enough", "limit"
TimedCall = Callable[[], Any]
MAX_REASON_CHARS = 2_000  #: the reason why an alternative was not timed
REFUSED = "its stance refused the last call"
FIRST = "eager"
TRIED = 3


@dataclass(frozen=True, slots=True)
class TimedSide:
    """A timed call, and the context around it, which is not timed."""

    call: TimedCall
    around: Callable[[], AbstractContextManager[Any]] = nullcontext


@dataclass(frozen=True, slots=True)
class Samples:
    """Seconds per call of both sides, pair by pair; the first `warm_up` pairs do not count.

    `stopped` is the reason why sampling ended after `spent_s` seconds, `load` is the machine's other load meanwhile,
    and `clock` is the name of the clock. The lists of wall seconds are empty if `clock` is the wall clock.
    """

    left_s: list[float]
    right_s: list[float]
    warm_up: int
    calls: int
    spent_s: float
    stopped: str
    load: Load
    clock: str
    threads: int
    left_wall_s: list[float]
    right_wall_s: list[float]


def time_interleaved(
    left: TimedSide, right: TimedSide, device: str, most_s: float = SLOW_LIMIT_S, clock: Clock = time.perf_counter
) -> Samples:
    """Time both sides until the interval of their ratio is narrow, or the time limit is reached.

    The limit is 10 seconds, or 30 seconds while there are too few samples for an interval. After the first pair,
    sampling stops if the next pair is expected to end after `most_s`.
    """
    sides = (left, right)
    wall = WallClock(device, clock)
    own = event_clock(device)
    one_s = min(_one_s(side, wall) for side in sides)
    calls = max(1, round(SAMPLE_S / max(one_s, 1e-7)))
    seconds: tuple[list[float], list[float]] = ([], [])
    beside: tuple[list[float], list[float]] = ([], [])
    coin = random.Random(0)
    watch = LoadWatch()
    start = clock()
    stopped, asked_s, spent_s = "", 0.0, 0.0
    while not stopped:
        for index in (0, 1) if coin.random() < 0.5 else (1, 0):
            with sides[index].around():
                if one_s <= CACHED_S:
                    sides[index].call()
                seconds[index].append((own or wall).seconds(sides[index].call, calls))
                if own is not None:
                    beside[index].append(wall.seconds(sides[index].call, calls))
        spent_s = clock() - start
        if spent_s > min(1.2 * asked_s, LIMIT_S):
            asked_s = spent_s
            stopped = _stopped(*seconds, spent_s, most_s)
    warm_up, threads = unsettled(*seconds), torch.get_num_threads()
    named = (own or wall).name
    return Samples(*seconds, warm_up, calls, spent_s, stopped, watch.load(), named, threads, *beside)


def _stopped(left_s: list[float], right_s: list[float], spent_s: float, most_s: float) -> str:
    """Return why sampling can stop; empty if it must continue.

    A clear difference is no reason to stop: sampling until a difference appears would always find one.
    """
    warm_up = unsettled(left_s, right_s)
    found = median_ratio(left_s[warm_up:], right_s[warm_up:])
    if found is not None and is_narrow(found) and spent_s >= LEAST_S:
        return NARROW_ENOUGH
    pair_s = spent_s / len(left_s)
    return LIMIT if spent_s + pair_s > min(most_s, LIMIT_S if found else SLOW_LIMIT_S) else ""


def is_narrow(ratio: Interval) -> bool:
    """Return True if a ratio's interval is narrow enough; it may be wider the further the ratio is from 1."""
    return ratio.half_width <= max(NARROW, RELATIVELY_NARROW * ratio.distance)


def _one_s(side: TimedSide, wall: WallClock) -> float:
    """Return the median seconds of a few calls, since the first may start threads."""
    first_s: list[float] = []
    while not first_s or (len(first_s) < FEW and first_s[-1] < SLOW_S):
        with side.around():
            first_s.append(wall.seconds(side.call, 1))
    return statistics.median(first_s)


def unsettled(*sides: list[float]) -> int:
    """Return the number of leading pairs before the machine was warm, at most a quarter of all.

    A leading pair counts if either side's sample is slower than all samples in the second half of that side.
    """
    return min(max(_slow_ones(samples) for samples in sides), len(sides[0]) // 4)


def _slow_ones(samples: list[float]) -> int:
    slowest = max(samples[len(samples) // 2 :])
    return next(index for index, sample in enumerate(samples) if sample <= slowest)


def measure_alternative(
    job: CompileJob, paths: tuple[Path, Path], own: PreparedCall, most_s: float, enter: Callable[[str], None]
) -> Alternative:
    """Compile, call and time the job's alternative.

    `paths` are the files of the eager and the compiled model copy. Errors are recorded, not raised.
    """
    instead = _instead(job, job.rival or job.compile)
    options = msgspec.to_builtins(instead.compile)
    enter("compiling the rival")
    calls: list[Call] = []
    try:
        with silence(), unrecorded():
            other = _made(instead, paths, calls)
        enter("measuring the rival")
        with silence(), unrecorded():
            return _timed(job.device, options, own, other, tuple(calls), most_s)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]
        return Alternative(options=options, calls=tuple(calls), reason=reason)


def _instead(job: CompileJob, rival: CompileOptions) -> CompileJob:
    """Return the job with the alternative's options.

    An alternative without backend code uses the job's backend code if both name the same backend.
    """
    same = rival.backend == job.compile.backend and not rival.backend_code
    code = job.compile.backend_code if same else rival.backend_code
    return replace(job, compile=replace(rival, backend_code=code), rival=None, from_file=())


def _made(job: CompileJob, paths: tuple[Path, Path], calls: list[Call]) -> PreparedCall | None:
    """Make all calls of the job with the alternative; return the last one, prepared for repetition."""
    eager = ModelCopy(paths[0], job, "compileboard_rival_eager")
    model = ModelCopy(paths[1], job, "compileboard_rival")
    function = compiled_by(job, model)
    # These compilations are not in the log.
    last = make_calls(
        job,
        paths[0],
        eager,
        model,
        function,
        lambda _: None,
        lambda call: calls.append(replace(call, entered=None, newest=())),
    )
    return last[1] if last else None


def _timed(
    device: str,
    options: dict[str, Any],
    run_call: PreparedCall,
    alternative_call: PreparedCall | None,
    calls: tuple[Call, ...],
    most_s: float,
) -> Alternative:
    if alternative_call is None:
        return Alternative(options=options, calls=calls, reason=REFUSED)
    samples = time_interleaved(
        TimedSide(run_call, run_call.ready), TimedSide(alternative_call, alternative_call.ready), device, most_s
    )
    return Alternative(
        options=options,
        calls=calls,
        compiled_s=tuple(samples.left_s),
        rival_s=tuple(samples.right_s),
        warm_up=samples.warm_up,
        calls_per_sample=samples.calls,
        stopped=samples.stopped,
        spent_s=samples.spent_s,
        load=samples.load,
        threads=samples.threads,
        clock=samples.clock,
    )


@dataclass(frozen=True, slots=True)
class SampledSide:
    """A timed side: a function that returns seconds per call, and the context around its calls."""

    seconds: Callable[[int], float]
    around: Callable[[], AbstractContextManager[Any]] = nullcontext


def prepared_side(call: PreparedCall, wall: WallClock) -> SampledSide:
    """Return a side that times a prepared call by the wall clock."""
    return SampledSide(lambda calls: wall.seconds(call, calls), call.ready)


def time_sides(
    sides: Mapping[str, SampledSide], most_s: float, clocks: str, clock: Clock = time.perf_counter
) -> SideTimes:
    """Time all sides in rounds until their ratios to `eager` are known; `clocks` names the clock.

    Timing ends before a round that is expected to exceed `most_s`.
    """
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
        stopped = _rounds_stopped(samples, spent_s, most_s)
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


def _rounds_stopped(samples: Mapping[str, list[float]], spent_s: float, most_s: float) -> str:
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

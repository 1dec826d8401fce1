"""Interleaved timing of calls in random order, until the ratios are known or time is up.

Calls are timed in rounds. Random order keeps the comparison fair despite noise: each call of a round is equally
likely to run first. A sample of a short call begins with an untimed call, so that the caches contain this side's
data and not another side's.

On a GPU, device events around each call are the clock, and the L2 cache is flushed before each call. Each
such sample is paired with a wall-clock sample of as many back-to-back calls, launches included.

An alternative configuration is timed in the run's own process: two processes may differ by more than it gains.
"""

import random
import statistics
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import torch

from core.analysis.interval import Interval, median_ratio
from core.base.machine import LoadWatch
from core.job import CompileJob, CompileOptions
from core.report import Alternative, Call, SideTimes
from core.worker.backends.selection import compiled_by
from core.worker.calls import PreparedCall, make_calls
from core.worker.load import ModelCopy
from core.worker.measuring.instruments import WALL, Clock, EventClock, WallClock, event_clock
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


@dataclass(frozen=True, slots=True)
class TimedSide:
    """A timed side: functions that return seconds per call, and the context around its calls.

    The context is not timed. The clock is the wall clock of `wall_s`, or that of `event_s`, if there is one.
    """

    wall_s: Callable[[int], float]
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    event_s: Callable[[int], float] | None = None


def timed_side(
    call: TimedCall,
    wall: WallClock,
    around: Callable[[], AbstractContextManager[Any]] = nullcontext,
    events: EventClock | None = None,
) -> TimedSide:
    """Return a side that times a call by the wall clock, and by device events if these are passed."""
    return TimedSide(partial(wall.seconds, call), around, partial(events.seconds, call) if events else None)


def time_calls(calls: Mapping[str, PreparedCall], device: str, most_s: float = SLOW_LIMIT_S) -> SideTimes:
    """Time prepared calls by device events, or by the wall clock for a device without them."""
    wall, events = WallClock(device), event_clock(device)
    sides = {name: timed_side(call, wall, call.ready, events) for name, call in calls.items()}
    return time_sides(sides, most_s, (events or wall).name)


def time_sides(
    sides: Mapping[str, TimedSide],
    most_s: float = SLOW_LIMIT_S,
    clocks: str = WALL,
    clock: Clock = time.perf_counter,
) -> SideTimes:
    """Time all sides in rounds until their ratios to the first are known, or the time limit is reached.

    The limit is 10 seconds, or 30 seconds while there are too few samples for an interval. After the first round,
    sampling stops before a round that is expected to end after `most_s`. `clocks` names the clock of the samples.
    """
    call_s = min(map(_call_s, sides.values()))
    calls = max(1, round(SAMPLE_S / max(call_s, 1e-7)))
    samples: dict[str, list[float]] = {name: [] for name in sides}
    walls: dict[str, list[float]] = {name: [] for name, side in sides.items() if side.event_s}
    rng, watch = random.Random(0), LoadWatch()
    start, stopped, rounds, checked_s, spent_s = clock(), "", 0, 0.0, 0.0
    while not stopped:
        for name in _shuffled(sides, rng):
            side = sides[name]
            with side.around():
                if call_s <= CACHED_S:
                    side.wall_s(1)
                samples[name].append((side.event_s or side.wall_s)(calls))
                if side.event_s:
                    walls[name].append(side.wall_s(calls))
        rounds, spent_s = rounds + 1, clock() - start
        next_s = spent_s + spent_s / rounds
        if next_s > most_s or spent_s > min(1.2 * checked_s, LIMIT_S):
            checked_s = spent_s
            stopped = _stopped(samples.values(), spent_s, next_s, most_s)
    return SideTimes(
        sides={name: tuple(seconds) for name, seconds in samples.items()},
        warm_up=unsettled(*samples.values()),
        calls_per_sample=calls,
        stopped=stopped,
        spent_s=spent_s,
        load=watch.load(),
        threads=torch.get_num_threads(),
        clock=clocks,
        walls={name: tuple(seconds) for name, seconds in walls.items()},
    )


def _call_s(side: TimedSide) -> float:
    """Return the median seconds of a few calls, since the first may start threads."""
    first_s: list[float] = []
    while not first_s or (len(first_s) < FEW and first_s[-1] < SLOW_S):
        with side.around():
            first_s.append(side.wall_s(1))
    return statistics.median(first_s)


def _shuffled(names: Iterable[str], rng: random.Random) -> list[str]:
    order: list[str] = []
    for name in names:
        order.insert(len(order) - int(rng.random() * (len(order) + 1)) if order else 0, name)
    return order


def _stopped(samples: Collection[list[float]], spent_s: float, next_s: float, most_s: float) -> str:
    """Return why sampling can stop; empty if it must continue.

    The next round is expected to end after `next_s`. A clear difference is no reason to stop:
    sampling until a difference appears would always find one.
    """
    warm_up = unsettled(*samples)
    first, *others = (seconds[warm_up:] for seconds in samples)
    ratios = [median_ratio(first, seconds) for seconds in others]
    intervals = [ratio for ratio in ratios if ratio is not None]
    all_known = len(intervals) == len(ratios)
    if all_known and all(map(is_narrow, intervals)) and spent_s >= LEAST_S:
        return NARROW_ENOUGH
    return LIMIT if next_s > min(most_s, LIMIT_S if all_known else SLOW_LIMIT_S) else ""


def is_narrow(ratio: Interval) -> bool:
    """Return True if a ratio's interval is narrow enough; it may be wider the further the ratio is from 1."""
    return ratio.half_width <= max(NARROW, RELATIVELY_NARROW * ratio.distance)


def unsettled(*sides: list[float]) -> int:
    """Return the number of leading rounds before the machine was warm, at most a quarter of all.

    A leading round counts if any side's sample is slower than all samples in the second half of that side.
    """
    return min(max(_slow_ones(samples) for samples in sides), len(sides[0]) // 4)


def _slow_ones(samples: list[float]) -> int:
    slowest = max(samples[len(samples) // 2 :])
    return next(index for index, sample in enumerate(samples) if sample <= slowest)


def measure_alternative(
    job: CompileJob, paths: tuple[Path, Path], own: PreparedCall, most_s: float, enter: Callable[[str], None]
) -> Alternative:
    """Compile, call and time the job's alternative, or record the error."""
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
    """Return the job with the alternative's options, and its backend code if not the job's."""
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
    times = time_calls({"compiled": run_call, "alternative": alternative_call}, device, most_s)
    return Alternative(options=options, calls=calls, times=times)

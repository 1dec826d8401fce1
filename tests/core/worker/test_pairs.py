"""Sides timed in rounds, by a clock that the calls themselves move."""

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import pytest
import torch

from core.analysis.interval import median_ratio
from core.worker.measuring.instruments import WALL, WallClock, event_clock
from core.worker.measuring.pairs import LIMIT, NARROW_ENOUGH, TimedSide, time_sides, timed_side

pytestmark = pytest.mark.torch


class Hands:
    """A clock, and calls that take time by it."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.made: list[str] = []

    def read(self) -> float:
        return self.now_s

    def call(self, name: str, *seconds: float) -> Callable[[], None]:
        """A call whose seconds go round."""

        def call() -> None:
            self.made.append(name)
            self.now_s += seconds[self.made.count(name) % len(seconds)]

        return call

    @contextmanager
    def around(self) -> Iterator[None]:
        self.now_s += 1e-4
        yield

    def side(self, name: str, *seconds: float) -> TimedSide:
        """A side whose context takes time, too."""
        return timed_side(self.call(name, *seconds), WallClock("cpu", self.read), self.around)


def test_the_ratio_of_two_calls_is_that_of_their_seconds_alone() -> None:
    hands = Hands()
    times = time_sides({"left": hands.side("left", 2e-3), "right": hands.side("right", 1e-3)}, clock=hands.read)
    interval = median_ratio(times.steady("left"), times.steady("right"))
    assert interval is not None
    assert (interval.low, interval.middle, interval.high) == pytest.approx((2, 2, 2))
    assert (times.stopped, times.warm_up, times.calls_per_sample, times.clock) == (NARROW_ENOUGH, 0, 5, WALL)
    assert (times.threads, times.walls) == (torch.get_num_threads(), {})


def test_device_events_are_the_clock_and_the_wall_clock_is_recorded_beside_them() -> None:
    hands = Hands()
    wall = WallClock("cpu", hands.read)

    class Events(WallClock):
        name = "events"

        def seconds(self, call: Callable[[], None], calls: int) -> float:
            return super().seconds(call, calls) / 2

    calls = {name: hands.call(name, 1e-2) for name in ("eager", "compiled")}
    events = Events("cpu", hands.read)
    sides = {name: timed_side(call, wall, nullcontext, events) for name, call in calls.items()}  # type: ignore[arg-type]
    times = time_sides(sides, 30.0, events.name, hands.read)
    for name, samples in times.sides.items():
        assert samples == pytest.approx((5e-3,) * len(samples))
        assert times.walls[name] == pytest.approx((1e-2,) * len(samples))
    assert times.clock == "events"


def test_every_side_is_timed_in_every_round_until_all_ratios_are_known() -> None:
    hands = Hands()
    seconds = {"eager": 4e-3, "python": 2e-3, "c++": 1e-3}
    times = time_sides({name: hands.side(name, s) for name, s in seconds.items()}, 30.0, "a clock", hands.read)
    rounds = len(times.sides["eager"])
    for name, samples in times.sides.items():
        assert samples == pytest.approx((seconds[name],) * rounds)
    assert (times.stopped, times.calls_per_sample, times.clock) == (NARROW_ENOUGH, 5, "a clock")
    assert times.spent_s is not None
    assert 1.5 <= times.spent_s < 2.0


@pytest.mark.parametrize("names", ["ab", "abc"])
def test_the_order_of_a_round_is_random(names: str) -> None:
    hands = Hands()
    time_sides({name: hands.side(name, 1e-2) for name in names}, clock=hands.read)
    step = 2 * len(names)
    calls = hands.made[4 * len(names) :]
    rounds = [calls[start : start + step] for start in range(0, len(calls), step)]
    assert {"".join(sorted(each)) for each in rounds} == {"".join(sorted(2 * names))}
    for place in range(len(names)):
        timed = [each[2 * place] for each in rounds]
        assert all(0.6 < timed.count(name) / len(rounds) * len(names) < 1.4 for name in names)


def test_a_ratio_that_does_not_become_known_ends_at_the_limit() -> None:
    hands = Hands()
    sides = {"left": hands.side("left", 1e-2, 4e-2, 2e-2), "right": hands.side("right", 1e-2, 9e-2, 2e-2, 6e-2, 1e-2)}
    times = time_sides(sides, clock=hands.read)
    assert times.stopped == LIMIT
    assert times.spent_s is not None
    assert times.spent_s >= 9


def test_a_side_whose_seconds_scatter_is_timed_until_time_is_up() -> None:
    hands = Hands()
    slower = (1e-3 * step for step in range(1, 100))
    sides = {"eager": hands.side("eager", 4e-3), "c++": hands.side("c++", *slower)}
    times = time_sides(sides, 5.0, clock=hands.read)
    assert times.stopped == LIMIT
    assert times.spent_s is not None
    assert 4.5 < times.spent_s < 5.2


def test_a_cpu_has_no_clock_but_the_walls() -> None:
    hands = Hands()
    assert event_clock("cpu") is None
    assert WallClock("cpu", hands.read).seconds(hands.call("left", 1e-3), 4) == pytest.approx(1e-3)


def noise(spread: float, slowed: float) -> Iterator[float]:
    """Seeded noise: each sample by itself, and five times as long for a while in `slowed` of all cases."""
    rng, slow = random.Random(0), False
    while True:
        slow = rng.random() < slowed if rng.random() < 0.2 else slow
        yield (5 if slow else 1) * math.exp(rng.gauss(0, spread))


# Spread, share of slow periods, and seconds of both calls → calls a sample, rounds, warm-up, reason and seconds of the
# end, and the interval: as recorded by the loop that could time two sides only.
RECORDED = [
    (0.005, 0.0, (8e-05, 5e-05), (101, 120, 0, "narrow enough", 1.591259), (1.599402, 1.599813, 1.600287)),
    (0.005, 0.0, (0.006, 0.005), (1, 69, 0, "narrow enough", 1.518758), (1.195669, 1.200213, 1.205453)),
    (0.005, 0.0, (0.5, 0.45), (1, 10, 1, "narrow enough", 9.492416), (1.100865, 1.115857, 1.122330)),
    (0.005, 0.0, (1.4, 1.0), (1, 9, 1, "narrow enough", 21.580041), (1.387090, 1.407850, 1.414136)),
    (0.1, 0.0, (8e-05, 5e-05), (113, 120, 0, "narrow enough", 1.789079), (1.581875, 1.603969, 1.610061)),
    (0.1, 0.0, (0.006, 0.005), (1, 453, 0, "limit", 10.022547), (1.143136, 1.207204, 1.255084)),
    (0.1, 0.0, (0.5, 0.45), (1, 10, 1, "limit", 9.402815), (0.923183, 1.209974, 1.358373)),
    (0.1, 0.0, (1.4, 1.0), (1, 9, 1, "limit", 21.333157), (1.163211, 1.565650, 1.711550)),
    (0.5, 0.0, (8e-05, 5e-05), (185, 83, 1, "narrow enough", 2.287107), (1.591091, 1.619562, 1.648269)),
    (0.5, 0.0, (0.006, 0.005), (2, 265, 0, "limit", 10.002999), (0.994231, 1.124992, 1.509842)),
    (0.5, 0.0, (0.5, 0.45), (1, 10, 1, "limit", 10.101042), (0.439956, 1.701569, 3.034344)),
    (0.5, 0.0, (1.4, 1.0), (1, 9, 1, "limit", 22.913026), (0.554344, 2.448842, 3.823273)),
    (0.02, 0.4, (8e-05, 5e-05), (103, 281, 0, "limit", 10.008624), (1.498524, 1.578804, 1.724506)),
    (0.02, 0.4, (0.006, 0.005), (1, 177, 0, "limit", 10.017395), (1.177112, 1.199278, 1.218952)),
    (0.02, 0.4, (0.5, 0.45), (1, 10, 1, "limit", 9.471414), (1.070690, 1.130215, 1.156671)),
    (0.02, 0.4, (1.4, 1.0), (1, 9, 1, "limit", 21.524411), (1.349069, 1.431665, 1.457405)),
]


@pytest.mark.parametrize(("spread", "slowed", "seconds", "sampling", "ratio"), RECORDED)
def test_the_figures_of_a_pair_are_as_recorded(
    spread: float,
    slowed: float,
    seconds: tuple[float, float],
    sampling: tuple[int, int, int, str, float],
    ratio: tuple[float, float, float],
) -> None:
    hands, factor = Hands(), noise(spread, slowed)

    def taking(call_s: float) -> TimedSide:
        def call() -> None:
            hands.now_s += call_s * next(factor)

        return timed_side(call, WallClock("cpu", hands.read))

    times = time_sides({"eager": taking(seconds[0]), "compiled": taking(seconds[1])}, clock=hands.read)
    interval = median_ratio(times.steady("eager"), times.steady("compiled"))
    assert interval is not None
    rounds = len(times.sides["eager"])
    assert (times.calls_per_sample, rounds, times.warm_up, times.stopped, times.spent_s) == pytest.approx(sampling)
    assert (interval.low, interval.middle, interval.high) == pytest.approx(ratio)

"""Two calls timed in turn, by a clock that the calls themselves move."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch

from core.analysis.interval import median_ratio
from core.worker.measuring.instruments import WALL, WallClock, event_clock
from core.worker.measuring.pairs import LIMIT, NARROW_ENOUGH, TimedSide, time_interleaved


class Hands:
    """A clock, and calls that take time by it."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.made: list[str] = []

    def read(self) -> float:
        return self.now_s

    def side(self, name: str, *seconds: float) -> TimedSide:
        """A call whose seconds go round; what stands around it takes time, too."""

        def call() -> None:
            self.made.append(name)
            self.now_s += seconds[self.made.count(name) % len(seconds)]

        @contextmanager
        def around() -> Iterator[None]:
            self.now_s += 1e-4
            yield

        return TimedSide(call, around)


def test_the_ratio_of_two_calls_is_that_of_their_seconds_alone() -> None:
    hands = Hands()
    found = time_interleaved(hands.side("left", 2e-3), hands.side("right", 1e-3), "cpu", clock=hands.read)
    interval = median_ratio(found.left_s, found.right_s)
    assert interval is not None
    assert (interval.low, interval.middle, interval.high) == pytest.approx((2, 2, 2))
    assert (found.stopped, found.warm_up, found.calls, found.clock) == (NARROW_ENOUGH, 0, 5, WALL)
    assert (found.threads, found.left_wall_s, found.right_wall_s) == (torch.get_num_threads(), [], [])


def test_which_goes_first_is_tossed() -> None:
    hands = Hands()
    time_interleaved(hands.side("left", 1e-2), hands.side("right", 1e-2), "cpu", clock=hands.read)
    calls = hands.made[8:]
    pairs = [calls[start : start + 4] for start in range(0, len(calls), 4)]
    firsts = [pair[0] for pair in pairs]
    assert {tuple(sorted(pair)) for pair in pairs} == {("left", "left", "right", "right")}
    assert 0.3 < firsts.count("left") / len(firsts) < 0.7


def test_what_does_not_become_known_ends_at_the_limit() -> None:
    hands = Hands()
    found = time_interleaved(
        hands.side("left", 1e-2, 4e-2, 2e-2), hands.side("right", 1e-2, 9e-2, 2e-2, 6e-2, 1e-2), "cpu", clock=hands.read
    )
    assert found.stopped == LIMIT
    assert found.spent_s >= 9


def test_a_cpu_has_no_clock_but_the_walls() -> None:
    hands = Hands()
    assert event_clock("cpu") is None
    assert WallClock("cpu", hands.read).seconds(hands.side("left", 1e-3).call, 4) == pytest.approx(1e-3)

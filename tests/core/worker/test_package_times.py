"""Several sides timed in rounds, by a clock that the calls themselves move."""

import pytest

from core.worker.measuring.pairs import LIMIT, NARROW_ENOUGH, SampledSide, time_sides

pytestmark = pytest.mark.torch


class Sides:
    """A clock, and sides that take time by it."""

    def __init__(self) -> None:
        self.now_s = 0.0
        self.made: list[str] = []

    def read(self) -> float:
        return self.now_s

    def side(self, name: str, *seconds: float) -> SampledSide:
        """A side whose calls take these seconds in turn."""

        def taken(calls: int) -> float:
            self.made.append(name)
            one_s = seconds[self.made.count(name) % len(seconds)]
            self.now_s += one_s * calls
            return one_s

        return SampledSide(taken)


def test_every_side_is_timed_in_every_round_until_the_ratios_are_known() -> None:
    made = Sides()
    found = time_sides(
        {"eager": made.side("eager", 4e-3), "python": made.side("python", 2e-3), "c++": made.side("c++", 1e-3)},
        30.0,
        "a clock",
        made.read,
    )
    rounds = len(found.sides["eager"])
    assert found.sides == {"eager": (4e-3,) * rounds, "python": (2e-3,) * rounds, "c++": (1e-3,) * rounds}
    assert (found.stopped, found.calls_per_sample, found.clock) == (NARROW_ENOUGH, 5, "a clock")
    assert found.spent_s is not None
    assert 1.5 <= found.spent_s < 2.0


def test_a_side_whose_seconds_scatter_is_timed_until_time_is_up() -> None:
    made = Sides()
    slower = (1e-3 * step for step in range(1, 100))
    found = time_sides({"eager": made.side("eager", 4e-3), "c++": made.side("c++", *slower)}, 5.0, "a clock", made.read)
    assert found.stopped == LIMIT
    assert found.spent_s is not None
    assert 4.5 < found.spent_s < 5.2


def test_the_order_of_a_round_is_by_lot() -> None:
    made = Sides()
    time_sides({"eager": made.side("eager", 1e-2), "c++": made.side("c++", 1e-2)}, 5.0, "a clock", made.read)
    later = made.made[6:]
    first = [later[index] for index in range(0, len(later), 4)]
    assert 0.2 < first.count("eager") / len(first) < 0.8

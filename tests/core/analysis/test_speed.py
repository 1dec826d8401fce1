"""What is said about speed: only what the interval of the ratio allows, whatever the noise, on samples that are literal
or seeded.
"""

import math
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from core.analysis.interval import median_ratio
from core.analysis.speed import break_even_calls, speed
from core.analysis.verdict import verdict
from core.report import Call, Load, Report, Setting, SideTimes
from core.views.progress import evidence
from core.views.verdict import pays_words, sentence

# Torch's own imports warn.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

Noise = Callable[[random.Random], Iterator[float]]


def steady(rng: random.Random) -> Iterator[float]:
    """Ten percent, each sample by itself."""
    while True:
        yield math.exp(rng.gauss(0, 0.1))


def lasting(rng: random.Random) -> Iterator[float]:
    """Thirty percent that change slowly."""
    state = rng.gauss(0, 0.3)
    while True:
        state = 0.95 * state + math.sqrt(1 - 0.95**2) * rng.gauss(0, 0.3)
        yield math.exp(state)


def wild(rng: random.Random) -> Iterator[float]:
    """Fifty percent."""
    while True:
        yield math.exp(rng.gauss(0, 0.5))


def two_faced(rng: random.Random) -> Iterator[float]:
    """Five times as long for a while, now and then, as beside other processes."""
    slow = False
    while True:
        slow = rng.random() < 0.4 if rng.random() < 0.2 else slow
        yield (5 if slow else 1) * math.exp(rng.gauss(0, 0.02))


def timing(noise: Noise, pairs: int, seed: int, factor: float = 1.0) -> SideTimes:
    """Pairs of samples under one noise, which goes first by the toss of a coin; `factor` is eager over compiled."""
    rng = random.Random(seed)
    values = noise(rng)
    eager, compiled = [], []
    for _ in range(pairs):
        first, second = next(values), next(values)
        one, other = (first, second) if rng.random() < 0.5 else (second, first)
        eager.append(1e-3 * factor * one)
        compiled.append(1e-3 * other)
    return SideTimes({"eager": tuple(eager), "compiled": tuple(compiled)})


def claims(noise: Noise, pairs: int, factor: float = 1.0, times: int = 400) -> float:
    """In which part of so many measurements a difference is claimed."""
    found = [speed(timing(noise, pairs, seed, factor)) for seed in range(times)]
    return sum(item is not None and item.clear for item in found) / times


@pytest.mark.parametrize("noise", [steady, lasting, two_faced])
@pytest.mark.parametrize("pairs", [3, 5, 8, 11, 30, 200])
def test_a_function_is_hardly_ever_faster_or_slower_than_itself(noise: Noise, pairs: int) -> None:
    assert claims(noise, pairs) <= 0.02


def test_five_percent_are_found_below_ten_percent_of_noise() -> None:
    assert claims(steady, 1000, factor=1.05, times=50) > 0.8
    assert claims(steady, 1000, factor=1 / 1.05, times=50) > 0.8


def bounds(eager: list[float], compiled: list[float]) -> tuple[float, float, float]:
    interval = median_ratio(eager, compiled)
    assert interval is not None
    return interval.low, interval.middle, interval.high


def test_interval_of_eight_pairs_is_all_of_them_and_of_many_the_middle_of_twelve_blocks() -> None:
    ratios = [1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8]
    assert bounds(ratios, [1.0] * 8) == pytest.approx((1.1, math.sqrt(1.4 * 1.5), 1.8))
    rising = [ratio for block in range(1, 13) for ratio in [float(block)] * 10]
    assert bounds(rising, [1.0] * 120) == pytest.approx((2, math.sqrt(6 * 7), 11))


def test_seven_pairs_are_too_few_to_say() -> None:
    found = speed(SideTimes({"eager": (2e-3,) * 7, "compiled": (1e-3,) * 7}))
    assert found is not None
    assert (found.interval, found.clear, found.eager_s, found.compiled_s) == (None, False, 2e-3, 1e-3)


@pytest.mark.parametrize(
    ("eager_s", "compiled_s", "warm_up"),
    [((), (), 0), ((1.0,) * 4, (1.0,) * 4, 4), ((1.0,) * 9, (1.0,) * 8, 0), ((1.0, 0.0), (1.0, 1.0), 0)],
)
def test_samples_that_are_no_pairs_of_times_say_nothing(
    eager_s: tuple[float, ...], compiled_s: tuple[float, ...], warm_up: int
) -> None:
    assert speed(SideTimes({"eager": eager_s, "compiled": compiled_s}, warm_up)) is None


@pytest.mark.parametrize(
    ("factor", "faster", "slower"),
    [(1.5, True, False), (1.03, True, False), (1.01, False, False), (1 / 1.01, False, False), (1 / 1.03, False, True)],
)
def test_a_claim_needs_two_percent_and_is_the_same_in_both_directions(
    factor: float, faster: bool, slower: bool
) -> None:
    found = speed(SideTimes({"eager": (1e-3 * factor,) * 12, "compiled": (1e-3,) * 12}))
    assert found is not None
    assert (found.faster, found.slower, found.clear) == (faster, slower, faster or slower)


MEASURED = Report(
    Setting(),
    calls=(Call(0, "f32[8]", 0.002, 1.001, ()),),
    timing=SideTimes(
        {"eager": (2e-3, 2.1e-3, 1.9e-3, 2e-3) * 3, "compiled": (1e-3,) * 12},
        0,
        1,
        "narrow enough",
        1.5,
        Load(0.02, 0.0),
    ),
)


def of(eager_s: tuple[float, ...], compiled_s: tuple[float, ...], load: Load | None = None) -> Report:
    return replace(
        MEASURED, timing=SideTimes({"eager": eager_s, "compiled": compiled_s}, 0, 1, "narrow enough", 1.5, load)
    )


def test_break_even_is_as_wide_as_the_interval() -> None:
    assert break_even_calls(MEASURED) == (955, 1056)
    assert sentence(verdict(MEASURED)) == ("2.00× faster than eager (1.90–2.10), pays off after 960–1,100 calls.")


def test_what_costs_nothing_pays_with_its_first_call() -> None:
    free = replace(MEASURED, calls=(Call(0, "f32[8]", 0.002, 0.0, ()),))
    assert break_even_calls(free) == (1, 1)


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (of((1e-3,) * 12, (2e-3,) * 12), "Compiled runs 2.00× slower than eager (2.00–2.00)."),
        (of((1e-3,) * 12, (1e-3,) * 12), "No difference in speed seen (1.00–1.00×)."),
        (of((1e-3,) * 3, (2e-3,) * 3), "Speed unknown: too few samples to say."),
        (
            of((2e-3,) * 12, (1e-3,) * 12, Load(0.5, 0.1)),
            "Speed not reliable: the machine was busy while it was measured.",
        ),
        (
            of((2e-3, 8e-3) * 6, (1e-3, 4e-3) * 6),
            "Speed not reliable: the samples scatter: the quartiles differ by a factor of 4.00.",
        ),
        (
            of((1e-3, 8e-3) * 6, (8e-3, 1e-3) * 6, Load(0.9, 0.5)),
            "Speed not measurable: the machine was busy while it was measured.",
        ),
    ],
)
def test_sentence_says_what_is_clear_and_what_disturbs_it(report: Report, words: str) -> None:
    assert sentence(verdict(report)) == words
    assert break_even_calls(report) is None


def test_where_the_wall_clock_differs_a_slow_down_is_the_title_and_the_evidence_has_the_clock() -> None:
    assert MEASURED.timing is not None
    slower = replace(MEASURED.timing, walls={"eager": (2e-3,) * 12, "compiled": (3e-3,) * 12})
    alike = replace(MEASURED.timing, walls={"eager": (2.1e-3,) * 12, "compiled": (1e-3,) * 12})
    none = replace(MEASURED.timing, walls={"eager": (2e-3,) * 12, "compiled": (2e-3,) * 12})
    reports = [replace(MEASURED, timing=timing) for timing in (slower, alike, none)]
    titles = [sentence(verdict(report)) for report in reports]
    lines = [line.text for report in reports for line in evidence(report)]
    by_wall = "by the wall clock, launches included,"
    assert titles[0] == "By the wall clock, launches included, compiled runs 1.50× slower than eager (1.50–1.50)."
    assert titles[1:] == [
        "2.00× faster than eager (1.90–2.10), pays off after about 910 calls.",
        "2.00× faster than eager (1.90–2.10).",
    ]
    assert lines[0].endswith(f"; {by_wall} compiled is 1.50× slower (1.50–1.50)")
    assert by_wall not in lines[1]
    assert lines[2].endswith(f"; {by_wall} no difference is seen")
    assert break_even_calls(replace(MEASURED, timing=slower)) is None


def test_no_break_even_from_a_slow_down_or_without_a_difference() -> None:
    assert break_even_calls(of((1e-3,) * 12, (2e-3,) * 12)) is None
    assert break_even_calls(of((1e-3,) * 12, (1e-3,) * 12)) is None


class Machine:
    """A clock that only the calls move; the first few take longer."""

    def __init__(self, noise: Noise = steady) -> None:
        self.now_s = 0.0
        self.entered = 0
        self._noise = noise(random.Random(0))

    def read(self) -> float:
        return self.now_s

    def taking(self, seconds: float) -> Callable[[], None]:
        def call() -> None:
            self.now_s += seconds * next(self._noise)

        return call

    @contextmanager
    def around(self) -> Iterator[None]:
        """What takes long and is not to be timed."""
        self.entered += 1
        self.now_s += 0.5
        yield
        self.now_s += 0.5


def quiet(rng: random.Random) -> Iterator[float]:
    while True:
        yield 1 + 0.01 * rng.random()


@pytest.mark.torch
@pytest.mark.parametrize(
    ("seconds", "noise", "most_s", "pairs", "stopped"),
    [
        (50e-6, quiet, 30, range(140, 190), "narrow enough"),
        (5e-3, quiet, 30, range(70, 100), "narrow enough"),
        (5e-3, wild, 30, range(400, 1000), "limit"),
        (0.5, quiet, 30, range(8, 11), "narrow enough"),
        (0.5, steady, 30, range(9, 12), "limit"),
        (1.4, quiet, 30, range(8, 11), "narrow enough"),
        (5.0, quiet, 30, range(2, 4), "limit"),
        (0.5, quiet, 4, range(3, 5), "limit"),
        (100.0, quiet, 30, range(1, 2), "limit"),
    ],
)
def test_a_call_gets_the_samples_that_it_needs_within_the_limit(
    seconds: float, noise: Noise, most_s: float, pairs: range, stopped: str
) -> None:
    from core.worker.measuring.instruments import WallClock
    from core.worker.measuring.pairs import time_sides, timed_side

    machine = Machine(noise)
    side = timed_side(machine.taking(seconds), WallClock("cpu", machine.read))
    found = time_sides({"eager": side, "compiled": side}, most_s, clock=machine.read)

    assert found.stopped == stopped
    assert len(found.sides["eager"]) in pairs
    assert found.spent_s is not None
    assert found.spent_s <= max(most_s, 2.1 * seconds)


@pytest.mark.torch
def test_what_stands_around_a_call_is_entered_once_a_sample_and_not_timed() -> None:
    from core.worker.measuring.instruments import WallClock
    from core.worker.measuring.pairs import time_sides, timed_side

    machine = Machine(quiet)
    side = timed_side(machine.taking(1e-3), WallClock("cpu", machine.read), machine.around)
    found = time_sides({"eager": side, "compiled": side}, clock=machine.read)

    assert found.calls_per_sample == 5
    assert max(found.sides["eager"] + found.sides["compiled"]) <= 1.011e-3
    assert machine.entered == 2 * len(found.sides["eager"]) + 8


@pytest.mark.torch
@pytest.mark.parametrize(("seconds", "timed"), [(0.02, 2.0), (0.5, 3.0)])
def test_what_the_other_side_left_in_the_caches_is_timed_of_slow_calls_alone(seconds: float, timed: float) -> None:
    """A call takes half as much again right after one of the other side."""
    from core.worker.measuring.instruments import WallClock
    from core.worker.measuring.pairs import time_sides, timed_side

    machine = Machine(quiet)
    last = ""

    def taking(name: str, seconds: float) -> Callable[[], None]:
        def call() -> None:
            nonlocal last
            machine.now_s += seconds * (1 if last == name else 1.5)
            last = name

        return call

    calls, wall = (
        {"left": taking("left", 2 * seconds), "right": taking("right", seconds)},
        WallClock("cpu", machine.read),
    )
    found = time_sides({name: timed_side(call, wall) for name, call in calls.items()}, clock=machine.read)

    assert max(found.sides["left"]) == pytest.approx(timed * seconds)


@pytest.mark.torch
def test_warm_up_takes_a_quarter_of_the_samples_at_most() -> None:
    from core.worker.measuring.instruments import WallClock
    from core.worker.measuring.pairs import time_sides, timed_side

    def cooling(rng: random.Random) -> Iterator[float]:
        factor = 3.0
        while True:
            factor = max(1.0, factor * 0.98)
            yield factor

    machine = Machine(cooling)
    side = timed_side(machine.taking(0.4), WallClock("cpu", machine.read))
    found = time_sides({"eager": side, "compiled": side}, clock=machine.read)

    assert found.warm_up == len(found.sides["eager"]) // 4
    assert len(found.steady("eager")) >= 8


def test_calls_that_round_to_one_are_named_once() -> None:
    assert pays_words((1_990, 2_030)) == "pays off after about 2,000 calls"


def test_a_ratio_needs_as_many_times_on_both_sides_and_none_of_zero() -> None:
    assert median_ratio([1.0] * 8, [1.0] * 7) is None
    assert median_ratio([1.0] * 7 + [0.0], [1.0] * 8) is None

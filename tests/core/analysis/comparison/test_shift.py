"""The ratio of two unpaired samples: how often its interval misses, and that it is the textbook's."""

import math
import random

from core.analysis.comparison.figures import _rank, shift


def logs(seed: int, factor: float, count: int = 12) -> list[float]:
    chance = random.Random(seed)
    return [math.log(factor) + chance.gauss(0, 0.05) for _ in range(count)]


def test_the_bounds_are_those_of_the_mann_whitney_test() -> None:
    """The critical values for 1 %, two-sided, of the published tables, and one more."""
    assert {(n, m): _rank(n, m) for n, m in ((5, 5), (8, 8), (10, 10), (12, 12))} == {
        (5, 5): 1,
        (8, 8): 8,
        (10, 10): 17,
        (12, 12): 28,
    }


def test_two_equal_samples_seem_to_differ_in_one_of_a_hundred_cases_at_most() -> None:
    found = [shift(logs(2 * seed, 1.0), logs(2 * seed + 1, 1.0)) for seed in range(300)]
    assert sum(one is not None and not one.low <= 1 <= one.high for one in found) <= 6


def test_a_ratio_lies_within_its_bounds() -> None:
    found = [shift(logs(2 * seed, 1.3), logs(2 * seed + 1, 1.0)) for seed in range(100)]
    assert sum(one is not None and one.low <= 1.3 <= one.high for one in found) >= 97


def test_too_few_samples_have_no_ratio() -> None:
    assert shift(logs(1, 1.0, 7), logs(2, 1.0)) is None

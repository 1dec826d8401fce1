"""Interval of the ratio of two times, from pairs of samples; robust to noise.

The bounds are two order statistics of the ratios, as in the sign test (Conover, "Practical Nonparametric Statistics",
3.2). Neighbouring pairs are first joined to blocks, since long-lasting noise makes neighbours similar. `busy` detects
that other processes disturbed a measurement.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.report import Load

LEAST_PAIRS = 8
BLOCKS = 12
# Stricter than the allowed 5 % of false claims, since sampling continues until the interval is narrow.
ERROR = 0.01
# A smaller ratio is no difference: two equal models differ by up to 2 % through their memory addresses.
RELEVANT = 1.02
# Factor between the bounds from which the ratio counts as unknown.
DECADE = 10.0
# A run is slowed down above these shares: CPU time of other processes, CPU time stolen by other virtual machines, and
# the run's own time spent waiting for a CPU.
MOST_OTHERS, MOST_STOLEN, MOST_WAITED = 0.2, 0.05, 0.05
BUSY = "the machine was busy"
NOT_MEASURABLE = "not measurable"
SCATTERED = "the samples scatter"
FEW = "too few samples to say"


@dataclass(frozen=True, slots=True)
class Interval:
    """A ratio and its 99 % confidence bounds."""

    low: float
    middle: float
    high: float

    @property
    def wide(self) -> bool:
        """True if the bounds are at least a factor of 10 apart: noise rather than a ratio."""
        return self.high >= DECADE * self.low

    @property
    def half_width(self) -> float:
        """Half the interval's width on a log scale, as a fraction: 0.1 for bounds a factor of 1.21 apart."""
        return math.sqrt(self.high / self.low) - 1

    @property
    def distance(self) -> float:
        """Distance of the middle from 1 on a log scale: the ratios 2 and 0.5 have the same distance."""
        return abs(math.log(self.middle))

    @property
    def above(self) -> bool:
        """True if the whole interval is above 1 by more than the relevance threshold."""
        return self.low > RELEVANT

    @property
    def below(self) -> bool:
        """True if the whole interval is below 1 by more than the relevance threshold."""
        return self.high < 1 / RELEVANT

    @property
    def apart(self) -> bool:
        """True if the whole interval is above or below 1 by more than the relevance threshold."""
        return self.above or self.below

    def inverse(self) -> Interval:
        """Return the interval of the inverse ratio."""
        return Interval(1 / self.high, 1 / self.middle, 1 / self.low)


def median_ratio(above: Sequence[float], below: Sequence[float]) -> Interval | None:
    """Return the median of above / below with bounds; None for too few pairs, or a time of 0 or less."""
    return _bounded(above, below, ERROR, in_blocks)


def independent_ratio(above: Sequence[float], below: Sequence[float], error: float) -> Interval | None:
    """Return the same from pairs of separate processes, which need no blocks, at an error of its own."""
    return _bounded(above, below, error, lambda logs: [[each] for each in logs])


def _bounded(
    above: Sequence[float],
    below: Sequence[float],
    error: float,
    joined: Callable[[Sequence[float]], Sequence[Sequence[float]]],
) -> Interval | None:
    if len(above) < LEAST_PAIRS or len(above) != len(below) or min(*above, *below) <= 0:
        return None
    logs = [math.log(numerator / denominator) for numerator, denominator in zip(above, below, strict=True)]
    blocks = sorted(statistics.median(block) for block in joined(logs))
    rank = _rank(len(blocks), error)
    middle = statistics.median(blocks)
    return Interval(math.exp(blocks[rank - 1]), math.exp(middle), math.exp(blocks[-rank]))


def in_blocks(values: Sequence[float]) -> list[Sequence[float]]:
    """Join neighbouring values into `BLOCKS` blocks of about equal sizes, or keep each as a block."""
    count = BLOCKS if len(values) >= 2 * BLOCKS else len(values)
    edges = [round(index * len(values) / count) for index in range(count + 1)]
    return [values[start:end] for start, end in itertools.pairwise(edges)]


def _rank(count: int, error: float) -> int:
    """Return the largest r with P(fewer than r heads in `count` coin tosses) at most `error` / 2."""
    tail, rank = 0.0, 0
    while tail + math.comb(count, rank) / 2**count <= error / 2:
        tail += math.comb(count, rank) / 2**count
        rank += 1
    return rank


def busy(load: Load | None) -> bool:
    """Return True if other load disturbed a measurement; False if the load was not recorded."""
    if load is None:
        return False
    shares = (load.others, MOST_OTHERS), (load.stolen, MOST_STOLEN), (load.waited, MOST_WAITED)
    return any((part or 0.0) > most for part, most in shares)

"""Interval coverage: how often our interval and a bootstrap interval miss the true ratio.

    python -m benchmarks.interval_coverage [--times 400]

Pairs of samples have a true ratio of 1 and synthetic noise of several kinds, in random order within the pair.
Sampling continues as in the worker, until the interval is narrow or there are 1,000 pairs. Our interval is
from the sign test over twelve blocks. The bootstrap's bounds are percentiles of the median over resampled
pairs. Both have a nominal confidence of 99 %. Torch is not needed.
"""

from __future__ import annotations

import argparse
import math
import random
import statistics
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.table import Result, print_table
from core.analysis.interval import Interval, median_ratio

Noise = Callable[[random.Random], Iterator[float]]
Estimate = Callable[[list[float], list[float]], Interval | None]
TIMES, LEAST, MOST, GROWTH = 400, 30, 1_000, 1.2
NARROW = 0.01
DRAWS, ERROR = 400, 0.01
MOST_CLAIMED = 0.05
OURS = "sign test over blocks"


def single(rng: random.Random) -> Iterator[float]:
    """Return independent noise of five percent."""
    while True:
        yield math.exp(rng.gauss(0, 0.05))


def lasting(rng: random.Random) -> Iterator[float]:
    """Return noise of ten percent that changes slowly, like a clock frequency."""
    state = rng.gauss(0, 0.1)
    while True:
        state = 0.98 * state + math.sqrt(1 - 0.98**2) * rng.gauss(0, 0.1)
        yield math.exp(state + rng.gauss(0, 0.01))


def neighbour(rng: random.Random) -> Iterator[float]:
    """Return noise with periods in which calls take five times as long, like load of another process."""
    slow = False
    while True:
        slow = rng.random() < 0.4 if rng.random() < 0.05 else slow
        yield (5 if slow else 1) * math.exp(rng.gauss(0, 0.02))


def apart(rng: random.Random) -> Iterator[float]:
    """Return separate, slowly changing noise of two percent on each side, like memory placement.

    Random order does not help against it.
    """
    states = [0.0, 0.0]
    while True:
        for side in (0, 1):
            states[side] = 0.95 * states[side] + math.sqrt(1 - 0.95**2) * rng.gauss(0, 0.02)
            yield math.exp(states[side] + rng.gauss(0, 0.01))


NOISES: dict[str, Noise] = {
    "5 % by itself": single,
    "10 % that lasts": lasting,
    "a neighbour now and then": neighbour,
    "sides that drift apart": apart,
}


def bootstrap(above: list[float], below: list[float]) -> Interval | None:
    """Return the bootstrap interval: percentiles of the median ratio over resampled pairs."""
    logs = np.log(np.asarray(above) / np.asarray(below))
    rng = np.random.default_rng(len(above))
    medians = np.median(logs[rng.integers(0, len(logs), (DRAWS, len(logs)))], axis=1)
    low, middle, high = np.quantile(medians, [ERROR / 2, 0.5, 1 - ERROR / 2])
    return Interval(math.exp(low), math.exp(middle), math.exp(high))


ESTIMATES: dict[str, Estimate] = {OURS: median_ratio, "bootstrap over pairs": bootstrap}


def measure() -> list[Result]:
    """Measure all kinds of noise."""
    return results(TIMES)


def results(times: int) -> list[Result]:
    """Return one result for each noise and estimate."""
    return [
        coverage_result(noise, estimate, [sampled(NOISES[noise], ESTIMATES[estimate], seed) for seed in range(times)])
        for noise in NOISES
        for estimate in ESTIMATES
    ]


def sampled(noise: Noise, estimate: Estimate, seed: int) -> tuple[Interval, int]:
    """Return the interval at which sampling ends, and its number of pairs."""
    rng = random.Random(seed)
    values = noise(rng)
    above: list[float] = []
    below: list[float] = []
    wanted = LEAST
    while True:
        while len(above) < wanted:
            pair = next(values), next(values)
            left, right = pair if noise is apart or rng.random() < 0.5 else pair[::-1]
            above.append(left)
            below.append(right)
        interval = estimate(above, below)
        assert interval is not None
        if interval.half_width <= NARROW or wanted >= MOST:
            return interval, wanted
        wanted = min(MOST, math.ceil(wanted * GROWTH))


def coverage_result(noise: str, estimate: str, samples: list[tuple[Interval, int]]) -> Result:
    """Return the shares of missed true ratios and claimed differences, median half width and pairs."""
    missed = sum(not interval.low <= 1 <= interval.high for interval, _ in samples) / len(samples)
    claimed = sum(interval.apart for interval, _ in samples) / len(samples)
    width = statistics.median(interval.half_width for interval, _ in samples)
    pairs = statistics.median(pairs for _, pairs in samples)
    figure = (
        f"{missed:.1%} leave out the truth, {claimed:.1%} claim a difference; half width {width:.2%}, {pairs:.0f} pairs"
    )
    is_ours = estimate == OURS
    passed = claimed <= MOST_CLAIMED if is_ours else None
    return Result(f"{noise}, {estimate}", figure, f"≤ {MOST_CLAIMED:.0%} claim" if is_ours else "", passed)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=TIMES)
    print_table((__doc__ or "").partition("\n")[0], results(parser.parse_args().times))


if __name__ == "__main__":
    main()

"""Eager against compiled: which is faster?

Times are taken in turn, eager, compiled, eager, compiled, so that a drift of the machine touches both; samples before the
warm-up has settled are kept apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

BUDGET_S = 1.5
MAX_SAMPLES = 200
SAMPLE_S = 0.002


@dataclass(frozen=True, slots=True)
class Samples:
    """Seconds per call; `warm_up` of the first samples are not to be counted."""

    seconds: list[float]
    warm_up: int


def in_turn(eager: Callable[[], Any], compiled: Callable[[], Any], device: str) -> tuple[Samples, Samples, int]:
    """Time both in turn within a budget; also says how many calls make one sample."""
    calls = max(1, round(SAMPLE_S / max(_sample(eager, 1, device), 1e-7)))
    calls = min(calls, max(1, round(SAMPLE_S / max(_sample(compiled, 1, device), 1e-7))))
    times: tuple[list[float], list[float]] = ([], [])
    start = time.perf_counter()
    while len(times[0]) < MAX_SAMPLES and (len(times[0]) < 5 or time.perf_counter() - start < BUDGET_S):
        times[0].append(_sample(eager, calls, device))
        times[1].append(_sample(compiled, calls, device))
    warm = max(_warm_up(samples) for samples in times)
    return Samples(times[0], warm), Samples(times[1], warm), calls


def _sample(function: Callable[[], Any], calls: int, device: str) -> float:
    synchronize(device)
    start = time.perf_counter()
    for _ in range(calls):
        function()
    synchronize(device)
    return (time.perf_counter() - start) / calls


def _warm_up(samples: list[float]) -> int:
    """Leading samples that are slower than anything in the later half: the machine was not warm yet."""
    slowest = max(samples[len(samples) // 2 :])
    settled = next((index for index, sample in enumerate(samples) if sample <= slowest), 0)
    return min(settled, len(samples) - 3)


def synchronize(device: str) -> None:
    """Wait for an accelerator to finish what it was given."""
    kind = device.partition(":")[0]
    if kind != "cpu":
        getattr(torch, kind).synchronize()

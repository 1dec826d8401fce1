"""Eager against compiled: are the results the same, and which is faster?

Both are honest on purpose. Results are compared on twins that were loaded and seeded alike. Times are taken in turn,
eager, compiled, eager, compiled, so that a drift of the machine touches both; samples before the warm-up has settled
are kept apart.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

TOLERANCE = {torch.float64: 1e-7, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}
BUDGET_S = 1.5
MAX_SAMPLES = 200
SAMPLE_S = 0.002


@dataclass(frozen=True, slots=True)
class Difference:
    """Compiled against eager for one tensor: the largest differences, and the tolerance that its dtype allows."""

    what: str
    dtype: str
    max_abs: float
    max_rel: float
    tolerance: float
    same: bool


def compare(what: str, eager: Any, compiled: Any) -> list[Difference]:
    """Every tensor of two results; a missing or differently shaped one differs infinitely."""
    left = [leaf for leaf in tree_leaves(eager) if isinstance(leaf, torch.Tensor)]
    right = [leaf for leaf in tree_leaves(compiled) if isinstance(leaf, torch.Tensor)]
    if len(left) != len(right):
        return [Difference(what, "", float("inf"), float("inf"), 0.0, False)]
    names = [what if len(left) == 1 else f"{what} {index}" for index in range(len(left))]
    return [_difference(name, a, b) for name, a, b in zip(names, left, right, strict=True)]


def _difference(what: str, eager: torch.Tensor, compiled: torch.Tensor) -> Difference:
    dtype = str(eager.dtype).removeprefix("torch.")
    tolerance = TOLERANCE.get(eager.dtype, 0.0)
    if eager.shape != compiled.shape or eager.dtype != compiled.dtype:
        return Difference(what, dtype, float("inf"), float("inf"), tolerance, False)
    if eager.numel() == 0:
        return Difference(what, dtype, 0.0, 0.0, tolerance, True)
    wide = torch.complex128 if eager.dtype.is_complex else torch.float64
    a, b = eager.detach().to("cpu", wide), compiled.detach().to("cpu", wide)
    gap = (a - b).abs()
    gap = torch.where(a == b, torch.zeros_like(gap), gap)
    gap = torch.where(a.isnan() & b.isnan(), torch.zeros_like(gap), gap)
    max_abs = float(gap.max().nan_to_num(nan=float("inf")))
    relative = gap / a.abs().clamp_min(torch.finfo(torch.float32).eps)
    max_rel = float(relative.max().nan_to_num(nan=float("inf")))
    same = torch.allclose(a, b, rtol=tolerance, atol=tolerance, equal_nan=True)
    return Difference(what, dtype, max_abs, max_rel, tolerance, same)


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

"""Eager against compiled: are the results the same? They come from twins that were loaded and seeded alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

TOLERANCE = {torch.float64: 1e-7, torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 2e-2}


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

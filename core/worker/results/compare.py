"""Comparison of eager and compiled results, from model copies that were loaded and seeded alike.

An error is relative to its element's magnitude, or to the typical magnitude around it if that is larger. The root mean
square of the whole tensor must be within the tolerance; for each row, column and element within `ELEMENT` times the
tolerance. Integers, types, shapes and strides are compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from core.base.tolerances import BY_NORM
from core.base.words import agree, number
from core.report import Difference
from core.worker.results.named import Container, Leaves, alike
from core.worker.results.scaled import Distance, Groups, distance, scaled

TOLERANCE = {getattr(torch, name): part for name, part in BY_NORM.items()}
ELEMENT = 20


def compare(eager: Leaves, compiled: Leaves, layout: bool = False) -> list[Difference]:
    """Return the differences of all eager results by name.

    A missing element is reported once, for its container. `layout` also compares strides and requires_grad.
    """
    pairs = [(name, leaf, compiled[name]) for name, leaf in eager.items() if name in compiled]
    return [item for name, one, other in pairs for item in compare_leaf(name, one, other, layout)]


def compare_leaf(what: str, left: Any, right: Any, layout: bool = False) -> list[Difference]:
    """Return the differences of two leaves: the first one that prevents a comparison, or all."""
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return _tensors(what, left, right, layout)
    if isinstance(left, (Container, torch.Tensor)) or isinstance(right, (Container, torch.Tensor)):
        # Tensors and numbers compare by value, but their types differ.
        same = isinstance(left, Container) and isinstance(right, Container) and left == right
        return [] if same else [Difference(what, False, "tree", _word(left), _word(right))]
    if isinstance(left, float) and isinstance(right, float):
        # A float comes from `.item()` or `.tolist()` of a tensor that was float32 or narrower.
        return _tensors(what, torch.tensor(left), torch.tensor(right), False)
    if left is None and right is None:
        return []
    same = alike(left, right)
    return [Difference(what, same, "Python value", _word(left), _word(right))]


def _word(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return "a tensor"
    if isinstance(value, Container):
        return str(value)
    plain = isinstance(value, (bool, int, float, complex, str, bytes, type(None), set, frozenset))
    return repr(value)[:60] if plain else type(value).__qualname__


def _tensors(what: str, left: torch.Tensor, right: torch.Tensor, layout: bool) -> list[Difference]:
    for kind in ("type", "layout", "device", "dtype", "shape"):
        expected, actual = _fact(left, kind), _fact(right, kind)
        if expected != actual:
            return [Difference(what, False, kind, expected, actual, dtype=_short(left))]
    found = [_values(what, left, right)]
    for kind in ("strides", "requires_grad") if layout else ():
        expected, actual = _fact(left, kind), _fact(right, kind)
        if expected != actual:
            found.append(Difference(what, False, kind, expected, actual, dtype=_short(left)))
    return found


def _short(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _fact(tensor: torch.Tensor, kind: str) -> str:
    if kind == "type":
        return type(tensor).__qualname__
    if kind == "shape":
        return str(list(tensor.shape))
    if kind == "strides":
        return _strides(tensor)
    return str(getattr(tensor, kind)).removeprefix("torch.")


def _strides(tensor: torch.Tensor) -> str:
    """Return the strides that determine element positions: the stride of a dimension of size 1 does not."""
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return ""
    return str([stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1])


def _values(what: str, left: torch.Tensor, right: torch.Tensor) -> Difference:
    found = Difference(what, True, dtype=_short(left), tolerance=TOLERANCE.get(left.dtype, 0.0))
    if left.layout != torch.strided or left.is_quantized:
        kind = "quantised" if left.is_quantized else str(left.layout).removeprefix("torch.")
        return replace(found, same=None, reason=f"{kind} tensors are not compared")
    try:
        with torch._C.DisableTorchFunctionSubclass():
            gap = distance(left, right)
            excess = beyond(left, right, gap, left.dtype)
    except (RuntimeError, NotImplementedError, TypeError):
        return replace(found, same=None, reason=f"torch cannot compare {found.dtype}")
    return replace(
        found,
        same=not excess,
        max_abs=math.inf if gap.odd else gap.max_error,
        error=math.inf if gap.odd else relative(gap.error, gap.norm),
        actual=in_words(gap, left.dtype, excess) if excess else "",
    )


def relative(error: float, norm: float) -> float:
    """Return an error relative to a norm."""
    return error / norm if norm else (math.inf if error else 0.0)


def close(left: torch.Tensor, right: torch.Tensor, dtype: torch.dtype, factor: float = 1.0) -> bool:
    """Return True if two tensors are within `factor` times the tolerance of a dtype."""
    return not beyond(left, right, distance(left, right), dtype, factor)


@dataclass(frozen=True, slots=True)
class Excess:
    """Groups of one kind beyond the tolerance: their number, and the error of the worst one.

    `kind` is `elements` if elements differ, or are NaN or infinite on one side, and no error is measured.
    """

    kind: str
    groups: int = 0
    of: int = 0
    worst: float = 0.0


def beyond(
    left: torch.Tensor, right: torch.Tensor, gap: Distance, dtype: torch.dtype, factor: float = 1.0
) -> list[Excess]:
    """Return everything beyond `factor` times the tolerance; empty if both are close."""
    if not gap.unequal:
        return []
    if gap.odd or not (dtype.is_floating_point or dtype.is_complex):
        return [Excess("elements")]
    tolerance = TOLERANCE.get(dtype, 0.0) * factor
    found = []
    for group in scaled(left, right, floor(dtype)):
        which = failing(group, tolerance)
        worst = group.most if group.kind == "whole" else group.rms
        if which.any():
            found.append(Excess(group.kind, int(which.sum()), which.numel(), float(worst.max())))
    return found


def failing(group: Groups, tolerance: float) -> torch.Tensor:
    """Return a mask of the groups of a kind whose errors are too large."""
    if group.kind == "whole":
        return (group.rms > tolerance) | (group.most > ELEMENT * tolerance)
    return group.rms > ELEMENT * tolerance


def floor(dtype: torch.dtype) -> float:
    """Return the error allowed below the smallest normal number: all of it if flushed to zero, else two steps."""
    limits = torch.finfo(dtype)
    wide = limits.bits >= 32 or dtype == torch.bfloat16
    return float(limits.smallest_normal if wide else 2 * limits.smallest_normal * limits.eps)


def in_words(gap: Distance, dtype: torch.dtype, excess: Sequence[Excess]) -> str:
    """Return what is wrong with a compiled tensor, in short words."""
    if gap.odd:
        return f"{number(gap.odd)} of {number(gap.elements)} elements are NaN or infinite on one side alone"
    if not (dtype.is_floating_point or dtype.is_complex):
        return f"{number(gap.unequal)} of {number(gap.elements)} elements differ"
    if gap.norm and not gap.other_norm:
        return "all zeros"
    if not gap.norm:
        return f"up to {number(gap.max_error)}, where eager has zeros"
    ratio = gap.other_norm / gap.norm
    if abs(ratio - 1) >= 0.005:
        return f"{number(ratio)} times eager's norm"
    tolerance = TOLERANCE.get(dtype, 0.0)
    if gap.error > tolerance * gap.norm:
        return f"off by {number(gap.error / gap.norm)} of eager's norm"
    if gap.max_error > ELEMENT * tolerance * gap.largest:
        return f"an element is off by {number(gap.max_error / gap.largest)} of eager's largest"
    worst = excess[0]
    if worst.kind == "whole":
        some = f"{number(gap.unequal)} of {number(gap.elements)} elements differ"
        return f"{some}, by up to {number(worst.worst)} of the magnitude around them"
    some = f"{number(worst.groups)} of {number(worst.of)} {worst.kind} {agree(worst.groups, 'is', 'are')} off"
    return f"{some} by up to {number(worst.worst)} of {agree(worst.groups, 'its', 'their')} magnitude"

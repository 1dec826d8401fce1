"""Comparison of eager and compiled results of two model copies with the same seed.

Each error is divided by its element's magnitude, or by the typical magnitude around it if that is larger.
The root mean square of these errors must be within the tolerance for each part of the tensor (elements of
similar magnitude), and within `ELEMENT` times the tolerance for each row, column and element. Integers,
types, shapes and strides are compared exactly.
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
from core.worker.results.distance import Distance, distance
from core.worker.results.named import Container, Leaves, alike
from core.worker.results.scaled import Groups, group_error, scaled

TOLERANCE = {getattr(torch, name): part for name, part in BY_NORM.items()}


@dataclass(frozen=True, slots=True)
class Precision:
    """Tolerance, allowed absolute error near zero, and epsilon; all 0 for exact values."""

    tolerance: float = 0.0
    floor: float = 0.0
    eps: float = 0.0

    @classmethod
    def of(cls, value: Any) -> Precision:
        """Return the precision of a tensor, or of a float: float32, as it is usually a tensor's item."""
        if not isinstance(value, torch.Tensor):
            of_float32 = cls.of(torch.empty(0))
            return of_float32 if _is_float32(value) else replace(of_float32, floor=floor(torch.float64))
        if not _is_inexact(value):
            return cls()
        return cls(TOLERANCE.get(value.dtype, 0.0), floor(value.dtype), torch.finfo(value.dtype).eps)


def _is_float32(value: float) -> bool:
    return value != value or torch.tensor(value).item() == value


ELEMENT = 20
# Rows or columns are named if at most one of so many exceeds the tolerance.
FEW_GROUPS = 8
KEYS_WIDTH = 120


def compare(eager: Leaves, compiled: Leaves, layout: bool = False) -> list[Difference]:
    """Compare each eager result with the compiled result of the same name; return all Difference rows.

    A missing element is reported once, for its container. `layout` also compares strides and requires_grad.
    """
    pairs = [(name, leaf, compiled[name]) for name, leaf in eager.items() if name in compiled]
    return [item for name, one, other in pairs for item in compare_leaf(name, one, other, layout)]


def compare_leaf(what: str, left: Any, right: Any, layout: bool = False) -> list[Difference]:
    """Return the Difference rows of two leaves; empty for equal containers and for None on both sides.

    If tensors differ in type, layout, device, dtype or shape, the first such property is the only row.
    """
    if isinstance(left, torch.Tensor) and isinstance(right, torch.Tensor):
        return _tensors(what, left, right, layout)
    if isinstance(left, (Container, torch.Tensor)) or isinstance(right, (Container, torch.Tensor)):
        # Tensors and numbers compare by value, but their types differ.
        same = isinstance(left, Container) and isinstance(right, Container) and left == right
        return [] if same else [Difference(what, False, "tree", *_tree_words(left, right))]
    if isinstance(left, float) and isinstance(right, float):
        one, other = (torch.tensor(side, dtype=torch.float64) for side in (left, right))
        return [replace(_values(what, one, other, Precision.of(left)), dtype="float32")]
    if left is None and right is None:
        return []
    same = alike(left, right)
    return [Difference(what, same, "Python value", _word(left), _word(right))]


def _tree_words(left: Any, right: Any) -> tuple[str, str]:
    """Return two different containers or leaves in words, by their different keys if all else is equal."""
    words = _word(left), _word(right)
    if words[0] != words[1] or not (isinstance(left, Container) and isinstance(right, Container)):
        return words
    sides = [key for key in left.keys if key not in right.keys], [key for key in right.keys if key not in left.keys]
    if not (sides[0] or sides[1]):
        return _with_keys(left.type, left.keys), _with_keys(right.type, right.keys)
    return _with_keys(left.type, sides[0]), _with_keys(right.type, sides[1])


def _with_keys(kind: str, keys: Sequence[str]) -> str:
    return f"{kind} with {', '.join(keys)}"[:KEYS_WIDTH] if keys else f"{kind} without them"


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
    found = [_values(what, left, right, Precision.of(left))]
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
    """Return the strides as text, without dimensions of size 1, or empty if they have no effect."""
    if tensor.layout != torch.strided or tensor.numel() == 0:
        return ""
    return str([stride for stride, size in zip(tensor.stride(), tensor.shape, strict=True) if size > 1])


def _values(what: str, left: torch.Tensor, right: torch.Tensor, precision: Precision) -> Difference:
    found = Difference(what, True, dtype=_short(left), tolerance=precision.tolerance)
    if left.layout != torch.strided or left.is_quantized:
        kind = "quantised" if left.is_quantized else str(left.layout).removeprefix("torch.")
        return replace(found, same=None, reason=f"{kind} tensors are not compared")
    try:
        with torch._C.DisableTorchFunctionSubclass():
            gap = distance(left, right)
            excess = beyond(left, right, precision, gap=gap)
    except (RuntimeError, TypeError):
        return replace(found, same=None, reason=f"torch cannot compare {found.dtype}")
    return replace(
        found,
        same=not excess,
        max_abs=math.inf if gap.odd else gap.max_error,
        error=math.inf if gap.odd else relative(gap.error, gap.norm),
        actual=in_words(gap, precision, excess) if excess else "",
    )


def relative(error: float, norm: float) -> float:
    """Return error / norm; for a norm of 0, infinity, or 0 if the error is 0 too."""
    return error / norm if norm else (math.inf if error else 0.0)


def close(left: torch.Tensor, right: torch.Tensor, precision: Precision, factor: float = 1.0) -> bool:
    """Return True if two tensors are within `factor` times the tolerance."""
    return not beyond(left, right, precision, factor)


@dataclass(frozen=True, slots=True)
class Excess:
    """Groups of one kind beyond the tolerance: `groups` of `of`, and the error of the worst one.

    The kind is `small parts` if no part of the largest magnitude is among them. The error of a row or column is
    relative to its norm, the error of a part to the magnitude around an element.
    For the kind `elements`, no error is measured: integers differ, or an element is NaN or infinite on one side
    only.
    """

    kind: str
    groups: int = 0
    of: int = 0
    worst: float = 0.0


def beyond(
    left: torch.Tensor, right: torch.Tensor, precision: Precision, factor: float = 1.0, gap: Distance | None = None
) -> list[Excess]:
    """Return the kinds of groups beyond `factor` times the tolerance; empty if the tensors are close."""
    gap = gap or distance(left, right)
    if not gap.unequal:
        return []
    if gap.odd or not _is_inexact(left):
        return [Excess("elements")]
    tolerance = precision.tolerance * factor
    found = []
    for group in scaled(left, right, precision.floor):
        which = failing(group, tolerance)
        if not which.any():
            continue
        if group.kind == "parts":
            kind, worst = "parts" if which[-1] else "small parts", float(group.most.max())
        else:
            kind, worst = group.kind, group_error(left, right, group.kind, int(group.rms.argmax()))
        found.append(Excess(kind, int(which.sum()), which.numel(), worst))
    return found


def _is_inexact(tensor: torch.Tensor) -> bool:
    return tensor.is_floating_point() or tensor.is_complex()


def failing(group: Groups, tolerance: float) -> torch.Tensor:
    """Return a mask of the groups with too large errors."""
    if group.kind == "parts":
        return (group.rms > tolerance) | (group.most > ELEMENT * tolerance)
    return group.rms > ELEMENT * tolerance


def floor(dtype: torch.dtype) -> float:
    """Return the allowed absolute error near zero.

    For bfloat16 and dtypes of 32 bits or more, it is the smallest normal number, since code may flush subnormal
    numbers to zero. For float16 and narrower dtypes, it is two subnormal steps.
    """
    limits = torch.finfo(dtype)
    wide = limits.bits >= 32 or dtype == torch.bfloat16
    return float(limits.smallest_normal if wide else 2 * limits.smallest_normal * limits.eps)


def in_words(gap: Distance, precision: Precision, excess: Sequence[Excess]) -> str:
    """Describe in a few words how a compiled tensor differs from eager's."""
    if gap.odd:
        return f"{number(gap.odd)} of {number(gap.elements)} elements are NaN or infinite on one side alone"
    if not precision.eps:
        return f"{number(gap.unequal)} of {number(gap.elements)} elements differ"
    if gap.norm and not gap.other_norm:
        return "all zeros"
    if not gap.norm:
        return f"up to {number(gap.max_error)}, where eager has zeros"
    ratio = gap.other_norm / gap.norm
    if abs(ratio - 1) >= 0.005:
        return f"{number(ratio)} times eager's norm"
    tolerance = precision.tolerance
    if gap.error > tolerance * gap.norm:
        return f"off by {number(gap.error / gap.norm)} of eager's norm"
    if gap.max_error > ELEMENT * tolerance * gap.largest:
        return f"an element is off by {number(gap.max_error / gap.largest)} of eager's largest"
    few = (each for each in excess if each.kind in ("rows", "columns") and each.groups * FEW_GROUPS <= each.of)
    worst = next(few, excess[0])
    if worst.kind not in ("rows", "columns"):
        some = f"{number(gap.unequal)} of {number(gap.elements)} elements differ"
        return f"{some}, by up to {number(worst.worst)} of the magnitude around them"
    some = f"{number(worst.groups)} of {number(worst.of)} {worst.kind} {agree(worst.groups, 'is', 'are')} off"
    return f"{some} by up to {number(worst.worst)} of {agree(worst.groups, 'its', 'their')} norm"

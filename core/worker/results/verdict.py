"""Verdict on one difference by a float64 reference: is it rounding, or is compiled wrong?

A difference is excused if eager is about as far from float64 as compiled, or where eager itself lost its digits
and the measured rounding noise explains both errors. torch's own accuracy check is a second opinion.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch._dynamo.utils import same as same_by_torch

from core.base.tolerances import BY_NORM_TF32, TORCH_OTHERWISE, TORCH_SAME
from core.report import Difference
from core.worker.results.compare import ELEMENT, Precision, beyond, close, failing
from core.worker.results.distance import distance
from core.worker.results.scaled import Groups, scaled, typical_around, wide

# Allowed multiple of eager's error, by tensor size, as in torch's own accuracy check.
FACTORS = ((10, 10.0), (500, 8.0), (math.inf, 3.0))
FACTOR = FACTORS[-1][1]
# Luck decides the error of so few elements, so that the rounding noise counts beside eager's error.
FEW = 500
# Allowed multiple of the tolerance between two correct computations, if there is no reference.
UNSURE = 20.0
# Where eager's error is a larger part of the result, eager lost its digits.
LOST = 0.3
# Allowed multiple of the rounding noise: a long sum adds up more roundings than the noise has.
MUCH = 64.0
# The noise of an element is so many times smaller than the noise around it only by luck.
LUCK = 30.0
NO_REFERENCE = "within what two ways of computing may differ by; the model could not be run in float64 to tell"
UNRESOLVED = "the model could not be run in float64 to tell whether that is rounding"
ROUNDING = "eager is about as far from the result in float64"
NOISE = "zero but for rounding"
RIGHT = "eager loses it in rounding or overflows; compiled is right by float64"
LOST_IN_ROUNDING = "eager's own rounding is too large a part of it: float64 gives something else"

# Returns the absolute rounding noise of each element; None if it can't be measured.
Noise = Callable[[], torch.Tensor | None]


def without_reference(
    difference: Difference, left: torch.Tensor, right: torch.Tensor, precision: Precision | None = None
) -> Difference:
    """Return the verdict without a float64 reference; the limit is `UNSURE` times the tolerance.

    Within the limit, the verdict is undecided unless torch's own accuracy check accepts the results. It is also
    undecided if only rows, columns or parts of small magnitude exceed the limit, since this may be rounding.
    """
    kinds = {excess.kind for excess in beyond(left, right, precision or Precision.of(left), UNSURE)}
    if not kinds and is_close_by_torch(left, right):
        return replace(difference, same=True, reason=NO_REFERENCE)
    if kinds & {"elements", "parts"}:
        return difference
    return replace(difference, same=None, reason=f"{difference.actual}; {UNRESOLVED}")


def is_close_by_torch(left: torch.Tensor, right: torch.Tensor) -> bool:
    """Return True if torch's own check accepts tensors without a reference, or can't check them."""
    if left.layout != torch.strided or left.is_quantized or not left.numel():
        return True
    tolerance = _tolerance_by_torch(left.dtype)
    try:
        with torch._C.DisableTorchFunctionSubclass():
            return torch.allclose(left, right, atol=tolerance, rtol=tolerance, equal_nan=True)
    except (RuntimeError, TypeError):
        return True


def refused_by_torch(eager: torch.Tensor, compiled: torch.Tensor, reference: torch.Tensor) -> bool | None:
    """Return True if `torch._dynamo.utils.same` refuses compiled; None if it can't check such values."""
    tolerance = _tolerance_by_torch(eager.dtype)
    try:
        with torch._C.DisableTorchFunctionSubclass():
            sides = (side.detach() for side in (eager, compiled, reference))
            return not same_by_torch(*sides, tol=tolerance, equal_nan=True, log_error=lambda *_: None)
    except (RuntimeError, TypeError, AssertionError):
        return None


def _tolerance_by_torch(dtype: torch.dtype) -> float:
    return TORCH_SAME.get(str(dtype).removeprefix("torch."), TORCH_OTHERWISE)


def judged(
    difference: Difference,
    eager: torch.Tensor,
    compiled: torch.Tensor,
    reference: torch.Tensor,
    noise: Noise = lambda: None,
    precision: Precision | None = None,
) -> Difference:
    """Return the verdict by a float64 reference; the precision is eager's by default.

    Elements where eager lost its digits are judged apart from all others, so that they can't hide a wrong value.
    """
    precision = precision or precision_of(eager, compiled, reference)
    if not precision.eps:
        mine, theirs = distance(reference, eager), distance(reference, compiled)
        same = theirs.unequal <= _factor(eager.numel()) * mine.unequal
        return replace(difference, same=same, reason=ROUNDING if same else "")
    return _Verdict(difference, precision, wide(eager), wide(compiled), wide(reference), noise).decide()


def precision_of(eager: Any, compiled: torch.Tensor, reference: torch.Tensor) -> Precision:
    """Return eager's precision: that of TF32 if eager has errors of that size on a device with TF32.

    A product in TF32 has other errors in each algorithm, row by row; in all, compiled's must be about eager's.
    """
    precision = Precision.of(eager)
    if not (isinstance(eager, torch.Tensor) and eager.dtype == torch.float32 and _has_tf32()):
        return precision
    mine, theirs = distance(reference, eager), distance(reference, compiled)
    rounded = mine.error > precision.tolerance * mine.norm and theirs.error <= FACTOR * mine.error
    if not rounded or mine.odd or theirs.odd:
        return precision
    return replace(precision, tolerance=BY_NORM_TF32, eps=torch.finfo(torch.float16).eps)


def _has_tf32() -> bool:
    """Return True if the process uses a device with TF32; the query would initialize CUDA."""
    return torch.cuda.is_initialized() and torch.cuda.is_tf32_supported()


@dataclass(frozen=True, slots=True)
class _Verdict:
    """Verdict on a floating difference: both values and the reference in float64, and the rounding noise."""

    difference: Difference
    precision: Precision
    eager: torch.Tensor
    compiled: torch.Tensor
    exact: torch.Tensor
    noise: Noise

    def decide(self) -> Difference:
        """Return the difference with its verdict."""
        differing = ~((self.eager == self.compiled) | (self.eager.isnan() & self.compiled.isnan()))
        lost = differing & self._is_lost()
        rest = differing & ~lost
        finite = self.exact.isfinite() & self.eager.isfinite() & self.compiled.isfinite()
        if (rest & ~finite).any() or not self._is_as_near(rest):
            return self.difference
        if self._is_within(lost):
            return self._excused(True, ROUNDING)
        zeros = [side.masked_fill(~lost, 0) for side in (self.exact, self.compiled)]
        if close(zeros[0], zeros[1], self.precision, 2):
            return self._excused(True, RIGHT)
        if (lost & ~finite).any():
            return self.difference
        return self._where_lost(lost)

    def _excused(self, same: bool | None, reason: str) -> Difference:
        return replace(self.difference, same=same, reason=reason)

    def _is_lost(self) -> torch.Tensor:
        """Return a mask of the elements where eager has no correct digit by float64."""
        error = error_of(self.eager, self.exact)
        return self.exact.isfinite() & (~self.eager.isfinite() | (error >= LOST * self.exact.abs()))

    def _is_within(self, which: torch.Tensor) -> bool:
        """Return True if the elements of a mask are within the tolerance."""
        compiled = torch.where(which, self.compiled, self.eager)
        return close(self.eager, compiled, self.precision)

    def _is_as_near(self, which: torch.Tensor) -> bool:
        """Return True if elements are within the tolerance, or about as near to float64 as eager's."""
        if self._is_within(which):
            return True
        errors = error_of(self.eager, self.exact)
        near = self._near(which, errors)
        if near.all():
            return True
        noise = self.noise()
        return noise is not None and bool((near | self._near(which, torch.maximum(errors, noise), noisy=True)).all())

    def _near(self, which: torch.Tensor, errors: torch.Tensor, noisy: bool = False) -> torch.Tensor:
        """Return for each failing group whether compiled's error is at most a small factor times `errors`.

        With `noisy`, the errors include the rounding noise, and only groups of few elements can be near.
        """
        compiled = torch.where(which, self.compiled, self.eager)
        groups = scaled(self.eager, compiled, self.precision.floor, (errors, error_of(compiled, self.exact)))
        return torch.cat([_as_near(group, self.precision, noisy) for group in groups])

    def _where_lost(self, lost: torch.Tensor) -> Difference:
        """Return the verdict on elements where eager lost its digits and compiled isn't right either."""
        mine, theirs = (error_of(side, self.exact).masked_fill(~lost, 0) for side in (self.eager, self.compiled))
        noise = self.noise()
        if noise is not None:
            noise = noise.masked_fill(~lost, 0)
            if _is_explained(mine, noise, MUCH) and _is_explained(theirs, noise, MUCH):
                return self._excused(True, NOISE)
        if _is_explained(theirs, mine, _factor(int(lost.sum()))):
            return self._excused(None, LOST_IN_ROUNDING)
        return self.difference


def _as_near(group: Groups, precision: Precision, noisy: bool) -> torch.Tensor:
    """Return for each failing group whether the second tensor is about as near as the first.

    The factor for few elements allows for luck. An error of one rounding, and one that includes the noise, does not
    need it.
    """
    assert group.mine is not None
    assert group.theirs is not None
    which = failing(group, precision.tolerance)
    differing = group.differing[which]
    (mine_rms, mine_most), (rms, most) = ([part[which] for part in found] for found in (group.mine, group.theirs))
    factors = torch.full_like(differing, FACTOR)
    for most_elements, factor in reversed(FACTORS):
        factors[(differing < most_elements) & (mine_rms > precision.eps) & (not noisy)] = factor
    least = max(precision.tolerance / 10, precision.eps / 2)
    near = (rms <= factors * mine_rms + least) & (most <= factors * mine_most + ELEMENT * least)
    return near & (differing < FEW) if noisy else near


def _is_explained(errors: torch.Tensor, level: torch.Tensor, factor: float) -> bool:
    """Return True if each error is at most `factor` times its level or the typical level around."""
    typical = torch.minimum(typical_around(level), LUCK * level)
    return bool((errors <= factor * torch.maximum(level, typical)).all())


def error_of(values: torch.Tensor, reference: torch.Tensor) -> torch.Tensor:
    """Return the absolute error of each element, 0 where it is infinite or NaN."""
    return (wide(values) - wide(reference)).abs().nan_to_num(0, 0, 0)


def _factor(elements: int) -> float:
    return next(factor for limit, factor in FACTORS if elements < limit)

"""Accuracy of one value, and of one call's results: eager and compiled compared with float64."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch

from core.report import Accuracy, CallNumerics, Difference, ResultAccuracy
from core.worker.results.compare import compare_leaf, relative
from core.worker.results.distance import Distance, distance
from core.worker.results.judge import CallContext, Judge
from core.worker.results.named import Leaves
from core.worker.results.verdict import Noise, judged

VALUES = ("value", "mutation")
NOT_RUN = "the model could not be run in float64"


def accuracy(what: str, eager: torch.Tensor, compiled: Any, reference: Any, noise: Noise) -> Accuracy:
    """Return the errors of eager and compiled, and whether compiled is as accurate as eager."""
    told = compare_leaf(what, eager, compiled)[0]
    found = Accuracy(told.dtype, eager.numel(), tolerance=told.tolerance, same=told.same, reason=told.reason)
    if told.kind != "value" or told.same is None:
        return replace(found, reason=told.reason or f"{told.kind}: {told.expected} in eager, {told.actual} in compiled")
    found = replace(found, apart=apart(eager, compiled))
    if not _fits(reference, eager):
        return replace(found, reason=found.reason or "float64 gives no such value")
    if told.same is False:
        last = judged(told, eager, compiled, reference, noise)
        found = replace(found, same=last.same, reason=last.reason)
    return with_errors(found, eager, compiled, reference)


def with_errors(accuracy: Accuracy, eager: torch.Tensor, compiled: torch.Tensor, reference: torch.Tensor) -> Accuracy:
    """Return the accuracy with both errors against float64."""
    one, other = distance(reference, eager), distance(reference, compiled)
    return replace(
        accuracy,
        eager_error=_error(one, eager.dtype),
        compiled_error=_error(other, eager.dtype),
        eager_max_abs=one.max_error,
        compiled_max_abs=other.max_error,
        eager_odd=one.odd,
        compiled_odd=other.odd,
    )


def judged_before(difference: Difference, eager: Any, compiled: Any, reference: Any) -> Accuracy:
    """Return the errors of a value whose difference was judged before."""
    found = Accuracy(difference.dtype, tolerance=difference.tolerance, same=difference.same, reason=difference.reason)
    if not isinstance(eager, torch.Tensor) or not _fits(compiled, eager):
        return found
    found = replace(found, elements=eager.numel(), apart=apart(eager, compiled))
    return with_errors(found, eager, compiled, reference) if _fits(reference, eager) else found


def apart(left: torch.Tensor, right: Any) -> float | None:
    """Return the relative error between two values; None if they are not comparable."""
    return _error(distance(left, right), left.dtype) if _fits(right, left) else None


def _fits(value: Any, like: torch.Tensor) -> bool:
    return isinstance(value, torch.Tensor) and value.shape == like.shape and value.layout == torch.strided


def _error(gap: Distance, dtype: torch.dtype) -> float | None:
    """Return the relative error, of integers the share of unequal elements; None if infinite or NaN."""
    if not (dtype.is_floating_point or dtype.is_complex):
        return gap.unequal / gap.elements if gap.elements else 0.0
    found = relative(gap.error, gap.norm)
    return found if found < float("inf") else None


def call_numerics(
    judge: Judge, call: CallContext, differences: Sequence[Difference], eager: Leaves, compiled: Leaves
) -> CallNumerics:
    """Return the record of a call whose results were judged."""
    others = judge.other_numbers(call.drawn)
    known = {} if others else judge.reference(call, eager)
    rows = [
        ResultAccuracy(item.what, judged_before(item, eager[item.what], compiled.get(item.what), known.get(item.what)))
        for item in differences
        if item.kind in VALUES and isinstance(eager.get(item.what), torch.Tensor)
    ]
    refused = f"{NOT_RUN}: {judge.refused}" if judge.refused else NOT_RUN
    reason = others or ("" if known else refused)
    narrowed = tuple(sorted(judge.float64.narrowed))
    return CallNumerics(call=call.index, results=tuple(rows), reason=reason, narrowed=narrowed)

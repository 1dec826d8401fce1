"""Accuracy class of one value: compiled and eager compared with float64."""

from __future__ import annotations

from typing import Literal

from core.report import Accuracy

Standing = Literal["the same bits", "closer", "as close", "further", "differs", "not told"]
# Errors less than this factor apart count as equal: the order of a sum alone can cause it.
CLEAR = 1.25


def standing(accuracy: Accuracy) -> Standing:
    """Return the accuracy class; `differs` is further from float64 than rounding explains."""
    if accuracy.same is False:
        return "differs"
    if accuracy.apart == 0 and accuracy.same:
        return "the same bits"
    errors = both_errors(accuracy)
    if accuracy.same is None or errors is None:
        return "not told"
    if accuracy.eager_odd != accuracy.compiled_odd:
        return "closer" if accuracy.compiled_odd < accuracy.eager_odd else "further"
    eager, compiled = errors
    if compiled * CLEAR < eager:
        return "closer"
    return "further" if compiled > eager * CLEAR else "as close"


def both_errors(accuracy: Accuracy) -> tuple[float, float] | None:
    """Return the errors of eager and compiled: relative, or absolute if float64 has zeros only.

    None if float64 is unknown.
    """
    if accuracy.eager_error is not None and accuracy.compiled_error is not None:
        return accuracy.eager_error, accuracy.compiled_error
    if accuracy.eager_max_abs is not None and accuracy.compiled_max_abs is not None:
        return accuracy.eager_max_abs, accuracy.compiled_max_abs
    return None


def of_tolerance(accuracy: Accuracy) -> float | None:
    """Return compiled's error as a fraction of the dtype's tolerance; None without such a limit."""
    if accuracy.compiled_error is None or not accuracy.tolerance:
        return None
    return accuracy.compiled_error / accuracy.tolerance

"""Accuracy class of one value: compiled and eager compared with float64."""

from __future__ import annotations

from typing import Literal

from core.report import Accuracy

Standing = Literal["the same bits", "closer", "as close", "further", "differs", "not told"]
# Errors that are less than this factor apart are the same: the order in which a sum is taken makes as much.
CLEAR = 1.25


def standing(found: Accuracy) -> Standing:
    """Return the accuracy class; `differs` is further from float64 than rounding explains."""
    if found.same is False:
        return "differs"
    if found.apart == 0 and found.same:
        return "the same bits"
    errors = both_errors(found)
    if found.same is None or errors is None:
        return "not told"
    if found.eager_odd != found.compiled_odd:
        return "closer" if found.compiled_odd < found.eager_odd else "further"
    eager, compiled = errors
    if compiled * CLEAR < eager:
        return "closer"
    return "further" if compiled > eager * CLEAR else "as close"


def both_errors(found: Accuracy) -> tuple[float, float] | None:
    """Return the errors of eager and compiled: relative, or absolute if float64 has zeros only.

    None if float64 is unknown.
    """
    if found.eager_error is not None and found.compiled_error is not None:
        return found.eager_error, found.compiled_error
    if found.eager_max_abs is not None and found.compiled_max_abs is not None:
        return found.eager_max_abs, found.compiled_max_abs
    return None


def of_tolerance(found: Accuracy) -> float | None:
    """Return compiled's error as a fraction of the dtype's tolerance; None without such a limit."""
    if found.compiled_error is None or not found.tolerance:
        return None
    return found.compiled_error / found.tolerance

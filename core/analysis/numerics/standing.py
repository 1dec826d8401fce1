"""One value: whether compiled is nearer to float64 than eager."""

from __future__ import annotations

from typing import Literal

from core.report import Accuracy

Standing = Literal["the same bits", "closer", "as close", "further", "differs", "not told"]
# Errors that are less than this factor apart are the same: the order in which a sum is taken makes as much.
CLEAR = 1.25


def standing(found: Accuracy) -> Standing:
    """Compiled against eager, as seen from float64; what differs is further from it than rounding explains."""
    if found.same is False:
        return "differs"
    if found.apart == 0 and found.same:
        return "the same bits"
    if found.same is None or found.eager_error is None or found.compiled_error is None:
        return "not told"
    if found.eager_odd != found.compiled_odd:
        return "closer" if found.compiled_odd < found.eager_odd else "further"
    if found.compiled_error * CLEAR < found.eager_error:
        return "closer"
    return "further" if found.compiled_error > found.eager_error * CLEAR else "as close"


def of_tolerance(found: Accuracy) -> float | None:
    """Compiled's error as a part of what the dtype allows; None where there is no such limit."""
    if found.compiled_error is None or not found.tolerance:
        return None
    return found.compiled_error / found.tolerance

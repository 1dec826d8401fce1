"""Result of torch's CompilerBisector in words."""

from __future__ import annotations

from core.base.words import count, duration_s, ordinal
from core.report import Bisection

NAMED = 300


def bisection_words(bisection: Bisection) -> str:
    """Return the part at fault in a sentence, with the number of trials; names are in backticks."""
    trials = f"{count(bisection.trials, 'trial')} in {duration_s(bisection.seconds)}"
    return f"{_cause(bisection)} (torch's CompilerBisector, {trials})." if bisection.trials else f"{_cause(bisection)}."


def _cause(bisection: Bisection) -> str:
    what = " ".join(bisection.what.replace("`", "'").split())[:NAMED]
    if bisection.problem:
        return f"The cause was not narrowed down: {bisection.problem}"
    if not bisection.backend:
        return "No backend that torch's bisector tries fails or differs"
    if not bisection.subsystem:
        return f"`{bisection.backend}` is the first backend that fails or differs; no single part of it is the cause"
    if bisection.application is None:
        return f"With `{what}`, the model neither fails nor differs"
    where = f"the {ordinal(bisection.application + 1)} application of `{bisection.subsystem}` in `{bisection.backend}`"
    return f"The cause is {where}{what and f': `{what}`'}"

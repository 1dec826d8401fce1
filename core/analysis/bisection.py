"""Result of torch's CompilerBisector in words."""

from __future__ import annotations

from core.base.words import count, duration_s, number, ordinal
from core.report import Bisection

NAMED = 300
DIFFERS = "differs"
LOWERINGS = "lowerings"


def bisection_words(bisection: Bisection) -> str:
    """Return the part at fault in a sentence, with the number of trials; names are in backticks."""
    trials = f"{count(bisection.trials, 'trial')} in {duration_s(bisection.seconds)}"
    return f"{_cause(bisection)} (torch's CompilerBisector, {trials})." if bisection.trials else f"{_cause(bisection)}."


def _cause(bisection: Bisection) -> str:
    what = _named(bisection.what)
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


def opaque_words(bisection: Bisection) -> str:
    """Return how to keep Inductor from a lowering at fault, in a sentence; empty for another cause."""
    if bisection.subsystem != LOWERINGS or not bisection.what:
        return ""
    node = _named(bisection.what)
    return f"Until it is fixed: Inductor does not lower an op inside `torch.library.custom_op`; put `{node}` into one."


def _named(what: str) -> str:
    """Return what the bisector names in one line that stands in backticks."""
    return " ".join(what.replace("`", "'").split())[:NAMED]


def minified_words(bisection: Bisection) -> str:
    """Return what torch's minifier left, in a sentence; empty if it had nothing to do."""
    if not bisection.script:
        return f"No minified script: {bisection.not_minified}." if bisection.not_minified else ""
    what = "gives other results than eager" if bisection.outcome == DIFFERS else f"raises `{bisection.outcome}`"
    left = f"Torch's minifier left {number(bisection.ops)} of {count(bisection.captured_ops, 'op')}"
    alone = "" if bisection.reproduces else "; the script, run by Python alone, does not"
    return f"{left}: that graph {what}{alone}."


def nan_words(bisection: Bisection) -> str:
    """Return the first node that makes a NaN in a sentence; empty if there is none."""
    if not bisection.nan_node:
        return ""
    line = f", {bisection.nan_line.replace('`', chr(39))}" if bisection.nan_line else ""
    return f"In eager, the first node that makes a NaN is `{bisection.nan_node.replace('`', chr(39))}`{line}."

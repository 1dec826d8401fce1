"""Outcome of a compiled call: compiled, reused, left to eager, or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch._dynamo.utils import counters

from core.job import Conditions
from core.report import How
from core.worker.conditions.stances import refused
from core.worker.recorders.reuse import watching_reuse
from core.worker.results.effects import CallEffects


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """A call with its effects and seconds, or torch's message in `raised`.

    `compilations` counts the frames compiled meanwhile, `entered` the places that called a frame with a cache hit, and
    `newest` names the compilation used last for each frame that has code.
    """

    left: CallEffects | None
    seconds: float | None
    how: How
    compilations: int
    raised: str
    entered: int
    newest: tuple[str, ...]


def observed(conditions: Conditions, make: Callable[..., tuple[CallEffects, float]], /, *args: Any) -> CallOutcome:
    """Make a call and return its outcome; raises errors other than the stance's."""
    before = counters["frames"]["ok"]
    left, seconds, raised = None, None, ""
    with watching_reuse() as reuse:
        try:
            left, seconds = make(*args)
        except RuntimeError as error:
            if not refused(conditions, error):
                raise
            raised = str(error)
    compilations = max(0, counters["frames"]["ok"] - before)
    how: How = "raised" if raised else _how(compilations, bool(reuse.places), bool(reuse.missed))
    return CallOutcome(left, seconds, how, compilations, raised, len(reuse.places), reuse.newest)


def _how(compilations: int, entered: bool, missed: bool) -> How:
    if compilations:
        return "compiled"
    if entered:
        return "mixed" if missed else "reused"
    return "eager"

"""Whether compiled returned and did what eager returned and did, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.base.words import count, number
from core.report import Call, Difference, Report

Outcome = Literal["same", "differs", "other strides", "not comparable"]


@dataclass(frozen=True, slots=True)
class Results:
    """What differs from eager, what could not be told, and how many things of each kind a call compared."""

    differing: tuple[Difference, ...]
    untold: tuple[Difference, ...]
    compared: dict[str, int]

    @property
    def outcome(self) -> Outcome:
        """One difference makes the run differ; where elements lie in memory counts where nothing else is to be said."""
        if len(self.restrided) < len(self.differing):
            return "differs"
        if self.untold:
            return "not comparable"
        return "other strides" if self.restrided else "same"

    @property
    def restrided(self) -> tuple[Difference, ...]:
        """Tensors whose elements lie elsewhere in memory than eager's."""
        return tuple(item for item in self.differing if item.kind == "strides")

    @property
    def told(self) -> tuple[Difference, ...]:
        """What its outcome is about, strides last."""
        if self.outcome == "not comparable":
            return self.untold
        return tuple(sorted(self.differing, key=lambda item: item.kind == "strides"))


def results(report: Report) -> Results | None:
    """The comparison of a run, None if nothing was compared."""
    return results_of(report.calls)


def results_of(calls: Sequence[Call]) -> Results | None:
    """The comparison of some calls, None if nothing was compared."""
    found = [item for call in calls for item in call.differences]
    if not found:
        return None
    return Results(
        differing=tuple(item for item in found if item.same is False),
        untold=tuple(item for item in found if item.same is None),
        compared=next((call.compared for call in reversed(calls) if call.compared), {}),
    )


def difference_words(found: Difference) -> str:
    """One difference, or why there is none to tell, in a short sentence without its end."""
    if found.same is None:
        return f"{found.what}: {found.reason}"
    if found.kind == "mutation":
        one, other = ("eager", "compiled") if found.expected == "changed" else ("compiled", "eager")
        return f"{found.what} was changed by {one} and not by {other}"
    if found.kind == "value":
        return f"{found.what}: {found.actual or f'off by up to {number(found.max_abs)}'}"
    what = found.what if found.kind in ("tree", "aliasing", "Python value") else f"{found.kind} of {found.what}"
    return f"{what}: {found.expected} in eager, {found.actual} in compiled"


def results_words(found: Results) -> str:
    """What differs first, or why nothing can be told; empty if all is the same."""
    told = found.told
    if not told:
        return ""
    return difference_words(told[0]) + (f", and {number(len(told) - 1)} more" if len(told) > 1 else "")


def compared_words(compared: dict[str, int]) -> str:
    """`1 output, 14 gradients, 2 inputs`; empty if the log does not say."""
    return ", ".join(count(times, kind) for kind, times in compared.items())

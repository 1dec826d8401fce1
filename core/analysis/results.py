"""Comparison of compiled results and side effects with eager's, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.base.words import count, number
from core.report import Call, Difference, Report

Outcome = Literal["same", "differs", "other strides", "not comparable"]


@dataclass(frozen=True, slots=True)
class Results:
    """Differences from eager, undecided comparisons, and the number of compared values per kind."""

    differing: tuple[Difference, ...]
    untold: tuple[Difference, ...]
    compared: dict[str, int]

    @property
    def outcome(self) -> Outcome:
        """Outcome of the comparison: a single difference decides; strides count only without other differences."""
        if len(self.restrided) < len(self.differing):
            return "differs"
        if self.untold:
            return "not comparable"
        return "other strides" if self.restrided else "same"

    @property
    def restrided(self) -> tuple[Difference, ...]:
        """Tensors whose strides differ from eager's."""
        return tuple(item for item in self.differing if item.kind == "strides")

    @property
    def told(self) -> tuple[Difference, ...]:
        """Differences behind the outcome, strides last."""
        if self.outcome == "not comparable":
            return self.untold
        return tuple(sorted(self.differing, key=lambda item: item.kind == "strides"))


def results(report: Report) -> Results | None:
    """Return the comparison of a run; None if nothing was compared."""
    return results_of(report.calls)


def results_of(calls: Sequence[Call]) -> Results | None:
    """Return the comparison of some calls; None if nothing was compared."""
    found = [item for call in calls for item in call.differences]
    if not found:
        return None
    return Results(
        differing=tuple(item for item in found if item.same is False),
        untold=tuple(item for item in found if item.same is None),
        compared=next((call.compared for call in reversed(calls) if call.compared), {}),
    )


def difference_words(found: Difference) -> str:
    """Return a difference, or why it is undecided, in a short sentence without a full stop."""
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
    """Return the first difference, or why the comparison is undecided; empty if all results are equal."""
    told = found.told
    if not told:
        return ""
    return difference_words(told[0]) + (f", and {number(len(told) - 1)} more" if len(told) > 1 else "")


def compared_words(compared: dict[str, int]) -> str:
    """Return `1 output, 14 gradients, 2 inputs`; empty if the log does not have the counts."""
    return ", ".join(count(times, kind) for kind, times in compared.items())

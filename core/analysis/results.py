"""Comparison of compiled results and side effects with eager's, and a run's error, in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from core.base.words import count, number
from core.report import Call, Difference, Report

Outcome = Literal["same", "differs", "other strides", "not comparable"]
# Kinds of results whose differences come first; state of the user's code comes last.
RANKS = {"output": 0, "gradient": 1, "attribute": 3, "global": 3}
OTHER_RANK, STRIDES_RANK = 2, 4
TORCH_CHECK = "torch._dynamo.utils.same"
MAX_REASON_CHARS = 200  #: the error that ended a run, in a sentence


@dataclass(frozen=True, slots=True)
class Results:
    """Differences from eager, undecided comparisons, and the number of compared values per kind.

    `excused` are differences beyond the tolerance that count as the same, each for its reason. `refused` are results
    that torch's own accuracy check refuses, but Compileboard does not.
    """

    differing: tuple[Difference, ...]
    untold: tuple[Difference, ...]
    compared: dict[str, int]
    excused: tuple[Difference, ...] = ()
    refused: tuple[Difference, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """Outcome of the comparison: `differs` with any difference except strides, which count last."""
        if len(self.restrided) < len(self.differing):
            return "differs"
        if self.untold:
            return "not comparable"
        return "other strides" if self.restrided else "same"

    @property
    def restrided(self) -> tuple[Difference, ...]:
        """Tensors whose strides differ from eager's."""
        return tuple(difference for difference in self.differing if difference.kind == "strides")

    @property
    def told(self) -> tuple[Difference, ...]:
        """Differences that decide the outcome: outputs, gradients, inputs and state, attributes, strides."""
        return tuple(sorted(self.untold if self.outcome == "not comparable" else self.differing, key=_rank))


def _rank(difference: Difference) -> int:
    kind = difference.what.partition(" ")[0].partition("[")[0].partition(".")[0]
    return STRIDES_RANK if difference.kind == "strides" else RANKS.get(kind, OTHER_RANK)


def results(report: Report) -> Results | None:
    """Return the comparison of a run; None if nothing was compared."""
    return results_of(report.calls)


def results_of(calls: Sequence[Call]) -> Results | None:
    """Return the comparison of some calls; None if nothing was compared."""
    differences = [difference for call in calls for difference in call.differences]
    if not differences:
        return None
    return Results(
        differing=tuple(difference for difference in differences if difference.same is False),
        untold=tuple(difference for difference in differences if difference.same is None),
        compared=next((call.compared for call in reversed(calls) if call.compared), {}),
        excused=tuple(difference for difference in differences if difference.same and difference.reason),
        refused=tuple(difference for difference in differences if difference.refused_by_torch),
    )


def excuse_words(comparison: Results) -> list[str]:
    """Return the excused differences and the refusals of torch's own check, each as a sentence."""
    excused = [f"{row.what} counts as the same ({row.actual or row.kind}): {row.reason}" for row in comparison.excused]
    refused = [f"torch's own check (`{TORCH_CHECK}`) refuses {row.what}" for row in comparison.refused]
    return list(dict.fromkeys([*excused, *refused]))


def difference_words(difference: Difference, compared: str = "compiled") -> str:
    """Return a difference of the side `compared`, or why it is undecided, in a sentence."""
    if difference.same is None:
        return f"{difference.what}: {difference.reason}"
    if difference.kind == "mutation":
        changing, unchanged = ("eager", compared) if difference.expected == "changed" else (compared, "eager")
        return f"{difference.what} was changed by {changing} and not by {unchanged}"
    if difference.kind == "value":
        return f"{difference.what}: {difference.actual or f'off by up to {number(difference.max_abs)}'}"
    subject = (
        difference.what
        if difference.kind in ("tree", "aliasing", "Python value")
        else f"{difference.kind} of {difference.what}"
    )
    return f"{subject}: {difference.expected} in eager, {difference.actual} in {compared}"


def results_words(comparison: Results) -> str:
    """Return the first difference, or why the comparison is undecided; empty if all results are equal."""
    differences = comparison.told
    if not differences:
        return ""
    return difference_words(differences[0]) + (
        f", and {number(len(differences) - 1)} more" if len(differences) > 1 else ""
    )


def compared_words(compared: dict[str, int]) -> str:
    """Return `1 output, 14 gradients, 2 inputs`; empty if the log does not have the counts."""
    return ", ".join(count(times, kind) for kind, times in compared.items())


def failed_words(report: Report) -> str:
    """Return the error that ended the run, in words, such as `Failed while call 0: …`; empty if none did."""
    error = report.error
    if error is None:
        return ""
    first = error.message.strip().partition("\n")[0]
    reason = f"{error.type}: {first}" if first else error.type
    return f"Failed while {error.stage} ({reason[:MAX_REASON_CHARS].rstrip('.')})"


def ending_words(state: str, reason: str, report: Report | None) -> str:
    """Return how a run ended, in words; empty for a running or finished run without an error.

    Example: `Timed out while call 0: compiled: the run took longer than 600 s`. `state` is the run's state,
    `reason` the reason for that state.
    """
    if report is not None and report.error is not None:
        return failed_words(report)
    if state in ("queued", "running", "done"):
        return ""
    last = f" while {report.steps[-1]}" if report is not None and report.steps else ""
    why = f": {reason.rstrip('.')}" if reason else ""
    return f"{state.capitalize()}{last}{why}"

"""Accuracy of results of calls: outputs, gradients, state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from core.analysis.numerics.standing import Standing, both_errors, standing
from core.base.words import agree, count, number
from core.report import Accuracy, Report


@dataclass(frozen=True, slots=True)
class ResultStanding:
    """A result of a call, and its accuracy compared with float64."""

    call: int
    what: str
    accuracy: Accuracy
    standing: Standing


@dataclass(frozen=True, slots=True)
class Numerics:
    """Results of a run, reasons for those without a float64 comparison, and ops without float64 support."""

    results: tuple[ResultStanding, ...]
    reasons: tuple[str, ...]
    narrowed: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[ResultStanding, ...]:
        """Results that could be compared."""
        return tuple(result for result in self.results if result.standing != "not told")

    @property
    def worst(self) -> ResultStanding | None:
        """Result that differs most, otherwise the one with compiled's largest error; None if none could be compared."""
        differing = [result for result in self.told if result.standing == "differs"]
        return max(differing or self.told, key=lambda result: (both_errors(result.accuracy) or (0, 0))[1], default=None)


def numerics(report: Report) -> Numerics | None:
    """Return the results of a run compared with float64; None if not recorded."""
    if not report.call_numerics:
        return None
    reasons = dict.fromkeys(call.reason for call in report.call_numerics if call.reason)
    narrowed = dict.fromkeys(name for call in report.call_numerics for name in call.narrowed)
    return Numerics(tuple(result_standings(report)), tuple(reasons), tuple(narrowed))


def result_standings(report: Report) -> list[ResultStanding]:
    """Return the accuracy of every result of every call."""
    return [
        ResultStanding(call.call, result.what, result.accuracy, standing(result.accuracy))
        for call in report.call_numerics
        for result in call.results
    ]


def numerics_sentence(accuracies: Numerics) -> str:
    """Return whether compiled is as accurate as eager, in a sentence with numbers."""
    counts = Counter(result.standing for result in accuracies.told)
    worst = accuracies.worst
    if worst is None:
        reason = accuracies.reasons[0] if accuracies.reasons else "nothing was compared"
        return f"It cannot be told whether the results are right: {reason}."
    if counts["differs"]:
        rest = f", and {number(counts['differs'] - 1)} more" if counts["differs"] > 1 else ""
        return f"Compiled is wrong in {worst.what}{rest}: {error_words(worst.accuracy)}."
    if counts["the same bits"] == len(accuracies.told):
        return f"Compiled gives the same bits as eager: {_largest_error_words(accuracies.told)}."
    return f"{_accuracy_words(counts, len(accuracies.told))}: {_largest_error_words(accuracies.told)}."


def narrowed_words(names: Sequence[str]) -> str:
    """Return the ops of the float64 run that were computed in float32; empty if there are none."""
    ops = ", ".join(f"`{name}`" for name in names)
    return (
        f"Torch does not have {ops} in float64, which {agree(len(names), 'was', 'were')} computed in float32."
        * bool(ops)
    )


def error_words(accuracy: Accuracy) -> str:
    """Return the errors of both against float64, or against each other if float64 is unknown."""
    errors = both_errors(accuracy)
    if errors is None:
        return accuracy.reason or "not known in float64"
    odd = (
        f"{count(accuracy.compiled_odd, 'element')} NaN or infinite, "
        if accuracy.compiled_odd > accuracy.eager_odd
        else ""
    )
    eager, compiled = map(number, errors)
    if accuracy.eager_error is None or accuracy.compiled_error is None:
        return f"{odd}off by up to {compiled} where float64 has zeros, eager by {eager}"
    return f"{odd}off by {compiled} of the norm in float64, eager by {eager}"


def _accuracy_words(counts: Counter[Standing], compared: int) -> str:
    closer, further = counts["closer"], counts["further"]
    if closer and not further:
        return "Compiled is closer to float64 than eager" + (
            "" if closer == compared else f" in {number(closer)} of {count(compared, 'result')}"
        )
    if further and not closer:
        where = "" if further == compared else f" in {number(further)} of {count(compared, 'result')}"
        return f"Compiled is further from float64 than eager{where}, within what its dtype allows"
    if closer:
        nearer = f"{number(closer)} {agree(closer, 'is', 'are')} closer to float64 than eager"
        return f"Of {count(compared, 'result')} {nearer}, {number(further)} further"
    return "Compiled is as close to float64 as eager"


def _largest_error_words(results: Sequence[ResultStanding]) -> str:
    """Return the largest error of each side."""
    eager = [result.accuracy.eager_error for result in results if result.accuracy.eager_error is not None]
    compiled = [result.accuracy.compiled_error for result in results if result.accuracy.compiled_error is not None]
    if not eager or not compiled:
        return "how far both are from float64 is not known"
    if eager == compiled:
        return f"both are off by at most {number(max(eager))} of the norm in float64"
    return f"off by at most {number(max(compiled))} of the norm in float64, eager by {number(max(eager))}"

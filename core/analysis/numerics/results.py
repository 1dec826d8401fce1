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
    """All results of a run, the reasons for results without a float64 comparison, and ops without float64 support."""

    results: tuple[ResultStanding, ...]
    reasons: tuple[str, ...]
    narrowed: tuple[str, ...] = ()

    @property
    def told(self) -> tuple[ResultStanding, ...]:
        """Results that could be compared."""
        return tuple(found for found in self.results if found.standing != "not told")

    @property
    def worst(self) -> ResultStanding | None:
        """Result that differs most, otherwise the one with compiled's largest error; None if none could be compared."""
        differing = [found for found in self.told if found.standing == "differs"]
        return max(differing or self.told, key=lambda found: (both_errors(found.accuracy) or (0, 0))[1], default=None)


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
        ResultStanding(call.call, found.what, found.accuracy, standing(found.accuracy))
        for call in report.call_numerics
        for found in call.results
    ]


def numerics_sentence(found: Numerics) -> str:
    """Return whether compiled is as accurate as eager, in a sentence with numbers."""
    counts = Counter(item.standing for item in found.told)
    worst = found.worst
    if worst is None:
        reason = found.reasons[0] if found.reasons else "nothing was compared"
        return f"It cannot be told whether the results are right: {reason}."
    if counts["differs"]:
        others = f", and {number(counts['differs'] - 1)} more" if counts["differs"] > 1 else ""
        return f"Compiled is wrong in {worst.what}{others}: {error_words(worst.accuracy)}."
    if counts["the same bits"] == len(found.told):
        return f"Compiled gives the same bits as eager: {_largest(found.told)}."
    return f"{_compared(counts, len(found.told))}: {_largest(found.told)}."


def narrowed_words(names: Sequence[str]) -> str:
    """Return the ops of the float64 run that were computed in float32; empty if there are none."""
    ops = ", ".join(f"`{name}`" for name in names)
    return (
        f"Torch does not have {ops} in float64, which {agree(len(names), 'was', 'were')} computed in float32."
        * bool(ops)
    )


def error_words(found: Accuracy) -> str:
    """Return the errors of both against float64, or against each other if float64 is unknown."""
    errors = both_errors(found)
    if errors is None:
        return found.reason or "not known in float64"
    odd = f"{count(found.compiled_odd, 'element')} NaN or infinite, " if found.compiled_odd > found.eager_odd else ""
    eager, compiled = map(number, errors)
    if found.eager_error is None or found.compiled_error is None:
        return f"{odd}off by up to {compiled} where float64 has zeros, eager by {eager}"
    return f"{odd}off by {compiled} of the norm in float64, eager by {eager}"


def _compared(counts: Counter[Standing], told: int) -> str:
    closer, further = counts["closer"], counts["further"]
    if closer and not further:
        return "Compiled is closer to float64 than eager" + (
            "" if closer == told else f" in {number(closer)} of {count(told, 'result')}"
        )
    if further and not closer:
        where = "" if further == told else f" in {number(further)} of {count(told, 'result')}"
        return f"Compiled is further from float64 than eager{where}, within what its dtype allows"
    if closer:
        nearer = f"{number(closer)} {agree(closer, 'is', 'are')} closer to float64 than eager"
        return f"Of {count(told, 'result')} {nearer}, {number(further)} further"
    return "Compiled is as close to float64 as eager"


def _largest(found: Sequence[ResultStanding]) -> str:
    """Return the largest error of each side."""
    eager = [item.accuracy.eager_error for item in found if item.accuracy.eager_error is not None]
    compiled = [item.accuracy.compiled_error for item in found if item.accuracy.compiled_error is not None]
    if not eager or not compiled:
        return "how far both are from float64 is not known"
    if eager == compiled:
        return f"both are off by at most {number(max(eager))} of the norm in float64"
    return f"off by at most {number(max(compiled))} of the norm in float64, eager by {number(max(eager))}"

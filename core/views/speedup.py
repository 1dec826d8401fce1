"""Eager compared with compiled: the steady state, the break-even, and the first executions; texts are Markdown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from core.analysis import (
    Speed,
    alternative_sentence,
    alternative_speed,
    break_even_calls,
    compared_words,
    compile_cost_s,
    paying_speed,
    results,
    speed,
    target_words,
)
from core.base import words as fmt
from core.report import Call, Difference, Report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain, prose
from core.views.speed_words import clock_words, cost_words, load_words, no_break_even, sampling_words, speed_title

OUTCOMES = {True: "same", False: "differs", None: "not comparable"}
# Text by the form in which a compiled call was executed.
EXECUTIONS = {
    "compiled": "compiled",
    "reused": "code reused",
    "eager": "ran eagerly",
    "mixed": "in part eagerly",
    "raised": "raised",
    "": fmt.NOT_RECORDED,
}


@dataclass(frozen=True, slots=True)
class CallTotals:
    """Total time by number of calls: the cost of compiling and the seconds of a call of both sides.

    It pays between the calls `soonest` and `latest`.
    """

    eager_s: float
    compiled_s: float
    cost_s: float
    soonest: int
    latest: int

    @property
    def calls(self) -> list[int]:
        """Numbers of calls at which totals are drawn, evenly on a logarithmic axis, at least up to ten."""
        last = max(10, 2 * self.latest)
        return sorted({round(10 ** (index / 20)) for index in range(200) if 10 ** (index / 20) <= last} | {last})

    def eager_total_s(self, calls: int) -> float:
        """Return the seconds of so many eager calls."""
        return calls * self.eager_s

    def compiled_total_s(self, calls: int) -> float:
        """Return the seconds of so many compiled calls, with the cost of compiling."""
        return self.cost_s + calls * self.compiled_s


@dataclass(frozen=True)
class SpeedupView:
    """The measurement of a run's calls."""

    report: Report

    @cached_property
    def speed(self) -> Speed | None:
        """Speed in the steady state; None if it was not measured."""
        return speed(self.report.timing)

    @cached_property
    def compiled_for(self) -> str:
        """Target that the code was compiled for instead of being run, in words; empty for a run with calls."""
        return target_words(self.report)

    @property
    def title(self) -> str:
        """Claim that the measurement allows, or the reason why there is none."""
        if self.compiled_for:
            return "Nothing was run, so nothing was measured."
        if not self.report.calls:
            return "No call was recorded."
        if self.speed is None:
            return "The steady state was not measured."
        return speed_title(self.speed, self._pays)

    @property
    def not_measured(self) -> str:
        """Sentence below the title of a run without a measurement; empty with one."""
        if self.compiled_for:
            return f"The code was {self.compiled_for}. The page Kernels estimates times by the device's roofline."
        if not self.report.calls:
            return (
                "A log from elsewhere says nothing about eager; runs made here call the model eagerly and compiled, "
                "and measure both."
            )
        return "" if self.speed else "The run did not measure, or ended before it could."

    @property
    def method(self) -> str:
        """Device, sampling, clock and load of the measurement; empty without one."""
        timing = self.report.timing
        if self.speed is None or timing is None:
            return ""
        device = plain(self.report.setting.device or "this machine")
        return (
            f"Eager and compiled in turn on {device}, which goes first by the toss of a coin: "
            f"{sampling_words(self.speed, timing)}. The ratio is the median over pairs, the brackets hold it with 99 % "
            f"confidence, and below 2 % no difference is claimed.{clock_words(timing)}{load_words(timing)}"
        )

    @property
    def medians(self) -> tuple[tuple[str, float, tuple[float, float]], ...]:
        """Median seconds per call of each side, with the quartiles; empty without a measurement."""
        if self.speed is None:
            return ()
        return (
            ("eager", self.speed.eager_s, self.speed.eager_quartiles_s),
            ("compiled", self.speed.compiled_s, self.speed.compiled_quartiles_s),
        )

    @property
    def break_even(self) -> CallTotals | None:
        """Calls after which compiling pays; None if it is not seen to pay."""
        paying = self._paying
        if paying is None or self._pays is None:
            return None
        return CallTotals(paying.eager_s, paying.compiled_s, compile_cost_s(self.report), *self._pays)

    @property
    def no_break_even(self) -> str:
        """Reason why there is no break-even."""
        return no_break_even(self._paying) if self._paying else ""

    @property
    def cost(self) -> str:
        """Parts of the cost of compiling."""
        return cost_words(self.report, compile_cost_s(self.report))

    @property
    def alternative(self) -> str:
        """Comparison with the alternative configuration; empty if the job has none."""
        sentence = alternative_sentence(self.report)
        return f"{prose(sentence[:1].upper() + sentence[1:])}." if sentence else ""

    @property
    def alternative_method(self) -> str:
        """Medians and samples of both configurations; empty if the alternative was not timed."""
        timed = alternative_speed(self.report.rival) if self.report.rival else None
        if timed is None:
            return ""
        return (
            "Both were compiled in one process and timed in turn, so that no drift between processes is in the ratio: "
            f"medians {fmt.duration_s(timed.eager_s)} and {fmt.duration_s(timed.compiled_s)}, of "
            f"{fmt.count(timed.samples, 'pair')} of samples, {fmt.count(timed.calls_per_sample, 'call')} each."
        )

    @property
    def call_rows(self) -> list[dict[str, object]]:
        """First executions of the calls, a row per compared value; a single row for a call without comparisons."""
        return [
            _execution(call) | _comparison(difference)
            for call in self.report.calls
            for difference in (call.differences or (_no_comparison(call),))
        ]

    @property
    def comparison_method(self) -> str:
        """Number of compared values, and the meaning of an error."""
        compared = results(self.report)
        counts = compared_words(compared.compared) if compared else ""
        return (
            f"Compared with eager in the last call: {counts or 'not recorded'}. *error* is the norm of the difference "
            "over the norm of eager's tensor; inputs and state have a row where a call changed them."
        )

    @cached_property
    def _pays(self) -> tuple[int, int] | None:
        return break_even_calls(self.report)

    @cached_property
    def _paying(self) -> Speed | None:
        return paying_speed(self.report.timing) or self.speed


def _execution(call: Call) -> dict[str, object]:
    return {
        "call": call.index,
        "inputs": one_line(call.inputs, LONGEST_LINE),
        "eager": fmt.duration_s(call.eager_s),
        "compiled": fmt.duration_s(call.compiled_s),
        "became": EXECUTIONS[call.how],
    }


def _comparison(difference: Difference) -> dict[str, object]:
    return {
        "what": one_line(difference.what, LONGEST_LINE),
        "compared": difference.kind,
        "dtype": difference.dtype,
        "in eager": one_line(difference.expected, LONGEST_NAME),
        "in compiled": one_line(difference.actual, LONGEST_LINE),
        "error": "" if difference.error is None else fmt.number(difference.error),
        "tolerance": fmt.number(difference.tolerance) if difference.dtype else "",
        "max abs": fmt.number(difference.max_abs),
        "result": OUTCOMES[difference.same],
        "why": one_line(difference.reason, LONGEST_LINE),
    }


def _no_comparison(call: Call) -> Difference:
    """Return an empty comparison with the reason, for a call without comparisons."""
    return Difference("", None, kind="", reason=call.raised or call.ended)


__all__ = ["CallTotals", "SpeedupView"]

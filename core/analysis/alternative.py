"""Comparison of two torch.compile configurations, timed alternately in one process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.analysis.results import Results, results_of, results_words
from core.analysis.speed import Speed, speed
from core.base.words import number
from core.report import Report, Rival, Timing

# Defaults of torch.compile, which are left out of the call.
DEFAULTS = {"fullgraph": False, "dynamic": None, "backend": "inductor", "mode": None, "options": None}


def alternative_speed(alternative: Rival) -> Speed | None:
    """Return the speed of the alternative over the run's own compiled call; None if not timed.

    In the result, the run's own call takes the place of eager, and the alternative that of compiled.
    """
    timing = Timing(
        eager_s=alternative.compiled_s,
        compiled_s=alternative.rival_s,
        warm_up=alternative.warm_up,
        calls_per_sample=alternative.calls_per_sample,
        stopped=alternative.stopped,
        spent_s=alternative.spent_s,
        load=alternative.load,
        threads=alternative.threads,
        clock=alternative.clock,
    )
    return speed(timing)


def alternative_results(alternative: Rival) -> Results | None:
    """Return the comparison of the alternative's results with eager."""
    return results_of(alternative.calls)


def alternative_sentence(report: Report) -> str:
    """Return the verdict in words; empty if the job has no alternative."""
    alternative = report.rival
    if alternative is None:
        return ""
    run_call, alternative_call = (
        call_words((report.setting.job or {}).get("compile") or {}),
        call_words(alternative.options),
    )
    measured = alternative_speed(alternative)
    if measured is None:
        return (
            f"`{alternative_call}` was not timed against `{run_call}`: {alternative.reason or 'there are no samples'}"
        )
    parts = [
        _claim(measured, run_call, alternative_call),
        *([measured.disturbed] if measured.disturbed and not measured.wide else []),
        *_wrong_words(alternative, alternative_call),
    ]
    return "; ".join(parts)


def _claim(measured: Speed, run_call: str, alternative_call: str) -> str:
    if measured.interval is None:
        question = f"which of `{run_call}` and `{alternative_call}` is faster"
        return f"{question} is {measured.unknown}" if measured.wide else f"{measured.unknown} {question}"
    if not measured.clear:
        low, high = number(measured.interval.low), number(measured.interval.high)
        return (
            f"no difference seen between `{run_call}` and `{alternative_call}` (the ratio is between {low} and {high})"
        )
    first, second = (alternative_call, run_call) if measured.faster else (run_call, alternative_call)
    ratio = measured.interval if measured.faster else measured.interval.inverse()
    bounds = f"{number(ratio.low)} to {number(ratio.high)}"
    return f"`{first}` is {number(ratio.middle)} times as fast as `{second}` ({bounds})"


def _wrong_words(alternative: Rival, alternative_call: str) -> list[str]:
    compared = alternative_results(alternative)
    return (
        [f"`{alternative_call}` differs from eager ({results_words(compared)})"]
        if compared and compared.outcome == "differs"
        else []
    )


def call_words(options: Mapping[str, Any]) -> str:
    """Return the call as handwritten code, from a logged job's parameters that differ from the defaults."""
    texts = {
        name: repr(options[name]) for name, value in DEFAULTS.items() if name in options and options[name] != value
    }
    if options.get("backend_code") and "backend" in texts:
        texts["backend"] = str(options["backend"])
    return f"torch.compile({', '.join(['model', *(f'{name}={text}' for name, text in texts.items())])})"

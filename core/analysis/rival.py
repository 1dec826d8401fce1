"""Comparison of two torch.compile configurations, timed alternately in one process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from core.analysis.results import Results, results_of, results_words
from core.analysis.speed import Speed, speed
from core.base.words import number
from core.report import Report, Rival, Timing

# Torch's own defaults, which are not told.
DEFAULTS = {"fullgraph": False, "dynamic": None, "backend": "inductor", "mode": None, "options": None}


def rival_speed(rival: Rival) -> Speed | None:
    """Return the speed of the alternative over the run's own compiled call; None if not timed.

    In the result, the run's own call takes the place of eager, and the alternative that of compiled.
    """
    timing = Timing(
        eager_s=rival.compiled_s,
        compiled_s=rival.rival_s,
        warm_up=rival.warm_up,
        calls_per_sample=rival.calls_per_sample,
        stopped=rival.stopped,
        spent_s=rival.spent_s,
        load=rival.load,
        threads=rival.threads,
        clock=rival.clock,
    )
    return speed(timing)


def rival_results(rival: Rival) -> Results | None:
    """Return the comparison of the alternative's results with eager."""
    return results_of(rival.calls)


def rival_sentence(report: Report) -> str:
    """Return the verdict in words; empty if the job has no alternative."""
    rival = report.rival
    if rival is None:
        return ""
    own, other = call_words((report.setting.job or {}).get("compile") or {}), call_words(rival.options)
    found = rival_speed(rival)
    if found is None:
        return f"`{other}` was not timed against `{own}`: {rival.reason or 'there are no samples'}"
    parts = [
        _claim(found, own, other),
        *([found.disturbed] if found.disturbed and not found.wide else []),
        *_wrong(rival, other),
    ]
    return "; ".join(parts)


def _claim(found: Speed, own: str, other: str) -> str:
    if found.interval is None:
        which = f"which of `{own}` and `{other}` is faster"
        return f"{which} is {found.unknown}" if found.wide else f"{found.unknown} {which}"
    if not found.clear:
        low, high = number(found.interval.low), number(found.interval.high)
        return f"no difference seen between `{own}` and `{other}` (the ratio is between {low} and {high})"
    first, second = (other, own) if found.faster else (own, other)
    ratio = found.interval if found.faster else found.interval.inverse()
    bounds = f"{number(ratio.low)} to {number(ratio.high)}"
    return f"`{first}` is {number(ratio.middle)} times as fast as `{second}` ({bounds})"


def _wrong(rival: Rival, other: str) -> list[str]:
    found = rival_results(rival)
    return [f"`{other}` differs from eager ({results_words(found)})"] if found and found.outcome == "differs" else []


def call_words(options: Mapping[str, Any]) -> str:
    """Return the call as handwritten code, from a logged job's parameters that differ from the defaults."""
    texts = {
        name: repr(options[name]) for name, value in DEFAULTS.items() if name in options and options[name] != value
    }
    if options.get("backend_code") and "backend" in texts:
        texts["backend"] = str(options["backend"])
    return f"torch.compile({', '.join(['model', *(f'{name}={text}' for name, text in texts.items())])})"

"""Eager against compiled, from samples that were taken in turn."""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from core.report import Report, Timing


@dataclass(frozen=True, slots=True)
class Speed:
    """Steady state: medians and quartiles in seconds per call, and the ratio eager / compiled with its spread.

    `spread` is half the interquartile range of the ratios of neighbouring samples; `clear` says whether the
    difference is larger than that; `samples` counts what was kept after the warm-up.
    """

    eager_s: float
    compiled_s: float
    eager_quartiles_s: tuple[float, float]
    compiled_quartiles_s: tuple[float, float]
    ratio: float
    spread: float
    samples: int
    warm_up: int
    calls_per_sample: int

    @property
    def clear(self) -> bool:
        """Whether the difference is larger than its spread."""
        return abs(self.ratio - 1) > self.spread


def speed(timing: Timing | None) -> Speed | None:
    """The steady state of a run; None if it was not measured, or too little to say anything."""
    if timing is None:
        return None
    eager, compiled = timing.eager_s[timing.warm_up :], timing.compiled_s[timing.warm_up :]
    if len(eager) < 3 or len(eager) != len(compiled) or min(*eager, *compiled) <= 0:
        return None
    ratios = [slow / fast for slow, fast in zip(eager, compiled, strict=True)]
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    eager_low, eager_middle, eager_high = statistics.quantiles(eager, n=4, method="inclusive")
    compiled_low, compiled_middle, compiled_high = statistics.quantiles(compiled, n=4, method="inclusive")
    return Speed(
        eager_s=eager_middle,
        compiled_s=compiled_middle,
        eager_quartiles_s=(eager_low, eager_high),
        compiled_quartiles_s=(compiled_low, compiled_high),
        ratio=middle,
        spread=(high - low) / 2,
        samples=len(eager),
        warm_up=timing.warm_up,
        calls_per_sample=timing.calls_per_sample,
    )


def break_even_calls(report: Report) -> int | None:
    """From which call on compiling has paid: what the calls cost beyond their steady state, over what each call saves.

    None if it never pays, or was not measured.
    """
    found = speed(report.timing)
    if found is None or not report.calls or not found.clear or found.compiled_s >= found.eager_s:
        return None
    return max(1, math.ceil(compile_cost_s(report) / (found.eager_s - found.compiled_s)))


def compile_cost_s(report: Report) -> float:
    """Seconds that the calls took beyond the compiled steady state: all of them, since each may have compiled."""
    found = speed(report.timing)
    steady = found.compiled_s if found else 0.0
    return sum(max(0.0, (call.compiled_s or 0.0) - steady) for call in report.calls)

"""Speed of compiled over eager, or of one torch.compile configuration over another.

The two sides are timed alternately in one process. `summary` compares the sum of kernel times with the compiled call.
"""

import math
import statistics
from dataclasses import dataclass, replace
from typing import NamedTuple

from core.analysis.interval import BUSY, DECADE, FEW, NOT_MEASURABLE, SCATTERED, Interval, busy, median_ratio
from core.analysis.kernels.kernel import kernel_times, time_s
from core.analysis.results import Results, results_of
from core.base.words import number
from core.report import Alternative, Report, SideTimes

KERNELS = ("kernels", "all kernels, each timed alone with warm caches")
COLD_CACHES = ("cold caches", "extra kernel time in place, where other data fills the caches")
WRAPPER = ("wrapper", "the generated wrapper allocates, frees and calls in Python")
OUTSIDE = (
    "outside",
    "the rest of the call: guard checks, the runtime of Dynamo and AOTAutograd, waits for launches, and the wrapper if "
    "it is not shown",
)
INTERLEAVED = (
    "beside eager",
    "extra time when interleaved with eager, whose data fills the caches (as in Speedup)",
)
SCATTER_FROM = 1.5
# Two clocks agree if their intervals are at most this factor apart.
AGREE_WITHIN = 1.1


@dataclass(frozen=True, slots=True)
class Speed:
    """Steady state: seconds per call of eager and compiled, and the interval of eager / compiled.

    Seconds are medians and quartiles. `interval` is None with too few samples. It is also None if its bounds are
    a factor of 10 or more apart; then `wide` is True. `samples` counts the samples after the warm-up. `disturbed`
    is why the times are unreliable, empty if they are reliable. `wall` is the ratio by the wall clock for
    back-to-back calls, None unless it differs from the device clock's.
    """

    eager_s: float
    compiled_s: float
    eager_quartiles_s: tuple[float, float]
    compiled_quartiles_s: tuple[float, float]
    interval: Interval | None
    samples: int
    warm_up: int
    calls_per_sample: int
    disturbed: str = ""
    wall: Interval | None = None
    wide: bool = False

    @property
    def unknown(self) -> str:
        """Reason why no ratio is reported, in words; empty if a ratio is reported."""
        if self.interval is not None:
            return ""
        return f"{NOT_MEASURABLE}: {self.disturbed or SCATTERED}" if self.wide else FEW

    @property
    def doubt(self) -> str:
        """Reason why the times and their ratio are unreliable; empty if they are reliable."""
        return self.unknown or self.disturbed

    @property
    def clear(self) -> bool:
        """True if the whole interval is on one side of 1 by more than the relevance threshold."""
        return self.faster or self.slower

    @property
    def faster(self) -> bool:
        """True if compiled is clearly faster than eager."""
        return self.interval is not None and self.interval.above

    @property
    def slower(self) -> bool:
        """True if compiled is clearly slower than eager."""
        return self.interval is not None and self.interval.below


def speed(timing: SideTimes | None, eager_side: str = "eager", compiled_side: str = "compiled") -> Speed | None:
    """Return the steady state of one side over another; None if not measured."""
    if timing is None:
        return None
    eager, compiled = timing.steady(eager_side), timing.steady(compiled_side)
    if not eager or len(eager) != len(compiled) or min(*eager, *compiled) <= 0:
        return None
    ratio = median_ratio(eager, compiled)
    wide = ratio is not None and ratio.wide
    interval = None if wide else ratio
    eager_low, eager_middle, eager_high = quartiles(eager)
    compiled_low, compiled_middle, compiled_high = quartiles(compiled)
    return Speed(
        eager_s=eager_middle,
        compiled_s=compiled_middle,
        eager_quartiles_s=(eager_low, eager_high),
        compiled_quartiles_s=(compiled_low, compiled_high),
        interval=interval,
        samples=len(eager),
        warm_up=timing.warm_up,
        calls_per_sample=timing.calls_per_sample,
        disturbed=_disturbed(timing, max(eager_high / eager_low, compiled_high / compiled_low)),
        wall=_other_wall(interval, wall_speed(timing)),
        wide=wide,
    )


def wall_speed(timing: SideTimes | None) -> Speed | None:
    """Return the steady state by the wall clock for back-to-back calls; None if there is only one clock."""
    return speed(replace(timing, sides=timing.walls, walls={})) if timing is not None and timing.walls else None


def _other_wall(device_ratio: Interval | None, wall: Speed | None) -> Interval | None:
    """Return the wall clock's ratio if it differs from the device clock's by over a tenth; None otherwise."""
    if device_ratio is None or wall is None or wall.interval is None:
        return None
    contrary = (device_ratio.above and wall.slower) or (device_ratio.below and wall.faster)
    near = max(device_ratio.low, wall.interval.low) <= AGREE_WITHIN * min(device_ratio.high, wall.interval.high)
    return None if near and not contrary else wall.interval


def quartiles(samples: tuple[float, ...]) -> tuple[float, float, float]:
    """Return the lower quartile, median and upper quartile of at least one sample."""
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else samples * 3
    return low, middle, high


def _disturbed(timing: SideTimes, scatter: float) -> str:
    if busy(timing.load):
        return f"{BUSY} while it was measured"
    return f"{SCATTERED}: the quartiles differ by a factor of {number(scatter)}" if scatter >= SCATTER_FROM else ""


def paying_speed(timing: SideTimes | None) -> Speed | None:
    """Return the steady state by the wall clock, otherwise by the only clock; None if not measured."""
    return wall_speed(timing) or speed(timing)


def break_even_calls(report: Report) -> tuple[int, int] | None:
    """Return the number of calls after which compiling pays off, as an interval.

    Each bound is the extra seconds of the first calls, divided by the seconds saved per call. None if compiling
    never pays off, if it was not measured, if the measurement was disturbed, or if the bounds are a factor of 10
    or more apart.
    """
    measured = paying_speed(report.timing)
    if measured is None or measured.interval is None or not report.calls or not measured.faster or measured.disturbed:
        return None
    soonest, latest = calls_to_pay(compile_cost_s(report), measured.eager_s, measured.interval)
    return (soonest, latest) if latest < DECADE * soonest else None


def calls_to_pay(cost_s: float, eager_s: float, ratio: Interval) -> tuple[int, int]:
    """Return the minimum and maximum number of calls after which compiling has paid for its cost.

    An eager call takes `eager_s`, a compiled call `eager_s / ratio`; `ratio` is above 1.
    """
    savings_s = (eager_s * (1 - 1 / times) for times in (ratio.high, ratio.low))
    soonest, latest = (max(1, math.ceil(cost_s / saving_s)) for saving_s in savings_s)
    return soonest, latest


def compile_cost_s(report: Report) -> float:
    """Return the seconds of all calls beyond the compiled steady state; each call may compile."""
    measured = paying_speed(report.timing)
    steady = measured.compiled_s if measured else 0.0
    return sum(max(0.0, (call.compiled_s or 0.0) - steady) for call in report.calls)


def alternative_speed(alternative: Alternative) -> Speed | None:
    """Return the speed of the alternative over the run's own compiled call; None if not timed.

    In the result, the run's own call takes the place of eager, and the alternative that of compiled.
    """
    return speed(alternative.times, "compiled", "alternative")


def alternative_results(alternative: Alternative) -> Results | None:
    """Return the comparison of the alternative's results with eager; None if nothing was compared."""
    return results_of(alternative.calls)


class CallPart(NamedTuple):
    """A part of the compiled call: name, description, seconds."""

    name: str
    words: str
    seconds: float


@dataclass(frozen=True, slots=True)
class LedgerSum:
    """Kernels of all compilations compared with the compiled call: seconds of one call of the model.

    `kernels_s` sums the times of the kernels alone, or in place for calls that were not timed alone. `in_place_s`
    sums the times in place, `wrapper_s` the times of the generated wrappers. `call_s` is the compiled call timed
    back to back, `steady_s` the compiled call interleaved with eager; None if not measured. `parts` are all parts
    of the call, `rest` the parts besides kernels. Each part is timed separately, so the kernels' sum may exceed
    the call. Then the kernels count as the whole call.
    """

    kernels_s: float
    in_place_s: float
    wrapper_s: float
    call_s: float | None
    steady_s: float | None

    @property
    def ratio(self) -> float | None:
        """Ratio of the kernels' sum to the compiled call, timed back to back; None without that time."""
        return self.kernels_s / self.call_s if self.call_s else None

    @property
    def parts(self) -> tuple[CallPart, ...]:
        """Parts of the compiled call from the inside out, the kernels first."""
        return (CallPart(*KERNELS, min(self.kernels_s, self.longest_call_s)), *self.rest)

    @property
    def longest_call_s(self) -> float:
        """Longest measured time of a whole call, an upper bound of every part."""
        return max(self.call_s or 0.0, self.steady_s or 0.0) or self.wrapper_s or self.kernels_s

    @property
    def rest(self) -> tuple[CallPart, ...]:
        """Parts of the compiled call besides the kernels alone, from the inside out.

        An outer measurement has less instrumentation, so it bounds the inner ones. A part that would be negative
        because of noise is omitted.
        """
        call_s = self.call_s if self.call_s is not None else self.wrapper_s
        wrapper_s = min(self.wrapper_s, call_s)
        levels = [
            (COLD_CACHES, min(self.in_place_s, wrapper_s)),
            (WRAPPER, wrapper_s),
            (OUTSIDE, call_s),
            (INTERLEAVED, self.steady_s or 0.0),
        ]
        reached_s: float = self.kernels_s
        parts: list[CallPart] = []
        for what, level_s in levels:
            if level_s > reached_s:
                parts.append(CallPart(*what, level_s - reached_s))
                reached_s = level_s
        return tuple(parts)


def summary(report: Report) -> LedgerSum | None:
    """Return the sum of a run's kernel times; None if none was measured."""
    times = [time for compilation in report.compilations for time in kernel_times(compilation)]
    wrappers = [time for compilation in report.compilations for time in compilation.wrapper_times]
    if not times:
        return None
    steady, least = speed(report.timing), busy(report.kernel_load)
    return LedgerSum(
        kernels_s=sum(time.calls * (time_s(time, least) or 0.0) for time in times),
        in_place_s=sum(statistics.median(time.in_place_s) for time in times if time.in_place_s),
        wrapper_s=sum(statistics.median(time.samples_s) for time in wrappers if time.samples_s),
        call_s=statistics.median(report.back_to_back_s) if report.back_to_back_s else None,
        steady_s=steady.compiled_s if steady else None,
    )

"""Sum of kernel times compared with the compiled call, and the rest of the call."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import NamedTuple

from core.analysis.kernels.times import kernel_times, time_s
from core.analysis.noise import busy
from core.analysis.speed import speed
from core.report import Report

KERNELS = ("kernels", "all kernels of the run by themselves, warm")
IN_PLACE = ("cold caches", "the kernels take more where they stand, among others' data in the caches")
WRAPPER = ("wrapper", "the generated wrapper allocates, frees and calls in Python")
OUTSIDE = ("outside", "outside of the wrapper: guards, Dynamo's and autograd's runtime, waiting for launches")
INTERLEAVED = (
    "beside eager",
    "in turn with eager, which leaves its own data in the caches: as the page Speedup measures",
)


class CallPart(NamedTuple):
    """A part of the compiled call: name, description, seconds."""

    name: str
    words: str
    seconds: float


@dataclass(frozen=True, slots=True)
class LedgerSum:
    """Kernels of all compilations compared with the compiled call: seconds of one model call, None if not measured.

    `kernels_s` sums the times of the kernels alone (in place for calls that were not timed alone), `in_place_s` the
    times in place, `wrapper_s` the generated wrappers. `call_s` is the compiled call back to back, `steady_s` the one
    interleaved with eager. `rest` is the part without kernels, and `parts` the whole: since each part is timed
    separately, the sum may be larger, and then the kernels count as the whole call.
    """

    kernels_s: float
    in_place_s: float
    wrapper_s: float
    call_s: float | None
    steady_s: float | None

    @property
    def ratio(self) -> float | None:
        """Sum of the kernels over the compiled call, both timed back to back."""
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

        An outer measurement, with less instrumentation, bounds the inner ones. A part within the noise of the others,
        which would be negative, is left out.
        """
        call_s = self.call_s if self.call_s is not None else self.wrapper_s
        wrapper_s = min(self.wrapper_s, call_s)
        levels = [
            (IN_PLACE, min(self.in_place_s, wrapper_s)),
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

"""The kernels' times against the compiled call: do they sum up to it, and what is the rest?"""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from typing import NamedTuple

from core.analysis.disturbance import busy
from core.analysis.kernels.times import kernel_times, time_s
from core.analysis.speed import speed
from core.report import Report

KERNELS = ("kernels", "all kernels of the run by themselves, warm")
IN_PLACE = ("cold caches", "the kernels take more where they stand, among others' data in the caches")
WRAPPER = ("wrapper", "the generated wrapper allocates, frees and calls in Python")
OUTSIDE = ("outside", "outside of the wrapper: guards, Dynamo's and autograd's runtime, waiting for launches")
IN_TURN = ("beside eager", "in turn with eager, which leaves its own data in the caches: as the page Speedup measures")


class CallPart(NamedTuple):
    """A part of the compiled call: its name, what it is in words, and its seconds."""

    name: str
    words: str
    seconds: float


@dataclass(frozen=True, slots=True)
class LedgerSum:
    """The kernels of all compilations against the compiled call: seconds of one call of the model, None if not
    measured.

    `kernels_s` sums the times by themselves (in place for kernel calls that were not timed so),
    `in_place_s` those in place, `wrapper_s` the generated wrappers as a whole, `call_s` is the compiled call, back to
    back, and `steady_s` in turn with eager. `rest` is what the kernels leave of that, and `parts` all of it: since each
    is timed by itself, they may sum up to more, and then the kernels count as the whole call.
    """

    kernels_s: float
    in_place_s: float
    wrapper_s: float
    call_s: float | None
    steady_s: float | None

    @property
    def ratio(self) -> float | None:
        """The kernels' sum over the compiled call, back to back as they were timed."""
        return self.kernels_s / self.call_s if self.call_s else None

    @property
    def parts(self) -> tuple[CallPart, ...]:
        """The compiled call from the inside out, the kernels first."""
        return (CallPart(*KERNELS, min(self.kernels_s, self.whole_s)), *self.rest)

    @property
    def whole_s(self) -> float:
        """The longest of what was measured of a whole call, which no part is longer than."""
        return max(self.call_s or 0.0, self.steady_s or 0.0) or self.wrapper_s or self.kernels_s

    @property
    def rest(self) -> tuple[CallPart, ...]:
        """What makes up the compiled call beside the kernels by themselves, from the inside out.

        What is measured further out, with less instrument in it, bounds what lies within; a part that is not above the
        noise of the others, which would be negative, is left out.
        """
        whole_s = self.call_s if self.call_s is not None else self.wrapper_s
        wrapper_s = min(self.wrapper_s, whole_s)
        levels = [
            (IN_PLACE, min(self.in_place_s, wrapper_s)),
            (WRAPPER, wrapper_s),
            (OUTSIDE, whole_s),
            (IN_TURN, self.steady_s or 0.0),
        ]
        reached_s: float = self.kernels_s
        parts: list[CallPart] = []
        for what, level_s in levels:
            if level_s > reached_s:
                parts.append(CallPart(*what, level_s - reached_s))
                reached_s = level_s
        return tuple(parts)


def summary(report: Report) -> LedgerSum | None:
    """The sum of a run's kernel times; None where none was measured."""
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

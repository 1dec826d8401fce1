"""Times of a package per call, compared with eager, compiled, and between Python and C++."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from core.analysis import CallCost, SideTime, call_cost, side_times, times_disturbed
from core.base import words as fmt
from core.report import PackageRun, PackageTimes
from core.views.markdown import LONGEST_LINE, plain, sentence
from core.views.speedup import ratio_words

NAMES = {"eager": "eager", "compiled": "compiled", "python": "package, Python", "c++": "package, C++"}


class SideBar(NamedTuple):
    """Median seconds per call of a timed side, with the quartiles; `side` is `eager`, `compiled`, `python` or `c++`."""

    side: str
    name: str
    median_s: float
    quartiles_s: tuple[float, float]


@dataclass(frozen=True, slots=True)
class PackageTimesView:
    """Seconds per call of all timed sides; `runs` are the package's runs by side."""

    times: PackageTimes
    runs: Mapping[str, PackageRun | None]

    @property
    def sides(self) -> tuple[SideTime, ...]:
        """Timed sides, eager first; empty if nothing was timed."""
        return side_times(self.times)

    @property
    def bars(self) -> list[SideBar]:
        """Bar of each side, the first side last, as charts draw them upwards."""
        return [SideBar(side.side, NAMES[side.side], side.median_s, side.quartiles_s) for side in reversed(self.sides)]

    @property
    def rows(self) -> list[dict[str, str | None]]:
        """Time of each side, its speedup over eager, and how long the package took to load."""
        return [_row(side, self.runs.get(side.side)) for side in self.sides]

    @property
    def method(self) -> str:
        """Sampling, and the cost of a call from Python compared with C++."""
        return " ".join(filter(None, (_sampling_words(self.times), _cost_words(call_cost(self.times)))))


def _row(side: SideTime, run: PackageRun | None) -> dict[str, str | None]:
    low_s, high_s = side.quartiles_s
    loaded_s, first_s = (run.load_s, run.call_s) if run else (None, None)
    return {
        "": NAMES[side.side],
        "a call": fmt.duration_s(side.median_s),
        "quartiles": f"{fmt.duration_s(low_s)} to {fmt.duration_s(high_s)}",
        "eager over it": None if side.side == "eager" else _speedup_words(side),
        "load": None if loaded_s is None else fmt.duration_s(loaded_s),
        "first call": None if first_s is None else fmt.duration_s(first_s),
    }


def _speedup_words(side: SideTime) -> str:
    """Return the speedup over eager; only its bounds if the difference is not significant."""
    if side.faster is None or side.faster.apart or side.faster.wide:
        return ratio_words(side.faster)
    return f"none seen ({fmt.number(side.faster.low)}–{fmt.number(side.faster.high)}×)"


def _sampling_words(times: PackageTimes) -> str:
    """Describe the sampling, and the machine's other load if it disturbed the samples."""
    rounds = max(map(len, times.sides.values())) - times.warm_up
    threads = f" on {fmt.count(times.threads, 'thread')}" if times.threads else ""
    timed = f", timed by {plain(times.clock, LONGEST_LINE)}" if times.clock else ""
    disturbed = times_disturbed(times)
    return (
        f"All in turn, {fmt.count(rounds, 'round')} of {fmt.count(times.calls_per_sample, 'call')} each{threads} after "
        f"{fmt.count(times.warm_up, 'round')} of warm-up{timed}. The brackets hold the ratio with 99 % confidence."
        + (f" {sentence(disturbed)}" if disturbed else "")
    )


def _cost_words(cost: CallCost | None) -> str:
    """Return the cost of Python compared with C++ for the same library, or that no difference is seen.

    Empty without a cost.
    """
    if cost is None:
        return ""
    low, high = fmt.number(cost.ratio.low), fmt.number(cost.ratio.high)
    if not cost.seen:
        return f"Between Python and C++ no difference is seen (the ratio is between {low} and {high})."
    more = f"{fmt.duration_s(abs(cost.more_s))} {'more' if cost.more_s > 0 else 'less'}"
    return (
        f"The same library takes {fmt.number(cost.ratio.middle)} times as long from Python ({low} to {high}), "
        f"{more} a call."
    )

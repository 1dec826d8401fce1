"""Alternative compilers and runtimes on a run's model: installed, converted, equal to eager, and how fast."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from core.analysis import SideTime, difference_words, side_times, target_words, times_disturbed
from core.analysis.interval import Interval, median_ratio
from core.base import words as fmt
from core.report import Neighbour, Report
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain
from core.views.speedup import NOT_COMPARED, ratio_words

NOT_RECORDED = (
    "On request, a run also converts its model for TorchScript, ONNX Runtime, OpenVINO and others that are installed. "
    "Each result is compared with eager, and each call is timed beside eager and compiled."
)
NO_CALL = "No call was recorded: a neighbour needs the model itself and its inputs."
METHOD = (
    "Each neighbour converts the model in a process of its own, with the inputs of the last call. Its outputs are "
    "compared with eager's by the rules of a run. Eager, compiled and the neighbour are then timed, interleaved."
)
MOST_NEIGHBOURS = 64
NOT_INSTALLED = "not installed"
STAGES = {
    "start": "not tried",
    "eager": "eager failed",
    "convert": "not converted",
    "call": "call failed",
    "process": "ended",
}


@dataclass(frozen=True, slots=True)
class NeighbourView:
    """Words of a neighbour, without markup: its state, its results and its times."""

    neighbour: Neighbour

    @property
    def ran(self) -> bool:
        """True if it made the call."""
        return self.neighbour.call_s is not None

    @property
    def state(self) -> str:
        """State in words: runs, not installed, not tried, or the stage that failed."""
        if self.neighbour.missing:
            return NOT_INSTALLED
        return "runs" if self.ran else STAGES.get(self.neighbour.stage, "not tried")

    @property
    def same(self) -> bool | None:
        """True if its results equal eager's; None if that is undecided, or nothing was compared."""
        outcomes = {difference.same for difference in self.neighbour.differences}
        return False if False in outcomes else None if None in outcomes or not outcomes else True

    @property
    def result(self) -> str:
        """The comparison with eager; empty if it did not run."""
        if not self.ran:
            return ""
        return {True: "equals eager", False: "differs", None: "not comparable"}[self.same]

    @property
    def why(self) -> str:
        """Reason why it did not run, its result differs, or it was not timed; empty if all is well."""
        if self.neighbour.missing:
            return self.neighbour.install
        if self.neighbour.problem:
            return self.neighbour.problem
        unequal = (difference for difference in self.neighbour.differences if difference.same is not True)
        return next((difference_words(difference, self.neighbour.name) for difference in unequal), "")

    @property
    def sides(self) -> dict[str, SideTime]:
        """Timed sides by name; empty if nothing was timed."""
        times = self.neighbour.times
        return {side.side: side for side in side_times(times)} if times is not None else {}

    @property
    def over_compiled(self) -> Interval | None:
        """Time of compiled over that of the neighbour; None if one of them was not timed, or too few times."""
        times = self.neighbour.times
        if times is None:
            return None
        steady = [times.sides.get(side, ())[times.warm_up :] for side in ("compiled", "neighbour")]
        return median_ratio(*steady) if all(steady) else None

    @property
    def row(self) -> dict[str, str]:
        """The row of the table."""
        sides = self.sides
        timed = sides.get("neighbour")
        return {
            "neighbour": one_line(self.neighbour.name, LONGEST_NAME),
            "installed": one_line(self.neighbour.version, LONGEST_NAME) or ("" if self.neighbour.missing else "yes"),
            "runs this model": self.state,
            "result": self.result,
            "why": one_line(self.why, LONGEST_LINE),
            "a call": _seconds(timed.median_s if timed else None),
            "speedup over eager": ratio_words(timed.faster) if timed else "",
            "speedup over compiled": ratio_words(self.over_compiled) if timed and "compiled" in sides else "",
            "conversion": _seconds(self.neighbour.convert_s),
            "first call": _seconds(self.neighbour.call_s),
            "as code": one_line(self.neighbour.call, LONGEST_LINE),
        }


def _seconds(seconds: float | None) -> str:
    return "" if seconds is None else fmt.duration_s(seconds)


@dataclass(frozen=True)
class NeighboursView:
    """The neighbours of a run, in the order in which they were tried."""

    report: Report

    @property
    def state(self) -> str:
        """State of the comparison: `not run`, `not recorded`, or `recorded`."""
        if target_words(self.report):
            return "not run"
        return "recorded" if self.report.neighbours else "not recorded"

    @property
    def title(self) -> str:
        """The fastest neighbour compared with compiled, or that there is none."""
        if self.state == "not run":
            return "Nothing was run, so no neighbour was tried."
        if self.state == "not recorded":
            return "This model was not run by other compilers and runtimes."
        return plain(f"{'; '.join(filter(None, (self._verdict, self._disturbed)))}.")

    @property
    def paragraph(self) -> str:
        """Number of neighbours that ran the model and how they were compared; otherwise why none was tried."""
        if self.state == "not run":
            return f"The code was {target_words(self.report)}."
        if self.report.script is not None:
            return NOT_COMPARED
        if self.state == "not recorded":
            return NOT_RECORDED if self.report.setting.run else NO_CALL
        return f"{plain(self._counts)}\\. {METHOD}"

    @cached_property
    def neighbours(self) -> tuple[NeighbourView, ...]:
        """All neighbours."""
        return tuple(map(NeighbourView, self.report.neighbours[:MOST_NEIGHBOURS]))

    @property
    def rows(self) -> list[dict[str, str]]:
        """A row for each neighbour."""
        return [neighbour.row for neighbour in self.neighbours]

    @property
    def lines(self) -> Iterator[str]:
        """All neighbours as text, a line each, after the verdict; none if the job did not ask for them."""
        if self.state == "recorded":
            yield f"neighbours: {'; '.join(filter(None, (self._verdict, self._disturbed, self._counts)))}"
            yield from (f"  {_line(neighbour)}" for neighbour in self.neighbours)

    @property
    def _ran(self) -> list[NeighbourView]:
        return [neighbour for neighbour in self.neighbours if neighbour.ran]

    @property
    def _verdict(self) -> str:
        if not self._ran:
            return "No other compiler or runtime ran this model"
        timed = [(ratio, neighbour) for neighbour in self._ran if (ratio := neighbour.over_compiled) and not ratio.wide]
        if not timed:
            return f"{fmt.count(len(self._ran), 'neighbour')} ran this model; none was timed beside compiled"
        right = [(ratio, neighbour) for ratio, neighbour in timed if neighbour.same is not False]
        ratio, best = max(right, key=lambda pair: pair[0].low, default=(None, None))
        if ratio is None or best is None or not ratio.above:
            return "No neighbour with equal results is certainly faster than compiled"
        return f"{one_line(best.neighbour.name, LONGEST_NAME)} is {ratio_words(ratio)} as fast as compiled"

    @property
    def _counts(self) -> str:
        missing = sum(bool(neighbour.neighbour.missing) for neighbour in self.neighbours)
        differing = sum(neighbour.same is False for neighbour in self._ran)
        parts = [
            f"{fmt.number(len(self._ran))} of {fmt.count(len(self.neighbours), 'neighbour')} ran it",
            f"{fmt.number(missing)} {fmt.agree(missing, 'is', 'are')} not installed" if missing else "",
            f"{fmt.number(differing)} {fmt.agree(differing, 'differs', 'differ')} from eager" if differing else "",
        ]
        return ", ".join(filter(None, parts))

    @property
    def _disturbed(self) -> str:
        disturbed = (times_disturbed(item.times) for item in self.report.neighbours if item.times is not None)
        return next(filter(None, disturbed), "")


def _line(view: NeighbourView) -> str:
    row = view.row
    name = " ".join(filter(None, (row["neighbour"], row["installed"])))
    ratio = f"speedup over compiled {row['speedup over compiled']}" if row["speedup over compiled"] else ""
    timed = f"{row['a call']} a call" if row["a call"] else ""
    return f"{name}: {'; '.join(filter(None, (row['runs this model'], row['result'], timed, ratio, row['why'])))}"


__all__ = ["NeighbourView", "NeighboursView"]

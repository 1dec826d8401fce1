"""The numbers of two runs beside each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from core.analysis.memory import memory_of
from core.analysis.partition import saved_bytes
from core.analysis.phases import compile_time_s, phase_totals
from core.analysis.speed import Speed, speed
from core.analysis.verdict import Verdict, verdict
from core.analysis.work import captured_ops
from core.base.words import bytes_, duration_s, number, ratio
from core.report import MemorySide, Report

Unit = Literal["", "s", "B", "×"]

WORDS: dict[Unit, Callable[[float | None], str]] = {"": number, "s": duration_s, "B": bytes_, "×": ratio}


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of both runs; None where it was not recorded. `exact` says that two equal runs must have the same, and
    otherwise it was measured: how sure a difference is, is told with the times. `left_told` and `right_told` stand
    in place of the numbers where those need their bounds, or the reason why they are not known.
    """

    name: str
    left: float | None
    right: float | None
    unit: Unit = ""
    exact: bool = True
    left_told: str = ""
    right_told: str = ""

    @property
    def left_words(self) -> str:
        """The left number with its unit, or what is reported in its place."""
        return self.left_told or self.words(self.left)

    @property
    def right_words(self) -> str:
        """The right number with its unit, or what is reported in its place."""
        return self.right_told or self.words(self.right)

    @property
    def differs(self) -> bool:
        """Whether it is told for certain that it is not the same."""
        return self.exact and self.left is not None and self.right is not None and self.left != self.right

    def words(self, value: float | None) -> str:
        """One of its two numbers with its unit."""
        return WORDS[self.unit](value)


@dataclass(frozen=True, slots=True)
class PhasePair:
    """Seconds in which a phase of the compiler was open, in either run; None where it had no such phase."""

    name: str
    left_s: float | None
    right_s: float | None


Asked = Callable[[Report, Verdict], float | None]
COUNTS: dict[str, tuple[Asked, Unit]] = {
    "graphs": (lambda _, found: found.graphs, ""),
    "graph breaks": (lambda _, found: found.breaks, ""),
    "recompiles": (lambda _, found: found.recompiles, ""),
    "compilations": (lambda report, _: len(report.compilations), ""),
    "ops captured": (lambda report, _: sum(map(captured_ops, report.compilations)), ""),
    "guards": (lambda report, _: sum(len(item.guards) for item in report.compilations), ""),
    "kernels": (lambda _, found: found.work.kernels, ""),
    "kernel calls": (lambda _, found: found.work.calls if found.work.kernels else None, ""),
    "memory traffic": (lambda _, found: found.work.traffic.after if found.work.traffic else None, "B"),
    "saved for backward": (lambda report, _: _saved(report), "B"),
    "memory at the peak": (lambda report, _: _peak(report, "compiled"), "B"),
    "eager memory at the peak": (lambda report, _: _peak(report, "eager"), "B"),
}
MEASURED: dict[str, tuple[Asked, Unit]] = {
    "compile time": (lambda report, _: compile_time_s(report.phases) or None, "s"),
    "first compiled call": (lambda report, _: report.calls[0].compiled_s if report.calls else None, "s"),
    "compiled call": (lambda _, found: found.speed.compiled_s if found.speed else None, "s"),
    "eager call": (lambda _, found: found.speed.eager_s if found.speed else None, "s"),
}
RATIO = "faster than eager"


def figures(left: Report, right: Report) -> tuple[Figure, ...]:
    """All numbers that one of the two runs has."""
    one, other = verdict(left), verdict(right)
    found = [
        Figure(name, ask(left, one), ask(right, other), unit, exact)
        for table, exact in ((COUNTS, True), (MEASURED, False))
        for name, (ask, unit) in table.items()
    ]
    told = ratio_told(one.speed), ratio_told(other.speed)
    found.append(Figure(RATIO, _ratio(left), _ratio(right), "×", False, *told))
    known = (figure.left is not None or figure.right is not None or figure.left_told for figure in found)
    return tuple(figure for figure, is_known in zip(found, known, strict=True) if is_known or figure.right_told)


def ratio_told(found: Speed | None) -> str:
    """How many times faster than eager, with its bounds; the reason where that is not known, empty if not measured."""
    if found is None or found.interval is None:
        return found.unknown if found is not None else ""
    words = ratio(found.interval.middle, (found.interval.low, found.interval.high))
    return words if found.clear else f"none seen, {words}"


def phase_pairs(left: Report, right: Report) -> tuple[PhasePair, ...]:
    """The phases of both runs, those that took longest in either first."""
    one, other = ({total.name: total.total_s for total in phase_totals(side.phases)} for side in (left, right))
    names = sorted({*one, *other}, key=lambda name: (-max(one.get(name, 0.0), other.get(name, 0.0)), name))
    return tuple(PhasePair(name, one.get(name), other.get(name)) for name in names)


def _saved(report: Report) -> float | None:
    found = [one for item in report.compilations for one in item.partitions if not one.subgraph]
    return sum(saved_bytes(one.saved, "activation") for one in found) if found else None


def _peak(report: Report, side: MemorySide) -> float | None:
    """By the allocator's events, beyond what is held before the call."""
    found = memory_of(report, side)
    return found.peak_bytes if found is not None else None


def _ratio(report: Report) -> float | None:
    found = speed(report.timing)
    return found.interval.middle if found and found.interval else None

"""Numbers of two runs side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from core.analysis.memory import memory_of, saved_bytes
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
    """A number of both runs; None if it was not recorded.

    `exact` is True if equal runs must have equal values; other numbers are measured, and their uncertainty is reported
    with the times. `left_told` and `right_told` replace the numbers where bounds or a reason for a missing value are
    needed.
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
        """Left number with its unit, or the text reported instead."""
        return self.left_told or self.words(self.left)

    @property
    def right_words(self) -> str:
        """Right number with its unit, or the text reported instead."""
        return self.right_told or self.words(self.right)

    @property
    def differs(self) -> bool:
        """True if the two numbers certainly differ."""
        return self.exact and self.left is not None and self.right is not None and self.left != self.right

    def words(self, value: float | None) -> str:
        """Return a value in words, with the unit of this figure."""
        return WORDS[self.unit](value)


@dataclass(frozen=True, slots=True)
class PhasePair:
    """Seconds of a compiler phase in both runs; None if a run did not have the phase."""

    name: str
    left_s: float | None
    right_s: float | None


FigureReader = Callable[[Report, Verdict], float | None]
COUNTS: dict[str, tuple[FigureReader, Unit]] = {
    "graphs": (lambda _, summary: summary.graphs, ""),
    "graph breaks": (lambda _, summary: summary.breaks, ""),
    "recompiles": (lambda _, summary: summary.recompiles, ""),
    "compilations": (lambda report, _: len(report.compilations), ""),
    "ops captured": (lambda report, _: sum(map(captured_ops, report.compilations)), ""),
    "guards": (lambda report, _: sum(len(compilation.guards) for compilation in report.compilations), ""),
    "kernels": (lambda _, summary: summary.work.kernels, ""),
    "kernel calls": (lambda _, summary: summary.work.calls if summary.work.kernels else None, ""),
    "memory traffic": (lambda _, summary: summary.work.traffic.after if summary.work.traffic else None, "B"),
    "saved for backward": (lambda report, _: _saved(report), "B"),
    "memory at the peak": (lambda report, _: _peak(report, "compiled"), "B"),
    "eager memory at the peak": (lambda report, _: _peak(report, "eager"), "B"),
}
MEASURED: dict[str, tuple[FigureReader, Unit]] = {
    "compile time": (lambda report, _: compile_time_s(report) or None, "s"),
    "first compiled call": (lambda report, _: report.calls[0].compiled_s if report.calls else None, "s"),
    "compiled call": (lambda _, summary: summary.speed.compiled_s if summary.speed else None, "s"),
    "eager call": (lambda _, summary: summary.speed.eager_s if summary.speed else None, "s"),
}
RATIO = "faster than eager"


def figures(left: Report, right: Report) -> tuple[Figure, ...]:
    """Return all numbers that at least one of the two runs has."""
    left_verdict, right_verdict = verdict(left), verdict(right)
    all_figures = [
        Figure(name, value_of(left, left_verdict), value_of(right, right_verdict), unit, exact)
        for table, exact in ((COUNTS, True), (MEASURED, False))
        for name, (value_of, unit) in table.items()
    ]
    ratios = ratio_words(left_verdict.speed), ratio_words(right_verdict.speed)
    all_figures.append(Figure(RATIO, _ratio(left), _ratio(right), "×", False, *ratios))
    present = (figure.left is not None or figure.right is not None or figure.left_told for figure in all_figures)
    return tuple(
        figure for figure, is_present in zip(all_figures, present, strict=True) if is_present or figure.right_told
    )


def ratio_words(measured: Speed | None) -> str:
    """Return the speedup over eager with its bounds; the reason if it is unknown, empty if not measured."""
    if measured is None or measured.interval is None:
        return measured.unknown if measured is not None else ""
    words = ratio(measured.interval.middle, (measured.interval.low, measured.interval.high))
    return words if measured.clear else f"none seen, {words}"


def phase_pairs(left: Report, right: Report) -> tuple[PhasePair, ...]:
    """Return the phases of both runs, longest first."""
    left_seconds, right_seconds = (
        {total.name: total.total_s for total in phase_totals(side)} for side in (left, right)
    )
    names = sorted(
        {*left_seconds, *right_seconds},
        key=lambda name: (-max(left_seconds.get(name, 0.0), right_seconds.get(name, 0.0)), name),
    )
    return tuple(PhasePair(name, left_seconds.get(name), right_seconds.get(name)) for name in names)


def _saved(report: Report) -> float | None:
    partitions = [
        partition
        for compilation in report.compilations
        for partition in compilation.partitions
        if not partition.subgraph
    ]
    return sum(saved_bytes(partition.saved, "activation") for partition in partitions) if partitions else None


def _peak(report: Report, side: MemorySide) -> float | None:
    """Return the peak in bytes by allocator events, above the memory allocated before the call."""
    memory = memory_of(report, side)
    return memory.peak_bytes if memory is not None else None


def _ratio(report: Report) -> float | None:
    measured = speed(report.timing)
    return measured.interval.middle if measured and measured.interval else None

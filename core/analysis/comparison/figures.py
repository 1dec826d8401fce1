"""Numbers of two runs side by side, and the time ratio of their compiled calls.

The time ratio is from samples of two processes. Within a process, samples of compiled and eager calls are
interleaved; between two processes they are not. So two estimates are compared: the ratio of the seconds, and
the ratio of the speedups over eager. If the machine became slower between the runs, only the first estimate
changes. The interval spans both estimates. If eager does the same work in both runs and its time clearly
differs, only the ratio of the speedups counts.

Each interval is from the Mann-Whitney test for a shift between two samples of logarithms (Conover, "Practical
Nonparametric Statistics", 5.4), over blocks of neighbouring samples as in `core.analysis.interval`.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, TypeGuard

from core.analysis.durations import compile_time_s, phase_totals
from core.analysis.interval import ERROR, FEW, NOT_MEASURABLE, SCATTERED, Interval, in_blocks
from core.analysis.memory import memory_of, saved_bytes
from core.analysis.speed import Speed, speed
from core.analysis.verdict import Verdict, records_dynamo, verdict
from core.analysis.work import captured_ops
from core.base.words import bytes_, duration_s, number, ratio
from core.report import MemorySide, Report, SideTimes

Unit = Literal["", "s", "B", "×"]

WORDS: dict[Unit, Callable[[float | None], str]] = {"": number, "s": duration_s, "B": bytes_, "×": ratio}
LEAST_SAMPLES = 8


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of both runs; None if it was not recorded.

    `exact` is True if equal runs must have equal values. Other numbers are measured; `TimeComparison` has
    the uncertainty. `left_told` and `right_told` are texts to show instead of the numbers: bounds, or why a value
    is missing.
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


BREAKS = "graph breaks"
# Figures that only records of Dynamo have.
OF_DYNAMO = (BREAKS, "recompiles", "ops captured", "guards")
NOT_RECORDED, AT_LEAST = "not recorded", "at least "
FigureReader = Callable[[Report, Verdict], float | None]
COUNTS: dict[str, tuple[FigureReader, Unit]] = {
    "graphs": (lambda _, summary: summary.graphs, ""),
    BREAKS: (lambda _, summary: summary.breaks if summary.break_record == "complete" else None, ""),
    "recompiles": (lambda _, summary: summary.recompiles, ""),
    "compilations": (lambda report, _: len(report.compilations), ""),
    "ops captured": (lambda report, _: _captured_ops(report), ""),
    "guards": (lambda report, _: _guards(report), ""),
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
    "compiled call": (lambda _, summary: summary.speed.compiled_s if _is_reliable(summary.speed) else None, "s"),
    "eager call": (lambda _, summary: summary.speed.eager_s if _is_reliable(summary.speed) else None, "s"),
}
# Figures of the steady state, which only a quiet machine gives.
RATIO, CALLS = "faster than eager", ("compiled call", "eager call")


def figures(left: Report, right: Report) -> tuple[Figure, ...]:
    """Return all numbers that at least one of the two runs has."""
    left_verdict, right_verdict = verdict(left), verdict(right)
    all_figures = [
        Figure(
            name,
            value_of(left, left_verdict),
            value_of(right, right_verdict),
            unit,
            exact,
            _unrecorded_words(name, left),
            _unrecorded_words(name, right),
        )
        for table, exact in ((COUNTS, True), (MEASURED, False))
        for name, (value_of, unit) in table.items()
    ]
    ratios = ratio_words(left_verdict.speed), ratio_words(right_verdict.speed)
    all_figures.append(Figure(RATIO, _ratio(left), _ratio(right), "×", False, *ratios))
    present = (figure.left is not None or figure.right is not None or figure.left_told for figure in all_figures)
    return tuple(
        figure for figure, is_present in zip(all_figures, present, strict=True) if is_present or figure.right_told
    )


def _captured_ops(report: Report) -> float | None:
    return sum(map(captured_ops, report.compilations)) if records_dynamo(report) else None


def _guards(report: Report) -> float | None:
    """Return the number of guards; None if the log has no guards of a compiled frame."""
    guards = sum(len(compilation.guards) for compilation in report.compilations)
    return guards if guards or records_dynamo(report) else None


def _unrecorded_words(name: str, report: Report) -> str:
    """Return the text for a number that the log does not record completely; otherwise empty."""
    if name == BREAKS and report.break_record == "lower bound":
        return f"{AT_LEAST}{number(len(report.graph_breaks))}"
    if name in CALLS:
        return _doubt(speed(report.timing))
    unrecorded = report.break_record == "none" if name == BREAKS else not records_dynamo(report)
    return NOT_RECORDED if name in OF_DYNAMO and unrecorded else ""


def ratio_words(measured: Speed | None) -> str:
    """Return the speedup over eager with its bounds; the reason if it is unknown, empty if not measured."""
    if measured is None or measured.interval is None or measured.doubt:
        return _doubt(measured)
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
    return measured.interval.middle if measured and measured.interval and not measured.doubt else None


def _is_reliable(measured: Speed | None) -> TypeGuard[Speed]:
    return measured is not None and not measured.doubt


def _doubt(measured: Speed | None) -> str:
    """Return why a measured speed is not shown; empty if it is, or was not measured."""
    if measured is None or not measured.doubt:
        return ""
    return measured.unknown or f"{NOT_MEASURABLE}: {measured.disturbed}"


@dataclass(frozen=True, slots=True)
class TimeComparison:
    """Steady state of two runs on one clock, and the speedup of the right run's compiled call.

    `seconds` is the ratio of the seconds, `against_eager` the ratio of the speedups over eager. `eager` is the
    speedup of the right run's eager call: the machine's drift between the runs. `interval` spans both ratios, or
    is `against_eager` if the machine drifted. `against_eager` and `eager` are None if eager does different work
    in the runs. All four are None with too few samples. `disturbed` is the reason if the machine was not quiet.
    """

    left: Speed
    right: Speed
    interval: Interval | None
    seconds: Interval | None
    against_eager: Interval | None
    eager: Interval | None
    disturbed: str

    @property
    def drifted(self) -> bool:
        """True if the machine's speed clearly changed between the runs, judged by the eager calls."""
        return self.eager is not None and self.eager.apart

    @property
    def comparable(self) -> bool:
        """True if a difference can be attributed to the runs: both have times that findings would use."""
        return self.interval is not None and not self.interval.wide and not self.disturbed

    @property
    def why_not(self) -> str:
        """Reason why neither side is reported as faster; empty if the runs are comparable."""
        if self.interval is None:
            return FEW
        return "" if self.comparable else f"{NOT_MEASURABLE}: {self.disturbed or SCATTERED}"

    @property
    def faster(self) -> bool:
        """True if the right run is clearly faster."""
        return self.comparable and self.interval is not None and self.interval.above

    @property
    def slower(self) -> bool:
        """True if the right run is clearly slower."""
        return self.comparable and self.interval is not None and self.interval.below


def time_comparison(left: Report, right: Report, same_eager: bool) -> TimeComparison | None:
    """Compare the times of two measured runs, with the `same_eager` work or not; None if not measured."""
    if left.timing is None or right.timing is None:
        return None
    left_timing, right_timing = _on_same_clock(left.timing, right.timing)
    left_speed, right_speed = speed(left_timing), speed(right_timing)
    if left_speed is None or right_speed is None:
        return None
    (left_eager, left_compiled), (right_eager, right_compiled) = _logs(left_timing), _logs(right_timing)
    seconds = shift(left_compiled, right_compiled)
    drift = shift(left_eager, right_eager) if same_eager else None
    left_gains = [e - c for e, c in zip(left_eager, left_compiled, strict=True)]
    right_gains = [e - c for e, c in zip(right_eager, right_compiled, strict=True)]
    steadied = shift(right_gains, left_gains) if same_eager else None
    return TimeComparison(
        left=left_speed,
        right=right_speed,
        interval=steadied if drift is not None and drift.apart else _interval_over(seconds, steadied),
        seconds=seconds,
        against_eager=steadied,
        eager=drift,
        disturbed=_disturbed(left_speed, right_speed),
    )


def _on_same_clock(left: SideTimes, right: SideTimes) -> tuple[SideTimes, SideTimes]:
    """Return both timings on the wall clock if only one of them has device times."""
    if bool(left.walls) == bool(right.walls):
        return left, right
    return replace(left, sides=left.walls or left.sides), replace(right, sides=right.walls or right.sides)


def shift(above: Sequence[float], below: Sequence[float]) -> Interval | None:
    """Return the ratio of two samples, passed as logarithms; None with too few samples."""
    if min(len(above), len(below)) < LEAST_SAMPLES:
        return None
    above_medians, below_medians = ([statistics.median(block) for block in in_blocks(logs)] for logs in (above, below))
    differences = sorted(x - y for x in above_medians for y in below_medians)
    rank = _rank(len(above_medians), len(below_medians))
    middle = statistics.median(differences)
    return Interval(math.exp(differences[rank - 1]), math.exp(middle), math.exp(differences[-rank]))


@lru_cache(maxsize=256)
def _rank(n: int, m: int) -> int:
    """Return the rank of the sorted difference that bounds the shift from below; at least 1.

    The rank is the largest for which at most `ERROR` / 2 of all orders have a Mann-Whitney statistic below the rank.
    """
    orders = _order_counts(n, m)
    total, tail, rank = math.comb(n + m, n), 0, 0
    while (tail + orders[rank]) / total <= ERROR / 2:
        tail += orders[rank]
        rank += 1
    return max(rank, 1)


def _order_counts(n: int, m: int) -> list[int]:
    """Return the orders of n and m samples by Mann-Whitney statistic: Gaussian binomial coefficients."""
    orders = [1] + [0] * (n * m)
    for k in range(1, n + 1):
        for at in range(n * m, m + k - 1, -1):
            orders[at] -= orders[at - m - k]
        for at in range(k, n * m + 1):
            orders[at] += orders[at - k]
    return orders


def _logs(timing: SideTimes) -> tuple[list[float], list[float]]:
    eager, compiled = (list(map(math.log, timing.steady(side))) for side in ("eager", "compiled"))
    return eager, compiled


def _interval_over(first: Interval | None, second: Interval | None) -> Interval | None:
    if first is None or second is None:
        return first
    return Interval(min(first.low, second.low), first.middle, max(first.high, second.high))


def _disturbed(left: Speed, right: Speed) -> str:
    if left.disturbed and left.disturbed == right.disturbed:
        return f"in both runs {left.disturbed}"
    sides = (("left", left), ("right", right))
    return ", ".join(f"on the {name} {run_speed.disturbed}" for name, run_speed in sides if run_speed.disturbed)

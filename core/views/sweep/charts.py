"""Chart data of a sweep: cells, ratios over a numeric axis, total times, and heat maps."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.interval import Interval
from core.analysis.speed import calls_to_pay
from core.base import words as fmt
from core.sweep.model import Axis
from core.sweep.store import SweepRow
from core.views.markdown import LONGEST_NAME, one_line
from core.views.speedup import ratio_words

Side = Literal["eager", "compiled"]
# Number of steps of a curve over calls.
CURVE_STEPS = 160


@dataclass(frozen=True, slots=True)
class CellView:
    """A cell of a sweep in its charts."""

    row: SweepRow

    @property
    def label(self) -> str:
        """Position of the cell as an axis label."""
        return one_line(", ".join(self.row.at), LONGEST_NAME)

    def seconds(self, side: Side) -> float:
        """Return the median seconds of a call; 0 if not measured."""
        return (self.row.eager_s if side == "eager" else self.row.compiled_s) or 0.0

    def quartiles_s(self, side: Side) -> tuple[float, float]:
        """Return the quartiles in seconds; the median twice if not recorded."""
        quartiles_s = self.row.eager_quartiles_s if side == "eager" else self.row.compiled_quartiles_s
        return quartiles_s or (self.seconds(side), self.seconds(side))

    def peak_bytes(self, side: Side) -> int:
        """Return the peak memory of a call; 0 if not measured."""
        return (self.row.eager_peak_bytes if side == "eager" else self.row.compiled_peak_bytes) or 0

    @property
    def is_timed(self) -> bool:
        """True if both sides were timed."""
        return self.row.eager_s is not None and self.row.compiled_s is not None

    @property
    def has_memory(self) -> bool:
        """True if the memory of both sides was measured."""
        return self.row.eager_peak_bytes is not None and self.row.compiled_peak_bytes is not None

    @property
    def times_lines(self) -> list[str]:
        """Hover lines about times: label, both times, ratio, and the reason if the machine was not quiet."""
        row = self.row
        lines = [self.label, self._times, self._claim]
        return [*lines, *([one_line(row.disturbed)] if row.disturbed else [])]

    @property
    def state_lines(self) -> list[str]:
        """Lines about the cell in a heat map: the label, the state, and the ratio and both times if measured."""
        lines = [self.label, self.row.state]
        if self.row.ratio is not None:
            lines.append(self._claim)
        return [*lines, self._times] if self.row.compiled_s is not None else lines

    @property
    def _times(self) -> str:
        return f"eager {fmt.duration_s(self.row.eager_s)}, compiled {fmt.duration_s(self.row.compiled_s)}"

    @property
    def _claim(self) -> str:
        return f"{ratio_words(self.row.ratio)}: {self.row.claim}"

    def call_lines(self, place: int) -> list[str]:
        """Return the lines about a call: the label, and how it was executed."""
        call = self.row.calls[place]
        compilations = fmt.count(call.compilations, "compilation")
        took = f", {fmt.duration_s(call.compiled_s)}" if call.compiled_s is not None else ""
        return [self.label, f"call {place}: {call.how}, {compilations}{took}"]


def call_labels(cells: Sequence[CellView]) -> list[str]:
    """Return a label for each call of the cell with the most calls: the call's number and inputs."""
    calls = max((cell.row.calls for cell in cells), key=len, default=())
    return [f"call {place}: {call.inputs[:40]}" for place, call in enumerate(calls)]


@dataclass(frozen=True, slots=True)
class RatioPoint:
    """The ratio of a cell at the number `x` of an axis."""

    x: float
    cell: CellView
    ratio: Interval

    @property
    def words(self) -> str:
        """Ratio with its bounds."""
        return ratio_words(self.ratio)


@dataclass(frozen=True, slots=True)
class RatioSeries:
    """Ratios in the order of the numeric axis.

    `name` is the label on the second axis, empty without a second axis.
    """

    name: str
    points: tuple[RatioPoint, ...]


def numeric_axis(axes: Sequence[Axis]) -> int | None:
    """Return the index of the only numeric axis with several values.

    None if there is no such axis, if there are two, or if the sweep has more than two axes.
    """
    places = [place for place, axis in enumerate(axes) if len(axis.values) > 1 and all(map(_is_number, axis.values))]
    return places[0] if len(places) == 1 and len(axes) <= 2 else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def ratio_series(axis: Axis, place: int, rows: Sequence[SweepRow]) -> tuple[RatioSeries, ...]:
    """Return the ratios over the numeric axis `place`, a series for each label of the second axis."""
    values = dict(zip(axis.named(), axis.values, strict=True))
    series: dict[str, list[RatioPoint]] = {}
    for row in rows:
        if row.ratio is not None:
            name = ", ".join(label for index, label in enumerate(row.at) if index != place)
            point = RatioPoint(float(str(values[row.at[place]])), CellView(row), row.ratio)
            series.setdefault(name, []).append(point)
    return tuple(RatioSeries(name, tuple(sorted(points, key=lambda point: point.x))) for name, points in series.items())


@dataclass(frozen=True, slots=True)
class TotalCurve:
    """Total time of a cell by number of calls; the curve begins at the cost of the first calls."""

    cell: CellView
    cost_s: float

    @property
    def pays(self) -> tuple[int, int] | None:
        """Interval of the break-even, in calls; None if compiling does not measurably pay off."""
        row = self.cell.row
        if row.claim != "faster" or row.ratio is None or row.disturbed:
            return None
        return calls_to_pay(self.cost_s, row.eager_s or 0.0, row.ratio)

    @property
    def last_call(self) -> float:
        """Number of calls at which the curve ends: twice the break-even.

        Without a break-even, the curve ends when the calls together have taken ten times the cost of compiling.
        """
        return 2.0 * self.pays[1] if self.pays else 10 * self.cost_s / (self.cell.row.compiled_s or 1.0)

    def total_s(self, calls: float) -> float:
        """Return the seconds of a number of calls, including the cost."""
        return self.cost_s + calls * self.cell.seconds("compiled")


@dataclass(frozen=True, slots=True)
class SweepTotals:
    """Total time over calls, of eager and of each cell."""

    curves: tuple[TotalCurve, ...]

    @staticmethod
    def words(name: str, seconds: float, calls: float) -> str:
        """Return the hover text of a point of a curve."""
        return f"{name}: {fmt.duration_s(seconds)} after {fmt.count(round(calls), 'call')}"

    @property
    def eager_s(self) -> float:
        """Seconds of an eager call, the median over the cells."""
        return statistics.median(curve.cell.seconds("eager") for curve in self.curves)

    @property
    def last_call(self) -> float:
        """End of the longest curve, at least ten calls."""
        return max(10.0, *(curve.last_call for curve in self.curves))

    @property
    def calls(self) -> list[float]:
        """Numbers of calls at which totals are drawn, evenly on a logarithmic axis."""
        power = math.log10(self.last_call)
        return [10 ** (power * step / CURVE_STEPS) for step in range(CURVE_STEPS + 1)]


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of a row: `value` returns its value (None if unknown), `words` converts a value to text."""

    value: Callable[[SweepRow], float | None]
    words: Callable[[float], str]


def _log_ratio(row: SweepRow) -> float | None:
    """Return the ratio's logarithm to base 2; 0 if it is not significant, None without a ratio."""
    if row.ratio is None:
        return None
    return math.log2(row.ratio.middle) if row.clear else 0.0


SPEEDUP = "speedup"
MEASURES: Mapping[str, Measure] = {
    SPEEDUP: Measure(_log_ratio, lambda power: fmt.ratio(2**power) if power else "none seen"),
    "compiled call": Measure(lambda row: row.compiled_s, fmt.duration_s),
    "compile time": Measure(lambda row: row.compile_s, fmt.duration_s),
    "compilations": Measure(lambda row: row.compilations, fmt.number),
    "kernels": Measure(lambda row: row.kernels, fmt.number),
}


def measures_of(rows: Sequence[SweepRow]) -> tuple[str, ...]:
    """Return the measures with a value in at least one row."""
    return tuple(name for name, measure in MEASURES.items() if any(measure.value(row) is not None for row in rows))


@dataclass(frozen=True, slots=True)
class HeatMap:
    """A measure of all cells, by the labels of both axes; speedups are logarithms to base 2."""

    measure: str
    down: tuple[str, ...]
    across: tuple[str, ...]
    rows: tuple[SweepRow, ...]

    @property
    def is_two_sided(self) -> bool:
        """True for speedups: above 0 compiled is faster, below it eager."""
        return self.measure == SPEEDUP

    @property
    def _lines(self) -> list[list[SweepRow | None]]:
        by_place = {row.at: row for row in self.rows}
        return [[by_place.get((first, second)) for second in self.across] for first in self.down]

    @property
    def values(self) -> list[list[float | None]]:
        """Value of each cell; None without one."""
        value = MEASURES[self.measure].value
        return [[None if row is None else value(row) for row in line] for line in self._lines]

    @property
    def known_values(self) -> list[float]:
        """Values of the cells that have a value."""
        return [value for line in self.values for value in line if value is not None]

    @property
    def texts(self) -> list[list[str]]:
        """Value of each cell in words; empty without one."""
        words = MEASURES[self.measure].words
        return [["" if value is None else words(value) for value in line] for line in self.values]

    @property
    def cell_lines(self) -> list[list[list[str]]]:
        """Lines about each cell."""
        return [[_state_lines(row) for row in line] for line in self._lines]


def _state_lines(row: SweepRow | None) -> list[str]:
    return ["not made yet"] if row is None or row.state == "waiting" else CellView(row).state_lines

"""Budget of a model: limits on figures of its compiled runs, and the check that runs meet the limits.

The file `compileboard.toml` has limits by the names of a comparison's figures:

    results = "same"

    [at-most]
    graph-breaks = 0
    compiled-call = "2 ms"

    [at-least]
    speedup = 1.2

    [more-than-baseline]
    kernels = 0
    compiled-call = "5 %"

    [model.transformer_block.at-most]
    kernels = 5

The tables of a model replace the limits of the same names for this model alone.

A count is over its limit if any run exceeds the limit. A time is over its limit only if its whole interval
exceeds the limit. For a call, this is the interval of the median of the samples. For a time measured once per
run, such as the compile time, it is the range over all runs; at least `LEAST_RUNS` runs are needed.
"""

import difflib
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

from core.analysis.comparison.figures import BREAKS, COUNTS, MEASURED, WORDS, Unit
from core.analysis.comparison.matching import RunSide
from core.analysis.comparison.run import RunComparison, compare_runs
from core.analysis.interval import BUSY, FEW, Interval, busy, median_ratio
from core.analysis.results import failed_words, results, results_words
from core.analysis.speed import Speed, alternative_speed, speed
from core.analysis.verdict import verdict
from core.base.errors import JobError
from core.base.words import count, percent, ratio
from core.report import Place, Report, SideTimes

Kind = Literal["at most", "at least", "more than the baseline"]

MORE: Kind = "more than the baseline"
SPEEDUP = "speedup"
FIGURES: dict[str, Unit] = {name: unit for name, (_, unit) in (COUNTS | MEASURED).items()} | {SPEEDUP: "×"}
# Eager is what compiled code is compared with: its own numbers are no success or failure of torch.compile.
UNLIMITED = ("eager memory at the peak", "eager call")
TABLES: dict[str, Kind] = {
    "at-most": "at most",
    "at-least": "at least",
    "more-than-baseline": MORE,
}
MODEL, RESULTS, SAME = "model", "results", "same"
TOP = (RESULTS, MODEL, *TABLES)
SCALES: dict[Unit, dict[str, float]] = {
    "s": {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0},
    "B": {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
}
QUANTITY = re.compile(r"(\d+(?:\.\d+)?) ?([^\d\s]*)")
PERCENT = "%"
Standing = Literal["within", "over", "undecided", "not recorded"]

# The smallest of five values is above the true median in 3 % of all cases.
LEAST_RUNS = 5
MOST_CULPRITS = 20  #: lines of code named for an exceeded limit
CALL = "compiled call"
RECOMPILES = "recompiles"
NOT_LOGGED = "torch before 2.6 does not log them"
NOT_MEASURED = "the run was not measured"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on a figure, in its unit (s, B, ×, or none); a share of the baseline's value if `relative`."""

    figure: str
    kind: Kind
    value: float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """All limits on a model; `results` is True if the results must equal eager's."""

    limits: tuple[Limit, ...]
    results: bool = False


def read_budget(text: str, model: str = "") -> Budget:
    """Return the budget of a model from the text of a file; raises JobError with the place of a mistake."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise JobError("budget", f"not valid TOML: {error}") from None
    _check_names(tables, TOP, "")
    models = tables.pop(MODEL, {})
    if not isinstance(models, dict):
        raise JobError(f"budget.{MODEL}", "must be tables, one for each model")
    results, limits = _limits(tables, "")
    own: tuple[bool | None, dict[tuple[str, Kind], Limit]] = (None, {})
    for name, table in models.items():
        if not isinstance(table, dict):
            raise JobError(f"budget.{MODEL}.{name}", "must be a table")
        _check_names(table, (RESULTS, *TABLES), f"{MODEL}.{name}.")
        of_model = _limits(table, f"{MODEL}.{name}.")
        own = of_model if name == model else own
    chosen = results if own[0] is None else own[0]
    budget = Budget(tuple((limits | own[1]).values()), bool(chosen))
    if not budget.limits and not budget.results:
        raise JobError("budget", f"has no limit for this model; its tables are {', '.join(TABLES)}")
    return budget


def _limits(tables: Mapping[str, Any], where: str) -> tuple[bool | None, dict[tuple[str, Kind], Limit]]:
    """Return whether equal results are required (None if not set), and the limits by figure and kind."""
    limits = {}
    for table, kind in TABLES.items():
        entries = tables.get(table, {})
        if not isinstance(entries, dict):
            raise JobError(f"budget.{where}{table}", "must be a table")
        allowed = {name.replace(" ", "-"): name for name in FIGURES if name not in UNLIMITED}
        _check_names(entries, tuple(allowed), f"{where}{table}.")
        for name, value in entries.items():
            figure = allowed[name]
            limits[figure, kind] = _limit(figure, kind, value, f"budget.{where}{table}.{name}")
    required = tables.get(RESULTS)
    if required not in (None, SAME, ""):
        raise JobError(f"budget.{where}{RESULTS}", f'must be "{SAME}", or "" for no requirement')
    return (None if required is None else required == SAME), limits


def _limit(figure: str, kind: Kind, value: object, where: str) -> Limit:
    unit = FIGURES[figure]
    if figure == SPEEDUP and kind != "at least":
        raise JobError(where, "a speedup is limited in [at-least]")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise JobError(where, "must be a number, or text with a unit")
    match = QUANTITY.fullmatch(str(value))
    if match is None:
        raise JobError(where, f"must be a number of 0 or more, with a unit if it has one: {value!r} is not")
    amount, suffix = float(match[1]), match[2]
    if kind == MORE:
        if suffix == PERCENT:
            return Limit(figure, kind, amount / 100, relative=True)
        if unit == "s":
            raise JobError(where, 'times are compared as shares: "5 %"')
    elif kind == "at least" and unit == "s":
        raise JobError(where, "times are limited in [at-most]")
    scales = {"": 1.0} if not suffix else SCALES.get(unit, {})
    if suffix not in scales:
        known = ", ".join(SCALES.get(unit, {})) or "none"
        raise JobError(where, f"has no unit {suffix!r}; its units: {known}")
    value = amount * scales[suffix]
    if kind == "at least" and not value:
        raise JobError(where, "must be above 0")
    return Limit(figure, kind, int(value) if value.is_integer() else value)


def _check_names(table: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in allowed:
            near = difflib.get_close_matches(name[:100], allowed, 1, 0.5)
            meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(allowed)}"
            raise JobError(f"budget.{where}{name[:100]}", f"is unknown{meant}")


@dataclass(frozen=True, slots=True)
class Culprit:
    """A user's line with torch's reason for the graph break or recompile.

    `place` is None if torch does not log the line.
    """

    place: Place | None
    reason: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """Judgement of a limit: the limit, the value of the runs, and the outcome, in words.

    `reason` explains an undecided or missing value, or how results differ.
    """

    name: str
    limit: str
    value: str
    standing: Standing
    reason: str = ""
    culprits: tuple[Culprit, ...] = ()

    @property
    def failed(self) -> bool:
        """True if the limit is exceeded, or if its figure was not recorded."""
        return self.standing in ("over", "not recorded")


def compare_sides(runs: Sequence[RunSide], baseline: Sequence[RunSide]) -> RunComparison | None:
    """Compare the runs of one job with the runs of a baseline; None without a baseline.

    On each side, the last run counts, with the samples of all runs.
    """
    return compare_runs(_Side(baseline).joined, _Side(runs).joined) if baseline else None


def judge(
    budget: Budget,
    runs: Sequence[RunSide],
    baseline: Sequence[RunSide] = (),
    comparison: RunComparison | None = None,
) -> tuple[Judgement, ...]:
    """Judge the runs of one job by a budget, and with a baseline by limits relative to it."""
    right = _Side(runs)
    left = _Side(baseline) if baseline else None
    comparison = comparison or compare_sides(runs, baseline)
    judgements = [Judgement("run", "ends", failed_words(right.report), "over")] if failed_words(right.report) else []
    if budget.results:
        judgements.append(_results(right.report))
    judgements.extend(_judgement(limit, right, left, comparison) for limit in budget.limits)
    return tuple(judgements)


class _Side:
    """The runs of one job: their figures, and one report with the samples of all runs."""

    def __init__(self, runs: Sequence[RunSide]) -> None:
        self.reports = [run.report for run in runs]
        timings = [report.timing for report in self.reports if report.timing is not None]
        self.report = replace(self.reports[-1], timing=_joined(timings)) if timings else self.reports[-1]
        self.joined = replace(runs[-1], report=self.report)

    @property
    def beside_baseline(self) -> list[Speed]:
        """Speed of the baseline relative to the run, for each run that timed both interleaved."""
        rivals = [report.rival for report in self.reports if (report.setting.job or {}).get("rival_code")]
        speeds = [alternative_speed(rival) for rival in rivals if rival is not None]
        return [measured for measured in speeds if measured is not None]

    def values(self, figure: str) -> list[float]:
        """Return the values of a figure, from all runs that recorded the figure."""
        value_of, _ = (COUNTS | MEASURED)[figure]
        return [value for report in self.reports if (value := value_of(report, verdict(report))) is not None]


def _joined(timings: Sequence[SideTimes]) -> SideTimes:
    """Return one timing with the samples of several runs, run after run, without warm-up samples."""
    first = timings[0]
    busiest = next((timing.load for timing in timings if busy(timing.load)), first.load)

    def joined(tables: Sequence[dict[str, tuple[float, ...]]]) -> dict[str, tuple[float, ...]]:
        steady = [(table, timing.warm_up) for table, timing in zip(tables, timings, strict=True)]
        return {
            side: tuple(chain.from_iterable(table.get(side, ())[start:] for table, start in steady))
            for side in tables[0]
        }

    sides, walls = joined([timing.sides for timing in timings]), joined([timing.walls for timing in timings])
    return replace(first, sides=sides, walls=walls, warm_up=0, load=busiest)


def _results(report: Report) -> Judgement:
    result = results(report)
    if result is None:
        return Judgement("results", "same", "–", "not recorded", "nothing was compared with eager")
    standings: dict[str, Standing] = {"same": "within", "differs": "over"}
    return Judgement(
        "results", "same", result.outcome, standings.get(result.outcome, "undecided"), results_words(result)
    )


def _judged(
    limit: Limit, value: str, standing: Standing, reason: str = "", culprits: tuple[Culprit, ...] = ()
) -> Judgement:
    return Judgement(limit.figure, _limit_words(limit), value, standing, reason, culprits)


def _of_interval(limit: Limit, interval: tuple[float, float], bound: float, value: str, doubt: str) -> Judgement:
    """Judge a value by its interval.

    The value is within the limit if the whole interval is, and over the limit if the whole interval is above it. The
    judgement is undecided if the interval contains the limit, or if a doubt remains about a value over the limit.
    """
    low, high = interval
    if high <= bound:
        return _judged(limit, value, "within")
    if low <= bound:
        return _judged(limit, value, "undecided", "the interval contains the limit")
    return _judged(limit, value, "undecided" if doubt else "over", doubt)


def _judgement(limit: Limit, right: _Side, left: _Side | None, comparison: RunComparison | None) -> Judgement:
    if limit.kind == MORE and (left is None or comparison is None):
        return _judged(limit, "–", "undecided", "there is no baseline (--baseline)")
    if limit.figure == SPEEDUP:
        return _speedup(limit, right)
    if limit.figure == CALL:
        return _call(limit, right) if comparison is None or not limit.relative else _slower(limit, right, comparison)
    if limit.figure == BREAKS and (doubtful := _incomplete_breaks(limit, right, left)):
        return doubtful
    values, before = right.values(limit.figure), left.values(limit.figure) if left and limit.kind == MORE else [0.0]
    if not values or not before:
        return _judged(limit, "–", "not recorded")
    if limit.figure in MEASURED:
        return _once(limit, values, before)
    return _count(limit, values, before, right, comparison)


def _incomplete_breaks(limit: Limit, right: _Side, left: _Side | None) -> Judgement | None:
    """Judge graph breaks of logs that do not record all of them; None if all are recorded.

    Their number is over the limit if already the lower bound is. Otherwise it counts as not recorded.
    """
    sides = [*right.reports, *(left.reports if left and limit.kind == MORE else [])]
    if all(report.break_record == "complete" for report in sides):
        return None
    report = max(right.reports, key=lambda report: len(report.graph_breaks))
    least = len(report.graph_breaks)
    if not least:
        return _judged(limit, "–", "not recorded", NOT_LOGGED)
    value = f"at least {WORDS[''](least)}"
    if limit.kind == "at least" and least >= limit.value:
        return _judged(limit, value, "within")
    if limit.kind == "at most" and least > limit.value:
        culprits = _culprits(limit.figure, report, None)
        return _judged(limit, value, "over", "", culprits[:MOST_CULPRITS])
    return _judged(limit, value, "not recorded", NOT_LOGGED)


def _bound(limit: Limit, before: float) -> float:
    """Return the limit as a value of the figure."""
    if limit.relative:
        return before * (1 + limit.value)
    return before + limit.value if limit.kind == MORE else limit.value


def _count(
    limit: Limit, values: list[float], before: list[float], right: _Side, comparison: RunComparison | None
) -> Judgement:
    is_least = limit.kind == "at least"
    worst, earlier = (min(values) if is_least else max(values)), max(before)
    bound = _bound(limit, earlier)
    is_over = worst < bound if is_least else worst > bound
    words = WORDS[COUNTS[limit.figure][1]]
    value = f"{words(earlier)} → {words(worst)}" if limit.kind == MORE else words(worst)
    if not is_over:
        return _judged(limit, value, "within")
    culprits = _culprits(limit.figure, right.report, comparison if limit.kind == MORE else None)
    return _judged(limit, value, "over", "", culprits[:MOST_CULPRITS])


def _culprits(figure: str, report: Report, comparison: RunComparison | None) -> tuple[Culprit, ...]:
    """Return the graph breaks or recompiles behind a figure, with a comparison the new ones."""
    if figure == BREAKS:
        breaks = [pair.right for pair in comparison.breaks if not pair.left] if comparison else report.graph_breaks
        return tuple(_culprit(each.place, each.reason) for each in breaks if each is not None)
    if figure == RECOMPILES:
        pairs = comparison.recompiles if comparison else ()
        recompiles = [pair.right for pair in pairs if not pair.left] if comparison else report.recompiles
        return tuple(_culprit(each.location, each.reason) for each in recompiles if each is not None)
    return ()


def _culprit(place: Place | None, reason: str) -> Culprit:
    return Culprit(place if place is not None and place.file else None, reason)


def _once(limit: Limit, values: list[float], before: list[float]) -> Judgement:
    """Judge a time measured once per run, by its range over all runs; over it, few runs decide nothing."""
    is_relative = limit.kind == MORE
    value = f"{_range(before)} → {_range(values)}" if is_relative else _range(values)
    runs = min(len(values), len(before)) if is_relative else len(values)
    doubt = f"{count(runs, 'run')}; --repeat {LEAST_RUNS} gives an interval" if runs < LEAST_RUNS else ""
    return _of_interval(limit, (min(values), max(values)), _bound(limit, max(before)), value, doubt)


def _range(seconds: list[float]) -> str:
    low, high = WORDS["s"](min(seconds)), WORDS["s"](max(seconds))
    return low if len(seconds) == 1 else f"{low} to {high}"


def _call(limit: Limit, side: _Side) -> Judgement:
    """Judge the seconds of a call by the interval of their median."""
    timing = side.report.timing
    samples = timing.steady("compiled") if timing else ()
    measured = median_ratio(samples, [1.0] * len(samples))
    if timing is None or measured is None:
        return _judged(limit, "–", "not recorded", FEW if timing else NOT_MEASURED)
    words = WORDS["s"]
    value = f"{words(measured.middle)} ({words(measured.low)} to {words(measured.high)})"
    doubt = BUSY if busy(timing.load) else ""
    return _of_interval(limit, (measured.low, measured.high), limit.value, value, doubt)


def _slower(limit: Limit, right: _Side, comparison: RunComparison) -> Judgement:
    """Judge the ratio of the call time to the baseline's, if possible of runs that timed both."""
    if right.beside_baseline:
        beside = sorted(
            (each.interval for each in right.beside_baseline if each.interval), key=lambda each: each.middle
        )
        if not beside:
            return _judged(limit, "–", "undecided", right.beside_baseline[0].unknown)
        middle = beside[len(beside) // 2]
        value = f"{_bounds(middle)} the baseline's time, interleaved"
        return _of_interval(limit, (middle.low, middle.high), 1 + limit.value, value, "")
    times = comparison.times
    if times is None or times.interval is None:
        return _judged(limit, "–", "not recorded", times.why_not if times else NOT_MEASURED)
    ratio_of = times.interval.inverse()
    value = f"{_bounds(ratio_of)} the baseline's time"
    return _of_interval(limit, (ratio_of.low, ratio_of.high), 1 + limit.value, value, times.why_not)


def _speedup(limit: Limit, side: _Side) -> Judgement:
    measured = speed(side.report.timing)
    if measured is None or measured.interval is None:
        return _judged(limit, "–", "not recorded", measured.unknown if measured else NOT_MEASURED)
    slowness = measured.interval.inverse()
    return _of_interval(limit, (slowness.low, slowness.high), 1 / limit.value, _bounds(measured.interval), "")


def _bounds(interval: Interval) -> str:
    return ratio(interval.middle, (interval.low, interval.high))


def _limit_words(limit: Limit) -> str:
    unit = "×" if limit.figure == SPEEDUP else (COUNTS | MEASURED)[limit.figure][1]
    amount = percent(limit.value) if limit.relative else WORDS[unit](limit.value)
    return f"{limit.kind} {amount}" if limit.kind != MORE else f"at most {amount} more"

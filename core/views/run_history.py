"""Stored runs over time: the history of one metric of a model, use of limits, and retention.

The history has a series for each group of comparable runs. Retention rules select the runs that move to the
archive or are deleted.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from core.base import words as fmt
from core.base.errors import CompileboardError
from core.runs.index.database import RunIndex
from core.runs.index.entry import IndexedRun, Usage
from core.runs.limits import Limits
from core.runs.remote import RemoteArchive, remote_archive
from core.runs.retention import DELETES, Due, RetentionRules, due, rules_of
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, quoted
from core.views.runs import ListedRun

MOST_SERIES = 8  #: limit: series of the chart over time
MOST_RUNS = 500  #: limit: runs of the chart over time
UNKNOWN = "device and inputs not recorded"
NO_RUN = "No run that has ended matches."


def model_labels(models: Mapping[str, int]) -> dict[str, str]:
    """Return title → label for each model; a label has the title and the number of runs."""
    return {
        name: f"{one_line(name, LONGEST_NAME) or 'no title'} · {fmt.count(count, 'run')}"
        for name, count in models.items()
    }


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of runs.

    `value` returns the metric of a run, None if unknown; `words` converts it to text. `factor` converts it to
    the unit of the axis.
    """

    title: str
    axis: str
    value: Callable[[IndexedRun], float | None]
    words: Callable[[float], str]
    factor: float = 1.0


def _of_summary(name: str) -> Callable[[IndexedRun], float | None]:
    return lambda entry: getattr(entry.summary, name) if entry.summary else None


def _speedup(entry: IndexedRun) -> float | None:
    speed = entry.summary.speed if entry.summary else None
    return speed.interval.middle if speed and speed.interval else None


METRICS = {
    "speedup": Metric("Speedup", "eager / compiled, 99 % interval", _speedup, fmt.ratio),
    "compile": Metric("Compile time", "compile time of all compilations (s)", _of_summary("compile_s"), fmt.duration_s),
    "breaks": Metric("Graph breaks", "graph breaks", _of_summary("breaks"), fmt.number),
    "recompiles": Metric("Recompiles", "recompiles", _of_summary("recompiles"), fmt.number),
    "kernels": Metric("Kernels", "kernels", _of_summary("kernels"), fmt.number),
    "memory": Metric(
        "Memory",
        "peak memory of the run's processes (MB)",
        lambda entry: entry.status.peak_memory_bytes,
        fmt.bytes_,
        1e-6,
    ),
}


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """A run in the chart.

    `value` is its metric, `bounds` are those of the interval (None without one), `lines` are its hover text.
    """

    run: str
    created_s: float
    torch: str
    value: float
    bounds: tuple[float, float] | None
    lines: tuple[str, ...]

    def words(self, metric: Metric) -> str:
        """Return the value as text, with its interval."""
        return fmt.ratio(self.value, self.bounds) if self.bounds else metric.words(self.value)


@dataclass(frozen=True, slots=True)
class HistorySeries:
    """Comparable runs, oldest first."""

    label: str
    points: tuple[HistoryPoint, ...]


@dataclass(frozen=True, slots=True)
class HistoryView:
    """The chart of one metric of one model.

    `left_out` are series that are not drawn. `without` counts the runs in which the metric is unknown, `unread`
    the runs whose report was not read yet, and `older` the runs too old for the chart.
    """

    model: str
    metric: Metric
    series: tuple[HistorySeries, ...]
    left_out: tuple[HistorySeries, ...]
    without: int
    unread: int = 0
    older: int = 0

    @staticmethod
    def of(model: str, metric: str, listed: Sequence[ListedRun], total: int) -> HistoryView:
        """Return the chart of a model's newest runs with its largest series; `total` counts all runs."""
        chosen = METRICS[metric]
        groups: dict[str, list[HistoryPoint]] = {}
        for each in sorted(listed, key=lambda each: each.status.created_s):
            point = _point(each, chosen)
            if point is not None:
                groups.setdefault(_group(each.entry), []).append(point)
        series = [HistorySeries(label, tuple(points)) for label, points in groups.items()]
        series.sort(key=lambda each: -len(each.points))
        known = sum(len(each.points) for each in series)
        unread = sum(each.summary is None and each.status.state != "damaged" for each in listed)
        unread = 0 if metric == "memory" else unread
        return HistoryView(
            *(model, chosen, tuple(series[:MOST_SERIES]), tuple(series[MOST_SERIES:])),
            without=len(listed) - known - unread,
            unread=unread,
            older=max(0, total - len(listed)),
        )

    @property
    def title(self) -> str:
        """The number in the latest and in the first run of the largest series, as Markdown."""
        name = f"{self.metric.title} of {quoted(self.model, LONGEST_NAME)}"
        if not self.series:
            return f"{name} was not recorded"
        points = self.series[0].points
        first, last = points[0], points[-1]
        if len(points) == 1:
            return f"{name}: {last.words(self.metric)}"
        return f"{name}: {last.words(self.metric)} in the latest run, {first.words(self.metric)} in the first"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on separate series, and on runs that are not drawn."""
        notes = []
        if len(self.series) > 1:
            notes.append(
                "Runs with different devices, inputs or options are separate series, not comparable with each other; "
                "the title is about the largest."
            )
        if self.left_out:
            runs = fmt.count(sum(len(each.points) for each in self.left_out), "run")
            many = fmt.count(len(self.left_out), "smaller series", "smaller series")
            notes.append(f"{many} ({runs}) not drawn.")
        if self.without:
            notes.append(f"{self.metric.title} not recorded in {fmt.count(self.without, 'run')}.")
        if self.unread:
            notes.append(f"The report of {fmt.count(self.unread, 'run')} was not read yet; open a run to read it.")
        if self.older:
            notes.append(f"{fmt.count(self.older, 'older run')} not drawn.")
        return tuple(notes)


def _point(listed: ListedRun, metric: Metric) -> HistoryPoint | None:
    """Return the point of a run; None if the number is unknown."""
    entry, value = listed.entry, metric.value(listed.entry)
    if value is None:
        return None
    torch = (entry.summary.torch.partition("+")[0] if entry.summary else "") or "not recorded"
    speed = entry.summary.speed if entry.summary and metric.value is _speedup else None
    bounds = (speed.interval.low, speed.interval.high) if speed and speed.interval else None
    point = HistoryPoint(listed.id, listed.status.created_s, torch, value, bounds, ())
    lines = (
        one_line(listed.title, LONGEST_NAME),
        f"{metric.title}: {point.words(metric)}",
        f"torch {torch}",
        one_line(listed.detail, LONGEST_LINE),
        *(one_line(listed.doubt, LONGEST_LINE),) * bool(speed and listed.doubt),
    )
    return replace(point, lines=lines)


def _group(entry: IndexedRun) -> str:
    """Return the common properties of comparable runs in one line: device, inputs and options."""
    summary = entry.summary
    parts = (summary.device or entry.device, summary.inputs) if summary else (entry.device,)
    return one_line(" · ".join(filter(None, (*parts, *entry.settings))), LONGEST_LINE) or UNKNOWN


# Share of a limit from which on its use is a warning.
NEARLY = 0.8
STAY = "Pinned runs, cells of sweeps, and runs with notes or comments stay."


@dataclass(frozen=True, slots=True)
class UsageView:
    """Use of the owner's limits; `is_named` is True for a visitor with a name, who has own limits."""

    limits: Limits
    usage: Usage
    is_named: bool

    @property
    def words(self) -> str:
        """The used amount of each limit, with a warning if one is nearly used up; empty without limits."""
        words = " · ".join(f"{used} of {most} {what}" for used, most, what, _ in self._parts)
        more = " When it is used up, nothing new is started or opened; what is here stays until it is deleted."
        return f"Used here: {words}.{more if self.is_nearly_used else ''}" if words else ""

    @property
    def is_nearly_used(self) -> bool:
        """True if the use of a limit has reached the share `NEARLY`."""
        return max((share for *_, share in self._parts), default=0.0) >= NEARLY

    @property
    def _parts(self) -> list[tuple[str, str, str, float]]:
        """The used amount, the maximum, the name and the used share of each limit."""
        limits, usage = self.limits, self.usage
        known = (
            (limits.runs, usage.runs, fmt.number, "runs of yours"),
            (limits.visitor_bytes, usage.visitor_bytes, fmt.gib, "for your runs"),
            (limits.store_bytes, usage.store_bytes, fmt.gib, "for all"),
        )
        bounds = known if self.is_named else known[2:]
        return [(words(have), words(most), what, have / most) for most, have, words, what in bounds if most is not None]


@dataclass(frozen=True, slots=True)
class RetentionView:
    """Retention rules of a store, its archive, and the runs that are due; `archive` is None without one."""

    rules: RetentionRules
    archive: RemoteArchive | None
    due: Due

    @property
    def rule_words(self) -> str:
        """The rules as a sentence; empty if there are none."""
        days, size = self.rules.days, self.rules.most_bytes
        parts = [
            *([f"are older than {fmt.exact(days)} days"] if days is not None else []),
            *([f"are the oldest of more than {fmt.gib(size)}"] if size is not None else []),
        ]
        return f"Runs that {' or '.join(parts)} {self.what_happens}." if parts else ""

    @property
    def what_happens(self) -> str:
        """The sentence's end: due runs move to the archive, are deleted, or stay (with the reason)."""
        if self.archive is not None:
            return "move to the archive, and come back when they are opened"
        return "are deleted" if self.rules.deletes else f"stay: there is no archive, and {DELETES} is not 1"

    @property
    def due_words(self) -> str:
        """The number of due runs, or the date on which the next run is due; empty if no run will be due."""
        if self.due.runs:
            number, size = len(self.due.runs), fmt.bytes_(self.due.size_bytes)
            when = " within the hour" if self.archive is not None or self.rules.deletes else ""
            return f"{fmt.count(number, 'run')} ({size}) {fmt.agree(number, 'is', 'are')} due{when}."
        if self.due.next_s is None:
            return ""
        return f"The next is due on {time.strftime('%Y-%m-%d', time.localtime(self.due.next_s))}."

    @property
    def words(self) -> str:
        """The rules, the due runs and the exceptions; empty without rules."""
        return " ".join(filter(None, (self.rule_words, self.due_words, STAY))) if self.rule_words else ""


def retention_view(index: RunIndex) -> RetentionView:
    """Return the retention of a store, from the environment; raises SettingError, StoreError."""
    rules, archive = rules_of(os.environ), remote_archive(index.store)
    return RetentionView(rules, archive, due(index, rules, moves=archive is not None))


def retention_words(index: RunIndex) -> str:
    """Return the retention of a store in words, or the error; empty without rules."""
    try:
        return retention_view(index).words
    except CompileboardError as error:
        return str(error)

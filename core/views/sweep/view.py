"""View of a sweep: answer, progress, charts and table; texts are Markdown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from core.base import words as fmt
from core.base.errors import StoreError
from core.base.files import read
from core.base.machine import Environment
from core.code.diff import diff_texts
from core.job import MAX_CODE_BYTES
from core.runs.store import Store
from core.sweep.model import VARIANT, Axis, Sweep
from core.sweep.presets import Answer, BreakEven, Crossover, Question, answer, preset_of, reason
from core.sweep.presets.preset import RecipeFact, TriedFact, interval_words, label, listed, seconds, speed_words
from core.sweep.store import SweepRow
from core.sweep.table import SweepStanding, as_csv, as_json
from core.views.blocks import (
    Code,
    Column,
    Data,
    Drawn,
    Heading,
    Listing,
    PageBlock,
    PageLink,
    Table,
    Text,
    TextTable,
    Title,
    paragraph,
    spans,
)
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, one_line, plain, prose
from core.views.progress import at_words, reached_words
from core.views.speedup import ratio_words
from core.views.sweep.charts import (
    CellView,
    HeatMap,
    RatioPoint,
    RatioSeries,
    SweepTotals,
    TotalCurve,
    call_labels,
    measures_of,
    numeric_axis,
    ratio_series,
)
from core.views.verdict import first_parts, title

LONGEST_CELL = 60  #: characters of a cell of a table in text
MOST_BARS = 40  #: limit: cells drawn as bars
AXIS_TITLES = {"batch": "batch size", "threads": "threads"}
WHY_ENDED = {"cancelled": "Cancelled. ", "interrupted": "Interrupted: its server ended. "}
Picture = Literal["", "calls", "cumulative", "lines", "heat", "bars"]
Chart = Literal["calls", "spent", "phases", "ratio", "lines", "memory", "times"]


# Presets whose answers are about failures and differing results.
OF_FAILURES = ("ladder", "mitigations")


def sweep_title(sweep: Sweep, rows: Sequence[SweepRow], result: Answer) -> str:
    """Return the cells with wrong results, or else the answer's first clauses, or else the question."""
    unlike = [label(row) for row in rows if row.results == "differs"]
    if unlike and sweep.preset not in OF_FAILURES:
        return title(f"results differ from eager's with {listed(unlike)}")
    return title(first_parts(result.sentence.removesuffix(".").split("; "), "; ") or preset_of(sweep).question)


def recipe(result: Answer, diff: str) -> Iterator[PageBlock]:
    """Yield the diff of a proven recipe, its changes, and those that did not help."""
    proven = next((fact for fact in result.facts if isinstance(fact, RecipeFact)), None)
    tried = [fact for fact in result.facts if isinstance(fact, TriedFact)]
    parts = [fact for fact in tried if proven is not None and fact.change in proven.changes]
    if proven is not None:
        yield Listing("Diff of your file", Code(diff, "diff"), is_open=True) if diff else Text(spans(NO_DIFF), "note")
        yield from [Data("faster.patch", lambda: diff)] if diff else ()
        yield Listing("The settings as code", Code(proven.code), is_open=not diff)
        yield Table("recipe", TRIED[:2], parts)
    others = [fact for fact in tried if fact not in parts and fact.outcome]
    if others:
        yield Heading("Not in it" if proven is not None else "Tried so far", TRIED_HELP)
        yield Table("tried", TRIED, others)


def faster(view: SweepView | None, store: Store) -> Iterator[PageBlock]:
    """Yield the page *Faster*: a search with its answer, its progress and its diff, and how to start one."""
    yield Title(spans(view.title if view is not None else NO_SEARCH))
    if view is not None:
        yield Drawn(PROGRESS, paragraph(view.ending))
        yield from (Text(spans(note), "quiet") for note in view.notes)
        yield from recipe(view.answer, recipe_diff(store, view.answer))
        yield PageLink("sweep", "All runs of this search", {"sweep": view.sweep.id})
    yield Drawn(START, paragraph("Start a search with `python -m core tune MODEL`."))


def recipe_diff(store: Store, result: Answer) -> str:
    """Return the change of a model's file that a proven recipe makes, as it was run; empty without one."""
    run_id = next((fact.run for fact in result.facts if isinstance(fact, RecipeFact)), "")
    with contextlib.suppress(StoreError, OSError):
        run = store.open(run_id) if run_id else None
        job = run.job() if run is not None else None
        if run is not None and job is not None and job.repairs:
            before = read(run.original_path, MAX_CODE_BYTES).decode("utf-8", "replace")
            name = job.model.value.rpartition("/")[2] if job.model.kind == "file" else f"{job.model.name}.py"
            return diff_texts(before, run.code(), f"a/{name}", f"b/{name}").text
    return ""


PROGRESS, START, NO_SEARCH = "progress", "start", "Find settings that make this model faster, and prove them"
NO_DIFF = "The settings cannot be written into the file; set them as the code says."
TRIED_HELP = "Each change alone against the default settings, in the search. What holds is proven in pairs afterwards."
TRIED: tuple[Column[TriedFact], ...] = (
    Column("change", lambda fact: fact.change),
    Column("alone", lambda fact: fact.gain and interval_words(fact.gain), help="Gain in the search", optional=True),
    Column("what came of it", lambda fact: fact.outcome),
)


def answer_lines(sweep: Sweep, rows: Sequence[SweepRow], result: Answer) -> tuple[str, ...]:
    """Return the title of a sweep, the whole answer if that is longer, and its notes."""
    first = sweep_title(sweep, rows, result)
    whole = [result.sentence] if result.sentence not in ("", first) else []
    return (first, *whole, *result.notes)


@dataclass(frozen=True)
class SweepView:
    """A sweep with the rows of its table and its progress.

    `name` is the name that its owner chose, else its title. `read_environment` returns torch's description of this
    machine, None while torch starts.
    """

    column_help: ClassVar[Mapping[str, str]] = {
        "eager / compiled": "Median, with its 99 % interval",
        "stops after": "The last stage with a graph or code in the log",
    }

    sweep: Sweep
    rows: tuple[SweepRow, ...]
    standing: SweepStanding
    name: str
    read_environment: Callable[[], Environment | None]

    @cached_property
    def answer(self) -> Answer:
        """Answer to the sweep's question, from its rows."""
        return answer(Question(self.sweep, self.rows, self.read_environment()))

    @property
    def outcomes(self) -> dict[str, str]:
        """Name of a change that was tried alone → what came of it."""
        tried = (fact for fact in self.answer.facts if isinstance(fact, TriedFact))
        return {fact.change: f"{fact.outcome} a call" if fact.gain else fact.outcome for fact in tried}

    @property
    def title(self) -> str:
        """The worst fact or the answer; the question without a result; the failure if all ended cells failed."""
        if self.has_only_failures:
            return prose(title(self._failure))
        return prose(sweep_title(self.sweep, self.rows, self.answer))

    @property
    def _failure(self) -> str:
        progress = self.standing
        first = next(row for row in self.rows if row.settled)
        part = "All" if progress.failed == progress.total else f"{fmt.number(progress.failed)} of"
        return f"{part} {fmt.count(progress.total, 'cell')} failed: {reason(first) or first.state}"

    @property
    def notes(self) -> tuple[str, ...]:
        """The whole answer if the title is a part of it, and its notes."""
        lines = answer_lines(self.sweep, self.rows, self.answer)[1:]
        return tuple(prose(note, LONGEST_TEXT) for note in lines)

    @property
    def caption(self) -> str:
        """Name and settings, and the effect of a click on the table."""
        settings = " · ".join(self.sweep.base.differences()) or "torch.compile(model)"
        return f"{plain(self.name)} · {plain(settings)}. A click opens the run of a cell."

    @property
    def has_only_failures(self) -> bool:
        """True if cells have ended, and all of them failed."""
        return bool(self.standing.failed and not self.standing.done)

    @property
    def ended_part(self) -> float:
        """Fraction of the cells that have ended."""
        return (self.standing.done + self.standing.failed) / self.standing.total

    def progress(self, left_s: float | None, waits: str = "") -> str:
        """Return the number of cells done, the current cells, the time left, and what a queued one waits for."""
        progress = self.standing
        parts = [*_done(progress)]
        if progress.live and progress.now:
            parts.append("now " + "; ".join(map(", ".join, progress.now)))
        if progress.live and self.sweep.waits is not None:
            parts.append(f"waits: {reached_words(self.sweep.waits)}")
        elif progress.live and waits and not progress.now:
            parts.append(waits)
        elif progress.live and left_s is not None:
            parts.append(self._time_left(left_s))
        return plain(" · ".join(parts), LONGEST_TEXT)

    def _time_left(self, left_s: float) -> str:
        if self.standing.untried:
            return at_least_words(round(left_s), self.standing)
        return f"about {fmt.duration_s(round(left_s))} left, estimated by the cells so far"

    @property
    def ending(self) -> str:
        """Reason why the sweep ended, and its progress, if no process executes the sweep."""
        why = WHY_ENDED.get(self.standing.state, "")
        return f"{why}{plain(self.standing.reason, LONGEST_TEXT)} {self.progress(None)}.".strip()

    @property
    def can_resume(self) -> bool:
        """True if the sweep stopped before all cells ended."""
        return not self.standing.live and self.standing.state != "done"

    @property
    def can_retry(self) -> bool:
        """True if the sweep is done and some cells failed."""
        return self.standing.state == "done" and self.standing.failed > 0

    @property
    def table(self) -> list[dict[str, Any]]:
        """A row for each cell."""
        rows = cell_rows(self.sweep.axes, self.rows, self.answer)
        waits = self.sweep.waits if self.standing.live else None
        at = at_words(waits) if waits is not None else ""
        first = next((row for row in rows if row.get("state") == "waiting"), None)
        if first is not None and at:
            first["state"] = f"starts {at}"
        return rows

    @property
    def csv(self) -> str:
        """Table as CSV."""
        return as_csv(self.sweep.axes, self.rows)

    @property
    def data(self) -> dict[str, Any]:
        """Question and table as JSON-compatible data."""
        return as_json(self.sweep, self.rows)

    @cached_property
    def charts(self) -> tuple[Chart, ...]:
        """Charts to draw side by side; empty before a cell is done, and for a heat map."""
        match self._picture:
            case "calls":
                return ("calls",)
            case "cumulative":
                return ("spent", *self._phases)
            case "lines":
                return ("ratio", "lines") if len(self.series) == 1 else ("ratio",)
            case "bars":
                return self._bars
        return ()

    @cached_property
    def _picture(self) -> Picture:
        """Kind of picture, by the axes and the preset; empty before a cell is done."""
        chosen, axes = preset_of(self.sweep).picture, self.sweep.axes
        if not self._done:
            return ""
        if chosen == "calls" and any(call.how for row in self._done for call in row.calls):
            return "calls"
        if chosen == "cumulative" and self.totals is not None:
            return "cumulative"
        if numeric_axis(axes) is not None and sum(row.ratio is not None for row in self._done) > 1:
            return "lines"
        return "heat" if len(axes) == 2 else "bars"

    @property
    def _bars(self) -> tuple[Chart, ...]:
        memory: tuple[Chart, ...] = ("memory",) if self.memory_cells else ()
        times: tuple[Chart, ...] = ("times",) if self.timed_cells else ()
        return (*memory, *times) if memory and times else (*memory, *times, *self._phases)

    @property
    def _phases(self) -> tuple[Chart, ...]:
        return ("phases",) if self.phase_cells else ()

    @property
    def _done(self) -> list[SweepRow]:
        return [row for row in self.rows if row.state == "done"]

    @cached_property
    def cells(self) -> tuple[CellView, ...]:
        """Cells that are done; at most `MOST_BARS` if each is a bar."""
        most = MOST_BARS if self._picture == "bars" else None
        return tuple(map(CellView, self._done[:most]))

    @property
    def timed_cells(self) -> list[CellView]:
        """Cells with the times of both sides."""
        return [cell for cell in self.cells if cell.is_timed]

    @property
    def memory_cells(self) -> list[CellView]:
        """Cells with the peak memory of both sides."""
        return [cell for cell in self.cells if cell.has_memory]

    @property
    def phase_cells(self) -> list[CellView]:
        """Cells with compile times by phase."""
        return [cell for cell in self.cells if cell.row.phases_s]

    @property
    def call_cells(self) -> list[CellView]:
        return [cell for cell in self.cells if cell.row.calls]

    @property
    def call_labels(self) -> list[str]:
        """Number and inputs of each call."""
        return call_labels(self.call_cells[::-1])

    @property
    def axis_title(self) -> str:
        """Title of the numeric axis."""
        field = self.sweep.axes[numeric_axis(self.sweep.axes) or 0].field
        return AXIS_TITLES.get(field, field)

    @cached_property
    def series(self) -> tuple[RatioSeries, ...]:
        """Ratios over the numeric axis."""
        place = numeric_axis(self.sweep.axes) or 0
        return ratio_series(self.sweep.axes[place], place, self._done)

    @property
    def timed_points(self) -> list[RatioPoint]:
        """Points of the only series whose cells have the times of both sides."""
        return [
            point for point in self.series[0].points if point.cell.seconds("eager") and point.cell.seconds("compiled")
        ]

    @property
    def crossover(self) -> tuple[float, float] | None:
        """Numbers between which compiled becomes faster; None without such a crossover."""
        fact = next((fact for fact in self.answer.facts if isinstance(fact, Crossover)), None)
        if fact is None or fact.slow is None or fact.fast is None:
            return None
        return fact.slow, fact.fast

    @cached_property
    def totals(self) -> SweepTotals | None:
        """Total time over calls, of the cells whose first calls' cost is known; None without such cells."""
        by_label = {fact.label: fact.cost_s for fact in self.answer.facts if isinstance(fact, BreakEven)}
        curves = [
            TotalCurve(CellView(row), cost_s)
            for row in self._done
            if row.eager_s and (cost_s := by_label.get(", ".join(row.at))) is not None
        ]
        return SweepTotals(tuple(curves)) if curves else None

    @cached_property
    def measures(self) -> tuple[str, ...]:
        """Measures that a heat map can show; empty for other pictures."""
        return measures_of(self._done) if self._picture == "heat" else ()

    def heat_map(self, measure: str) -> HeatMap:
        """Return the heat map of a measure; the sweep must have two axes."""
        down, across = (axis.named() for axis in self.sweep.axes)
        return HeatMap(measure, down, across, self.rows)


def _unclear(row: SweepRow) -> str:
    """Return the claim for an unclear ratio; empty if the cell was not measured."""
    return row.claim if row.claim and row.eager_s is not None else ""


# Columns in table order; a column that is empty in all cells is omitted.
COLUMNS: dict[str, Callable[[SweepRow], Any]] = {
    "eager / compiled": lambda row: ratio_words(row.ratio) if row.ratio and row.clear else _unclear(row),
    "eager": lambda row: row.eager_s,
    "compiled": lambda row: row.compiled_s,
    "first compiled call": lambda row: row.first_compiled_s,
    "compile time": lambda row: row.compile_s,
    "compilations": lambda row: row.compilations,
    "graphs": lambda row: row.graphs,
    "graph breaks": lambda row: row.breaks or None,
    "recompiles": lambda row: row.recompiles or None,
    "kernels": lambda row: row.kernels,
    "results": lambda row: row.outcome,
    "peak, eager": lambda row: row.eager_peak_bytes,
    "peak, compiled": lambda row: row.compiled_peak_bytes,
    "machine": lambda row: one_line(row.disturbed, LONGEST_LINE),
    "error": lambda row: one_line(row.error, LONGEST_TEXT),
}


def cell_rows(axes: Sequence[Axis], rows: Sequence[SweepRow], answer: Answer) -> list[dict[str, Any]]:
    """Return a row for each cell: its position, state, the preset's columns, and the measurements."""
    fields = [one_line(axis.field, LONGEST_LINE) for axis in axes]
    lines = [
        {
            **{field: one_line(label, LONGEST_LINE) for field, label in zip(fields, row.at, strict=True)},
            "state": row.state,
            **{name: one_line(cells[place], LONGEST_TEXT) for name, cells in answer.columns.items()},
            **{name: value(row) for name, value in COLUMNS.items()},
        }
        for place, row in enumerate(rows)
    ]
    empty = {name for line in lines[:1] for name in line if all(line[name] in (None, "") for line in lines)}
    return [{name: value for name, value in line.items() if name in fields or name not in empty} for line in lines]


def sweep_rows(sweeps: Sequence[Sweep], read_name: Callable[[str], str], now_s: float) -> list[dict[str, str]]:
    """Return a row for each sweep; `read_name` returns a sweep's name by id, empty if it has no name."""
    return [
        {
            "sweep": one_line(read_name(sweep.id) or sweep.title, LONGEST_LINE),
            "question": preset_of(sweep).title,
            "axes": one_line("; ".join(map(_axis_words, sweep.axes)), LONGEST_LINE),
            "cells": fmt.number(len(sweep.runs)),
            "when": fmt.ago(sweep.created_s, now_s),
        }
        for sweep in sweeps
    ]


def _axis_words(axis: Axis) -> str:
    return f"{axis.field}={', '.join(axis.named())}"


def progress_words(progress: SweepStanding) -> str:
    """Return the progress in words: `going, 3 of 10 cells done, about 2 min 5 s left, an estimate`."""
    return ", ".join([progress.state, *_done(progress), *filter(None, [left_words(progress), progress.reason])])


def no_time_words(text: str) -> str:
    """Return that a text is no time."""
    return f"`{text}` is no time such as 90s, 10m or 1h"


def resume_words(words: str, sweep: Sweep) -> str:
    """Return words about a stopped sweep, and the option that resumes it."""
    return f"{words}; resume with --resume {sweep.id}"


def ended_line(sweep: Sweep, row: SweepRow, progress: SweepStanding) -> str:
    """Return a cell that has ended with its outcome, and the time left."""
    named = zip(sweep.axes, row.at, strict=True)
    at = ", ".join(name if axis.field == VARIANT else f"{axis.field}={name}" for axis, name in named)
    return f"{at}: {'; '.join(filter(None, [row_words(row), left_words(progress)]))}"


def _done(progress: SweepStanding) -> Iterator[str]:
    yield f"{fmt.number(progress.done)} of {fmt.count(progress.total, 'cell')} done"
    if progress.failed:
        yield f"{fmt.number(progress.failed)} failed"


def left_words(progress: SweepStanding) -> str:
    """Return the remaining time in words; empty if it is unknown."""
    if not progress.left_s:
        return ""
    if progress.untried:
        return at_least_words(progress.left_s, progress)
    return f"{fmt.estimate_s(progress.left_s)} left, an estimate"


def at_least_words(left_s: float, progress: SweepStanding) -> str:
    """Return a time left that is too short, since no cell of one kind has ended."""
    return f"at least {fmt.duration_s(left_s)} left: no cell with {progress.untried} has ended yet"


def row_words(row: SweepRow) -> str:
    """Return the outcome of a cell, in words."""
    if row.state not in ("done", "waiting"):
        return f"{row.state}: {reason(row)}" if row.error else row.state
    disturbed = f"; {row.disturbed}" if row.disturbed else ""
    return (speed_words(row) or row.state) + disturbed


def text_table(sweep: Sweep, rows: Sequence[SweepRow], more: Mapping[str, Sequence[str]]) -> TextTable:
    """Return the table in text, with a preset's columns; empty columns are left out."""
    fields = [sweep.preset or VARIANT if axis.field == VARIANT else axis.field for axis in sweep.axes]
    columns: dict[str, list[str]] = {field: [row.at[place] for row in rows] for place, field in enumerate(fields)}
    columns |= {title: [words(row) for row in rows] for title, words in TEXTS.items()}
    columns |= {title: list(cells) for title, cells in more.items()}
    columns |= {"": [row.disturbed if row.state == "done" else row_words(row) for row in rows]}
    shown = {title: list(map(_short, cells)) for title, cells in columns.items() if any(cells)}
    return TextTable(tuple(shown), tuple(zip(*shown.values(), strict=True)))


def _short(cell: str) -> str:
    """Return a text in one printable line, cut if it is long."""
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in cell).split())
    return text if len(text) <= LONGEST_CELL else f"{text[: LONGEST_CELL - 1]}…"


def _value(name: str, unit: Callable[[Any], str] = fmt.number) -> Callable[[SweepRow], str]:
    return lambda row: "" if (value := getattr(row, name)) is None else unit(value)


# Columns of the table in text.
TEXTS: dict[str, Callable[[SweepRow], str]] = {
    "eager": lambda row: seconds(row.eager_s),
    "compiled": lambda row: seconds(row.compiled_s),
    "compiled against eager": speed_words,
    "first compiled call": lambda row: seconds(row.first_compiled_s),
    "compile time": lambda row: seconds(row.compile_s),
    "compilations": _value("compilations"),
    "graphs": _value("graphs"),
    "breaks": _value("breaks"),
    "kernels": _value("kernels"),
    "results": lambda row: row.outcome,
    "peak eager": _value("eager_peak_bytes", fmt.bytes_),
    "peak compiled": _value("compiled_peak_bytes", fmt.bytes_),
}

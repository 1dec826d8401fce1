"""Table of a sweep, a pure function of its runs' reports and statuses, and its exports.

State and progress of a sweep, from the rows of its table.

Rows of a sweep from its runs; rows of finished runs are cached, so that 200 can be read at once.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import CompileboardError, DecodeError, StoreError
from core.base.files import read, write_atomically
from core.base.words import spreadsheet_cell
from core.report import SCHEMA, Report
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import open_report
from core.sweep.model import Axis, Sweep, labels
from core.sweep.read import row_of
from core.sweep.row import SweepRow
from core.sweep.store import ROWS, SweepStore

PHASES = ("dynamo", "aot_autograd", "inductor", "codegen", "compile", "other")
SweepState = Literal["going", "stopping", "done", "cancelled", "interrupted", "stopped"]
# Increase this number when a row's content changes, so that rows of older versions are not shown.
VERSION = 3
MAX_ROW_BYTES = 4_000_000
MOST_ROWS = 4_000


def table(
    sweep: Sweep, reports: Mapping[str, Report], statuses: Mapping[str, Status] | None = None
) -> tuple[SweepRow, ...]:
    """Return a row for each cell, from reports and statuses by run id; a cell without either is waiting.

    A report without a status counts as a done run, or a failed one if the report has an error.
    """
    return tuple(
        _row(at, run, reports.get(run), (statuses or {}).get(run))
        for at, run in zip(labels(sweep), runs_of(sweep), strict=True)
    )


def runs_of(sweep: Sweep) -> tuple[str, ...]:
    """Return the run ids of all cells, empty if a cell has none."""
    total = math.prod(len(axis.values) for axis in sweep.axes)
    return (*sweep.runs, *[""] * (total - len(sweep.runs)))[:total]


def _row(at: tuple[str, ...], run: str, report: Report | None, status: Status | None) -> SweepRow:
    if status is None and report is None:
        return SweepRow(at, run)
    known_status = status or Status("failed" if report and report.error else "done", 0.0)
    return row_of(at, run, known_status, report)


def as_csv(axes: Sequence[Axis], rows: Sequence[SweepRow]) -> str:
    """Return the table as CSV; a text that looks like a formula gets an apostrophe in front.

    A row without a claimed difference has no speedup, only the bounds of the interval.
    """
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([spreadsheet_cell(name) for name in (*(axis.field for axis in axes), *COLUMNS)])
    for row in rows:
        values = (*row.at, *(column(row) for column in COLUMNS.values()))
        writer.writerow([spreadsheet_cell(value) for value in values])
    return file.getvalue()


def as_json(sweep: Sweep, rows: Sequence[SweepRow]) -> dict[str, Any]:
    """Return the question and its table as JSON-compatible data."""
    question = {name: getattr(sweep, name) for name in ("id", "title", "preset", "torch", "base", "axes", "reason")}
    exported: dict[str, Any] = msgspec.to_builtins({"sweep": question, "rows": list(rows)})
    return exported


def _bound(name: str) -> Any:
    return lambda row: getattr(row.ratio, name) if row.ratio else None


def _quartile(name: str, place: int) -> Any:
    return lambda row: quartiles[place] if (quartiles := getattr(row, name)) else None


COLUMNS: dict[str, Any] = {
    "run": lambda row: row.run,
    "state": lambda row: row.state,
    "eager_s": lambda row: row.eager_s,
    "compiled_s": lambda row: row.compiled_s,
    "claim": lambda row: row.claim,
    "speedup": lambda row: row.ratio.middle if row.clear and row.ratio else None,
    "ratio_low": _bound("low"),
    "ratio_high": _bound("high"),
    "eager_low_quartile_s": _quartile("eager_quartiles_s", 0),
    "eager_high_quartile_s": _quartile("eager_quartiles_s", 1),
    "compiled_low_quartile_s": _quartile("compiled_quartiles_s", 0),
    "compiled_high_quartile_s": _quartile("compiled_quartiles_s", 1),
    "first_eager_s": lambda row: row.first_eager_s,
    "first_compiled_s": lambda row: row.first_compiled_s,
    "compile_s": lambda row: row.compile_s,
    **{f"phase_{name}_s": (lambda row, name=name: row.phases_s.get(name)) for name in PHASES},
    "compilations": lambda row: row.compilations,
    "graphs": lambda row: row.graphs,
    "breaks": lambda row: row.breaks,
    "recompiles": lambda row: row.recompiles,
    "kernels": lambda row: row.kernels,
    "kernel_calls": lambda row: row.kernel_calls,
    "results": lambda row: row.outcome,
    "eager_peak_bytes": lambda row: row.eager_peak_bytes,
    "compiled_peak_bytes": lambda row: row.compiled_peak_bytes,
    "threads": lambda row: row.threads,
    "disturbed": lambda row: row.disturbed,
    "took_s": lambda row: row.took_s,
    "error": lambda row: row.error,
}


@dataclass(frozen=True, slots=True)
class SweepStanding:
    """Progress of a sweep: numbers of done, failed and all cells.

    It is `cancelled` by a visitor, `interrupted` if its process ended, or `stopped` for a `reason`; it can be resumed
    in each case. `now` are the running cells. `left_s` is an estimate of the remaining seconds, None if there is no
    estimate: the sum of median times per value of the axis with the largest effect on time. It is a lower bound as long
    as no cell with the value `untried` has finished.
    """

    state: SweepState
    done: int
    failed: int
    total: int
    now: tuple[tuple[str, ...], ...] = ()
    left_s: float | None = None
    reason: str = ""
    untried: str = ""

    @property
    def live(self) -> bool:
        """Return True if a process executes it."""
        return self.state in ("going", "stopping")


def standing_of(rows: Sequence[SweepRow], alive: bool, to_stop: bool, reason: str = "") -> SweepStanding:
    """Return the state and progress; `alive` is True if a process executes the sweep."""
    settled = [row for row in rows if row.settled]
    done = sum(row.state == "done" for row in rows)
    going = [row for row in rows if row.state == "running"]
    state: SweepState = "cancelled" if to_stop else "stopped" if reason else "interrupted"
    if len(settled) == len(rows):
        state = "done"
    if alive:
        state = "stopping" if to_stop else "going"
    left_s, untried = _remaining_time(rows, settled, going) if alive else (None, "")
    return SweepStanding(
        state,
        done,
        len(settled) - done,
        len(rows),
        tuple(row.at for row in going),
        left_s,
        reason,
        untried,
    )


def _remaining_time(
    rows: Sequence[SweepRow], settled: Sequence[SweepRow], going: Sequence[SweepRow]
) -> tuple[float | None, str]:
    """Return the seconds of the remaining cells, minus the elapsed time of running cells; and a value without times.

    A cell with such a value counts as a cell with the slowest value.
    """
    timed = [row for row in settled if row.took_s is not None]
    if not timed:
        return None, ""
    axis, medians = _slowest_axis(timed)
    most_s = max(medians.values())
    left = [row for row in rows if not row.settled]
    each_s = [medians.get(row.at[axis], most_s) for row in left]
    spent_s = sum(min(medians.get(row.at[axis], most_s), row.took_s or 0.0) for row in going)
    untried = next((row.at[axis] for row in left if row.at[axis] not in medians), "") if len(medians) > 1 else ""
    return max(0.0, sum(each_s) - spent_s) / max(1, len(going)), untried


def _slowest_axis(timed: Sequence[SweepRow]) -> tuple[int, dict[str, float]]:
    """Return the axis whose values differ most in time, and the median seconds of each of its values."""
    by_axis = [_medians(timed, axis) for axis in range(len(timed[0].at))]
    return max(enumerate(by_axis), key=lambda pair: max(pair[1].values()) - min(pair[1].values()))


def _medians(timed: Sequence[SweepRow], axis: int) -> dict[str, float]:
    seconds_by_value: dict[str, list[float]] = {}
    for row in timed:
        seconds_by_value.setdefault(row.at[axis], []).append(row.took_s or 0.0)
    return {value: statistics.median(seconds) for value, seconds in seconds_by_value.items()}


def rows(store: SweepStore, sweep: Sweep) -> tuple[SweepRow, ...]:
    """Return the current table; a cell whose run was deleted waits again. Raises StoreError if the sweep is gone."""
    folder = store.path(sweep.id) / ROWS
    return tuple(row(store, folder, at, run) for at, run in zip(labels(sweep), runs_of(sweep), strict=True))


def row(store: SweepStore, folder: Path, at: tuple[str, ...], run_id: str) -> SweepRow:
    """Return the row of a cell."""
    try:
        run = store.runs.open(run_id) if run_id else None
    except StoreError:
        run = None
    if run is None:
        return SweepRow(at)
    stored = folder / f"{run_id}-{SCHEMA}.{VERSION}.json"
    with contextlib.suppress(OSError, DecodeError):
        return replace(_read_row(stored, stored.stat().st_mtime_ns), at=at)
    return _make_row(run, at, stored)


@lru_cache(maxsize=MOST_ROWS)
def _read_row(stored: Path, mtime_ns: int) -> SweepRow:
    """Return a cached row; the cache key has the file's modification time."""
    return decoded_as(read(stored, MAX_ROW_BYTES), SweepRow)


def _make_row(run: Run, at: tuple[str, ...], stored: Path) -> SweepRow:
    """Return the row from the run's status and report; stores it once the run has ended."""
    status = run.standing()
    if status.live:
        elapsed_s = time.time() - status.started_s if status.started_s else None
        return replace(row_of(at, run.id, status), took_s=elapsed_s)
    result = row_of(at, run.id, status, _report(run, status))
    if status.state == "damaged":
        return result
    with contextlib.suppress(OSError):
        write_atomically(stored, msgspec.json.encode(result))
    return result


def _report(run: Run, status: Status) -> Report | None:
    """Return the run's report; None if the run has recorded nothing readable."""
    if status.state == "damaged":
        return None
    with contextlib.suppress(CompileboardError):
        return open_report(run)
    return None

"""Table of a sweep, a pure function of its cells' records, and its exports."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from core.base.words import spreadsheet_cell
from core.report import Report
from core.runs.status import Status
from core.sweep.model import Axis, Sweep, labels
from core.sweep.read import row_of
from core.sweep.row import SweepRow

PHASES = ("dynamo", "aot_autograd", "inductor", "codegen", "compile", "other")


def table(
    sweep: Sweep, reports: Mapping[str, Report], statuses: Mapping[str, Status] | None = None
) -> tuple[SweepRow, ...]:
    """Return a row for each cell, by the reports and statuses of runs by id; a cell without either waits.

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
    """Return the table as CSV; a text that a spreadsheet would take for a formula begins with an apostrophe.

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

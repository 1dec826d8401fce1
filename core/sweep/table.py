"""Table of a sweep, with its progress and exports.

The table is a pure function of the reports and statuses of the sweep's runs. Rows of finished runs are
cached, so that a table of 200 rows is read quickly.
"""

import contextlib
import csv
import hashlib
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

from core.analysis.comparison.matching import RunSide
from core.analysis.durations import class_seconds, compile_time_s
from core.analysis.dynamo.costs import frame_starts
from core.analysis.kernels.kernel import kernel_names
from core.analysis.memory import memory_of, saved_bytes
from core.analysis.numerics import numerics, numerics_sentence
from core.analysis.results import results_words
from core.analysis.speed import Speed, alternative_speed, summary
from core.analysis.verdict import verdict
from core.analysis.work import distinct_kernels, frame_of
from core.base.decoder import decoded_as
from core.base.errors import CompileboardError, DecodeError, StoreError
from core.base.files import read, write_atomically
from core.base.words import spreadsheet_cell
from core.report import SCHEMA, Compilation, MemorySide, Report
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import side_of_run
from core.sweep.model import Axis, Sweep, labels
from core.sweep.store import ROWS, Claim, SweepCall, SweepRow, SweepStore, was_killed

PHASES = ("dynamo", "aot_autograd", "inductor", "codegen", "compile")
SweepState = Literal["going", "stopping", "done", "cancelled", "interrupted", "stopped"]
# Increase this number when a row's content changes, so that rows of older versions are not shown.
VERSION = 7
MAX_ROW_BYTES = 4_000_000  #: a cached row of a sweep's table
MOST_ROWS = 4_000  #: cached rows of all sweeps


def table(
    sweep: Sweep, reports: Mapping[str, Report], statuses: Mapping[str, Status] | None = None
) -> tuple[SweepRow, ...]:
    """Return a row for each cell, from reports and statuses by run id.

    A cell with neither a report nor a status is waiting. A report without a status counts as a done run, or as a
    failed run if the report has an error.
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
    """Return the sweep and its rows as JSON-compatible data."""
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
    "node": lambda row: row.node,
    "error": lambda row: row.error,
}


@dataclass(frozen=True, slots=True)
class SweepStanding:
    """Progress of a sweep: numbers of done, failed and all cells.

    The state is `cancelled` if a visitor cancelled the sweep, `interrupted` if its process ended, and `stopped` if it
    stopped for a `reason`; such a sweep can be resumed. `now` are the running cells. `left_s` is an estimate of the
    remaining seconds, None if there is none. The estimate uses the median time of each value of the axis with the
    largest effect on time. It is a lower bound until a cell with the value `untried` has finished.
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
        """Return True if a process executes the sweep."""
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
    """Return the estimated seconds until the last cell ends, and an axis value without measured times.

    A cell with such a value counts as a cell with the slowest value. The elapsed time of running cells is subtracted,
    and the result is divided by the number of running cells. The seconds are None if no cell has been timed.
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
    """Return the current table; raises StoreError if the sweep is gone.

    A cell whose run was deleted is waiting again.
    """
    folder = store.path(sweep.id) / ROWS
    return tuple(row(store, folder, at, run) for at, run in zip(labels(sweep), runs_of(sweep), strict=True))


def row(store: SweepStore, folder: Path, at: tuple[str, ...], run_id: str) -> SweepRow:
    """Return a cell's row from its cached file or from its run; a cell without a run is waiting."""
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
    """Return the row in a file; `mtime_ns` makes the cache read a changed file again."""
    return decoded_as(read(stored, MAX_ROW_BYTES), SweepRow)


def _make_row(run: Run, at: tuple[str, ...], stored: Path) -> SweepRow:
    """Return the row from the run's status and report; stores it once the run has ended."""
    status = run.standing()
    if status.live:
        elapsed_s = time.time() - status.started_s if status.started_s else None
        return replace(row_of(at, run.id, status), took_s=elapsed_s)
    side = _side(run, status)
    result = row_of(at, run.id, status, side.report if side else None)
    if side is not None:
        result = replace(result, code=_code_digest(side))
    if status.state == "damaged":
        return result
    with contextlib.suppress(OSError):
        write_atomically(stored, msgspec.json.encode(result))
    return result


def _code_digest(side: RunSide) -> str:
    """Return a digest of all output code; empty without any."""
    kernels = (kernel for compilation in side.report.compilations for kernel in compilation.kernels)
    places = dict.fromkeys(kernel.output_code for kernel in kernels)
    return _digest([side.text(place) for place in places]) if places else ""


def _side(run: Run, status: Status) -> RunSide | None:
    """Return the run's report with its log; None if the run has recorded nothing readable."""
    if status.state == "damaged":
        return None
    with contextlib.suppress(CompileboardError):
        return side_of_run(run)
    return None


MAX_ERROR_CHARS = 2_000  #: the error of a run in a sweep's table
MOST_NAMES = 500  #: names of kernels, of passes and of choices in a row
MOST_FRAMES = 20  #: compilations in a row


def row_of(at: tuple[str, ...], run: str, status: Status, report: Report | None = None) -> SweepRow:
    """Return the row of a cell; without a report it has only the run's status."""
    error = "" if status.state == "done" else status.reason[:MAX_ERROR_CHARS]
    row = SweepRow(at, run, status.state, error, killed=was_killed(status), took_s=status.took_s, node=status.node)
    if report is None or status.live:
        return row
    return _with_compilations(_with_speed(_with_setting(row, report), report), report)


def _with_setting(row: SweepRow, report: Report) -> SweepRow:
    error = report.error
    text = f"{error.type} while {error.stage}: {error.message}" if error and row.state != "done" else row.error
    return replace(
        row,
        error=text[:MAX_ERROR_CHARS],
        torch=report.setting.torch,
        device=report.setting.device,
        threads=report.setting.threads,
        notes=report.notes,
    )


def _with_speed(row: SweepRow, report: Report) -> SweepRow:
    summed, ledger = verdict(report), summary(report)
    row = replace(
        row,
        calls=_calls(report),
        results=summed.result.outcome if summed.result else "",
        results_words=results_words(summed.result) if summed.result else "",
        eager_peak_bytes=_peak_bytes(report, "eager"),
        compiled_peak_bytes=_peak_bytes(report, "compiled"),
        numerics_words=numerics_sentence(right) if (right := numerics(report)) else "",
        parts_s={part.name: part.seconds for part in ledger.parts} if ledger else {},
    )
    against = alternative_speed(report.rival) if report.rival else None
    if against is not None and against.interval is not None:
        row = replace(row, against=against.interval.inverse())
    speed = summed.speed
    if speed is None:
        return row
    return replace(
        row,
        eager_s=speed.eager_s,
        compiled_s=speed.compiled_s,
        ratio=speed.interval,
        claim=_claim(speed),
        eager_quartiles_s=speed.eager_quartiles_s,
        compiled_quartiles_s=speed.compiled_quartiles_s,
        samples=speed.samples,
        disturbed=speed.disturbed,
    )


def _peak_bytes(report: Report, side: MemorySide) -> int | None:
    memory = memory_of(report, side)
    return memory.peak_bytes if memory else None


def _claim(speed: Speed) -> Claim:
    if speed.interval is None:
        return "not measurable" if speed.wide else "too few samples to say"
    return "faster" if speed.faster else "slower" if speed.slower else "no difference seen"


def _calls(report: Report) -> tuple[SweepCall, ...]:
    recorded = any(compilation.call is not None for compilation in report.compilations)
    # Torch's own count of frames includes those that it skipped.
    calls_of_compilations = [compilation.call for compilation in report.compilations if compilation.status != "empty"]
    return tuple(
        SweepCall(
            call.inputs,
            call.eager_s,
            call.compiled_s,
            calls_of_compilations.count(call.index) if recorded or not calls_of_compilations else call.compilations,
            call.raised or call.ended,
            call.how,
        )
        for call in report.calls
    )


def _with_compilations(row: SweepRow, report: Report) -> SweepRow:
    compilations, summed = report.compilations, verdict(report)
    if not compilations and not report.calls:
        return row
    return replace(
        row,
        compilations=len(compilations),
        graphs=summed.graphs,
        breaks=summed.breaks,
        recompiles=summed.recompiles,
        kernels=summed.work.kernels or 0,
        kernel_calls=summed.work.calls,
        kernels_made=sum(distinct_kernels(compilation.kernels) for compilation in compilations),
        kernel_names=_kernel_names(compilations),
        stages=tuple(dict.fromkeys(graph.stage for compilation in compilations for graph in compilation.graphs)),
        passes=_passes(compilations),
        chosen=_autotuning_choices(report),
        guards_us=_guards_us(report),
        phases_s=class_seconds(report),
        compile_s=compile_time_s(report) if report.phases else None,
        frames=frame_starts(report)[:MOST_FRAMES],
        filled=report.filled_caches,
        saved=_saved(compilations),
        directions_s=directions_s(compilations),
        made=code_digests(compilations),
        generated=generated(compilations),
        skipped=next((compilation.cudagraph_skip for compilation in compilations if compilation.cudagraph_skip), ""),
        skips=report.counters.dynamo.get("inductor", {}).get("cudagraph_skips", 0) if report.counters else None,
    )


def _kernel_names(compilations: Sequence[Compilation]) -> tuple[str, ...]:
    """Return the kernels' display names, each once."""
    names = dict.fromkeys(name for compilation in compilations for name in kernel_names(compilation).values())
    return tuple(names)[:MOST_NAMES]


def _passes(compilations: Sequence[Compilation]) -> tuple[str, ...]:
    """Return the names of passes that changed a graph; unnamed changes between passes are left out."""
    names = dict.fromkeys(change.name for compilation in compilations for change in compilation.passes if change.name)
    return tuple(names)[:MOST_NAMES]


def _autotuning_choices(report: Report) -> dict[str, str]:
    tried = [kernel.tried for compilation in report.compilations for kernel in compilation.kernels if kernel.tried]
    choices = {
        autotuned.name: next((choice.name for choice in autotuned.choices if choice.chosen), "")
        for autotuned in (*tried, *report.autotuned)
    }
    return dict(list(choices.items())[:MOST_NAMES])


def _guards_us(report: Report) -> float | None:
    """Return the guard time of one call for the newest compilation of each frame, in microseconds.

    None if not recorded.
    """
    newest = {
        frame_of(compilation): compilation.guard_warm_us
        for compilation in report.compilations
        if compilation.guard_warm_us is not None
    }
    return sum(newest.values()) if newest else None


def directions_s(compilations: Sequence[Compilation]) -> dict[str, float]:
    """Return the wrapper seconds of a call by direction, for the newest compilation of each frame."""
    newest = {frame_of(compilation): compilation for compilation in compilations if compilation.wrapper_times}
    seconds: dict[str, float] = {}
    for wrapper in (wrapper for compilation in newest.values() for wrapper in compilation.wrapper_times):
        if wrapper.samples_s and wrapper.direction:
            so_far_s = seconds.get(wrapper.direction, 0.0)
            seconds[wrapper.direction] = so_far_s + statistics.median(wrapper.samples_s)
    return seconds


def _saved(compilations: Sequence[Compilation]) -> tuple[int, int] | None:
    """Return the bytes of activations that the newest partitions save, and the ops that they recompute."""
    newest = {frame_of(compilation): compilation for compilation in compilations if compilation.partitions}
    partitions = [partition for compilation in newest.values() for partition in compilation.partitions]
    if not partitions:
        return None
    values = [value for partition in partitions for value in partition.kept or partition.saved]
    recomputed = sum(list(partition.decisions.values()).count("recomputed") for partition in partitions)
    return saved_bytes(values, "activation"), recomputed


def code_digests(compilations: Sequence[Compilation]) -> tuple[str, str]:
    """Return digests of all kernels (names, lengths, bytes moved) and of the lines that call them."""
    kernels = [kernel for compilation in compilations for kernel in compilation.kernels]
    sources = [
        (kernel.name, not kernel.extern and kernel.lines[1] - kernel.lines[0], kernel.bytes_read, kernel.bytes_written)
        for kernel in kernels
    ]
    calls = [kernel.call_lines for kernel in kernels]
    return (_digest(sources), _digest(calls)) if kernels else ("", "")


def generated(compilations: Sequence[Compilation]) -> int:
    """Return the number of kernels that Inductor generated in all compilations, without library calls."""
    return len(
        {
            (compilation.id, kernel.id)
            for compilation in compilations
            for kernel in compilation.kernels
            if not kernel.extern
        }
    )


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode()).hexdigest()[:16]

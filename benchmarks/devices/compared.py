"""Predicted times of kernels compared with measured ones, which the fit did not see.

On the device, `run_models` compiles each test model by Compileboard, records a profile of 24 compiled calls, and writes
the runs to one archive. `model_rows` predicts a run's kernels from its report, and compares each with the median over
the calls. `gallery_rows` compares the recorded runs of the gallery, whose kernels were timed by events after a flush of
the cache: the time of the events is added to the prediction.
"""

from __future__ import annotations

import bisect
import json
import math
import re
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core import CompileJob, LocalEngine, Model, Report, Run, Runner, Store, open_report, recordings
from core.analysis.kernels.features import cold_parts, kernel_work
from core.analysis.kernels.kernel import ALONE, schedule_of
from core.analysis.kernels.ledger import LedgerRow, allowed_s, ceilings, ledger, predicted_calls, product_dtype
from core.analysis.kernels.predicted import KernelWork, measured, predict
from core.job import GIB
from core.job.targets import TARGETS
from core.report import Compilation, Kernel
from core.runs.recordings import add_recording
from core.runs.sharing import import_archive, write_archive
from core.runs.stored import open_profile

DEVICE = TARGETS["h200"]
LEAST_S = 5e-6  # kernels of at least this time are compared one by one
LEAST_GALLERY_S = 20e-6  # below, events around a call show the time of the launch
WITHIN, CALL_WITHIN = 1.5, 1.25  # factors of an error
NO_MODEL = "no model"
CALL = re.compile(r"call \d+")


@dataclass(frozen=True, slots=True)
class KernelError:
    """A kernel of a model: measured, predicted with interval, and least seconds; `calls` of a call."""

    model: str
    kernel: str
    kind: str
    measured_s: float
    time_s: float
    low_s: float
    high_s: float
    least_s: float | None
    calls: int

    @property
    def error(self) -> float:
        """The logarithm of measured over predicted."""
        return math.log(self.measured_s / self.time_s)


def run_models(models: Sequence[Path], home: Path, archive: Path) -> int:
    """Run test models on this machine's GPU, and archive the runs; return the number of failures."""
    store = Store(home)
    engine = LocalEngine(store.cache_dir)
    runner = Runner(store, engine)
    runs, failed = [], 0
    for path in models:
        job = CompileJob(
            Model("file", str(path)), device="cuda", measure=False, profile=True, memory_limit_bytes=96 * GIB
        )
        run = runner.wait(runner.submit(job))
        status = run.status()
        print(f"{path.stem}: {status.state} {status.reason}", flush=True)
        failed += status.state != "done"
        runs.append(run)
        write_archive(runs, archive)
    engine.close()
    return failed


def model_rows(archive: Path) -> list[KernelError]:
    """Return the kernels of the runs in an archive, each with the mean of its launches in a call."""
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        return [row for run in import_archive(store, archive).added for row in _run_rows(run)]


def measured_work(archive: Path) -> dict[str, list[tuple[str, KernelWork, float, float]]]:
    """Return model → kernels with a model of their time: name, work, cold part, seconds of a launch."""
    made: dict[str, list[tuple[str, KernelWork, float, float]]] = {}
    with tempfile.TemporaryDirectory() as home:
        for run in import_archive(Store(Path(home)), archive).added:
            report, job = open_report(run), run.job()
            rows = made.setdefault(Path(job.model.value).stem if job else run.id, [])
            taken = _medians(run, report)
            for compilation in report.compilations:
                cold = cold_parts(compilation.schedules, DEVICE)
                first = {row.kernel: row for row in reversed(ledger(report, compilation))}
                for kernel in compilation.kernels:
                    seconds = taken.get((compilation.id, kernel.id), 0.0) / max(1, len(kernel.calls))
                    work = _work(report, compilation, kernel, first[kernel.id]) if kernel.id in first else None
                    if seconds and work is not None:
                        rows.append((kernel.name, work, cold.get(kernel.id, 0.0), seconds))
    return made


def _run_rows(run: Run) -> Iterator[KernelError]:
    report, job = open_report(run), run.job()
    name = Path(job.model.value).stem if job else run.id
    taken = _medians(run, report)
    # The report of a run for the target: the kernels' times are predicted.
    target = replace(report, setting=replace(report.setting, target=DEVICE.key), roofline=None)
    for compilation in target.compilations:
        rows: dict[str, list[LedgerRow]] = {}
        for row in ledger(target, compilation):
            rows.setdefault(row.kernel, []).append(row)
        for kernel in compilation.kernels:
            each, total_s = rows.get(kernel.id, []), taken.get((compilation.id, kernel.id))
            ranges = [row.range_s for row in each if row.range_s]
            if total_s and len(ranges) == len(each) > 0:
                yield KernelError(
                    name,
                    kernel.name,
                    _key(report, compilation, kernel, each[0]),
                    total_s / len(each),
                    statistics.fmean(row.time_s or 0.0 for row in each),
                    statistics.fmean(low for low, _ in ranges),
                    statistics.fmean(high for _, high in ranges),
                    each[0].allowed_s,
                    len(each),
                )


def _medians(run: Run, report: Report) -> dict[tuple[str, str], float]:
    """Return (compilation, kernel) → median seconds of its launches in a profiled call."""
    joined = open_profile(run, report)
    if joined is None:
        return {}
    pieces = joined.profile.slices
    calls = sorted({piece.start_us for piece in pieces if CALL.fullmatch(piece.name)})
    totals: dict[tuple[str, str], list[float]] = {}
    for kernel in joined.joined:
        call = bisect.bisect(calls, pieces[kernel.index].start_us) - 1
        if call >= 0:
            key = kernel.compilation, kernel.kernel
            totals.setdefault(key, [0.0] * len(calls))[call] += pieces[kernel.index].length_us / 1e6
    return {key: statistics.median(values) for key, values in totals.items()}


def _key(report: Report, compilation: Compilation, kernel: Kernel, row: LedgerRow) -> str:
    work = _work(report, compilation, kernel, row)
    return work.key if work is not None and work.key in measured().kinds else NO_MODEL


def _work(report: Report, compilation: Compilation, kernel: Kernel, row: LedgerRow) -> KernelWork | None:
    schedule = schedule_of(kernel, compilation)
    nodes = [node for node in schedule.before if node.kernel == kernel.id] if schedule else []
    return kernel_work(kernel, row.ops, nodes, schedule, product_dtype(row.ops, row.dtype, report.counters))


def gallery_rows() -> list[KernelError]:
    """Return the kernels of the gallery's runs, by events with a flushed cache."""
    with tempfile.TemporaryDirectory() as home:
        store = Store(Path(home))
        return [
            row
            for recording in recordings()
            for row in _recorded_rows(recording.name, add_recording(store, recording.name))
        ]


def _recorded_rows(name: str, run: Run) -> Iterator[KernelError]:
    report, around_s = open_report(run), measured().events_us * 1e-6
    sheet = ceilings(replace(report, setting=replace(report.setting, target=DEVICE.key), roofline=None))
    for compilation in report.compilations:
        kernels = {kernel.id: kernel for kernel in compilation.kernels}
        for row in ledger(report, compilation):
            work = _work(report, compilation, kernels[row.kernel], row)
            prediction = predict(work, DEVICE, 1.0, report.setting.torch) if work else None
            if row.timed != ALONE or not row.time_s or prediction is None or sheet is None or work is None:
                continue
            flops = None if row.flops_estimated else row.flops
            least = allowed_s(sheet, row.bytes_moved, flops, product_dtype(row.ops, row.dtype, report.counters))
            time_s, low_s, high_s = (
                seconds + around_s for seconds in (prediction.time_s, prediction.low_s, prediction.high_s)
            )
            yield KernelError(name, row.name, work.key, row.time_s, time_s, low_s, high_s, least, row.calls)


def table(rows: Sequence[KernelError], from_s: float) -> str:
    """Return errors by kind of kernel as Markdown, of kernels that take at least `from_s`."""
    head = (
        "| kind | kernels | median error | within 1.5 | in the interval | its width | roofline: median | within 1.5 |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    long = [row for row in rows if row.measured_s >= from_s]
    kinds = sorted({row.kind for row in long})
    parts = [(kind, [row for row in long if row.kind == kind]) for kind in kinds]
    return "\n".join([head, *(_line(kind, part) for kind, part in (*parts, ("**all**", long)) if part)])


def _line(kind: str, rows: Sequence[KernelError]) -> str:
    errors = [abs(row.error) for row in rows]
    least = [abs(math.log(row.measured_s / row.least_s)) for row in rows if row.least_s]
    inside = [row.low_s <= row.measured_s <= row.high_s for row in rows]
    cells = [
        kind,
        str(len(rows)),
        f"{math.expm1(statistics.median(errors)):.1%}",
        _part([error <= math.log(WITHIN) for error in errors]),
        _part(inside),
        f"{statistics.median(row.high_s / row.low_s for row in rows):.2f}",
        f"{math.exp(statistics.median(least)):.2f}" if least else "",
        _part([error <= math.log(WITHIN) for error in least]),
    ]
    return f"| {' | '.join(cells)} |"


def _part(values: Sequence[bool]) -> str:
    return f"{sum(values) / len(values):.0%}" if values else ""


def totals(rows: Sequence[KernelError]) -> str:
    """Return each model's sum over its kernels as Markdown: measured, predicted, and by the roofline."""
    lines = ["| model | kernels | measured | predicted | ratio | roofline's ratio |", "|---|---|---|---|---|---|"]
    for model in dict.fromkeys(row.model for row in rows):
        part = [row for row in rows if row.model == model]
        taken = sum(row.measured_s * row.calls for row in part)
        made = sum(row.time_s * row.calls for row in part)
        least = sum((row.least_s or 0.0) * row.calls for row in part)
        lines.append(
            f"| `{model}` | {sum(row.calls for row in part)} | {taken * 1e3:.3f} ms | {made * 1e3:.3f} ms | "
            f"{made / taken:.2f} | {least / taken:.2f} |"
        )
    return "\n".join(lines)


def call_table(archive: Path, calls: Path) -> str:
    """Return each model's calls as Markdown: measured one after another at the large batch, and predicted."""
    measured_calls = json.loads(calls.read_text())["models"]
    lines = ["| model | way | measured | predicted | ratio | limited by |", "|---|---|---|---|---|---|"]
    errors: list[float] = []
    inside = 0
    with tempfile.TemporaryDirectory() as home:
        for run in import_archive(Store(Path(home)), archive).added:
            job = run.job()
            name = Path(job.model.value).stem if job else run.id
            rows = measured_calls.get(name, [])
            rows = rows["calls"] if isinstance(rows, dict) else rows
            taken = {row["way"]: row["each_us"] * 1e-6 for row in rows if row["batch"] == "large" and "each_us" in row}
            for call in predicted_calls(open_report(run), DEVICE):
                if call.way in taken:
                    each = taken[call.way]
                    errors.append(abs(math.log(each / call.time_s)))
                    inside += call.low_s <= each <= call.high_s
                    lines.append(
                        f"| `{name}` | {call.way} | {each * 1e3:.2f} ms | {call.time_s * 1e3:.2f} ms "
                        f"({call.low_s * 1e3:.2f}–{call.high_s * 1e3:.2f}) | {call.time_s / each:.2f} | {call.limit} |"
                    )
    close = sum(error <= math.log(CALL_WITHIN) for error in errors)
    lines += ["", f"{close} of {len(errors)} calls within 25 %, {inside} in the interval."]
    return "\n".join(lines)


def judge(archive: Path | None, calls: Path | None) -> None:
    """Print the tables of the test models in an archive, with their whole calls, or of the gallery."""
    rows = model_rows(archive) if archive else gallery_rows()
    print(table(rows, LEAST_S if archive else LEAST_GALLERY_S))
    print()
    print(totals(rows))
    if archive and calls:
        print()
        print(call_table(archive, calls))

"""Row of a cell: a pure function of its report and its run's status."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.analysis import (
    Speed,
    compile_time_s,
    distinct_kernels,
    phase_class,
    results_words,
    self_seconds,
    verdict,
)
from core.analysis.kernels import kernel_names, summary
from core.analysis.memory import memory_of
from core.analysis.numerics import numerics, numerics_sentence
from core.analysis.work import frame_of
from core.report import Compilation, MemorySide, Report
from core.runs.status import Status
from core.sweep.code import directions_s, generated, made
from core.sweep.row import Claim, SweepCall, SweepRow, was_killed

MAX_ERROR_CHARS = 2_000
MOST_NAMES = 500


def row_of(at: tuple[str, ...], run: str, status: Status, report: Report | None = None) -> SweepRow:
    """Return the row of a cell; without a report it has only the run's status."""
    said = "" if status.state == "done" else status.reason[:MAX_ERROR_CHARS]
    row = SweepRow(at, run, status.state, said, killed=was_killed(status), took_s=status.took_s)
    if report is None or status.live:
        return row
    return _with_compilations(_with_speed(_with_setting(row, report), report), report)


def _with_setting(row: SweepRow, report: Report) -> SweepRow:
    error = report.error
    said = f"{error.type} while {error.stage}: {error.message}" if error and row.state != "done" else row.error
    return replace(
        row,
        error=said[:MAX_ERROR_CHARS],
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
    found = summed.speed
    if found is None:
        return row
    return replace(
        row,
        eager_s=found.eager_s,
        compiled_s=found.compiled_s,
        ratio=found.interval,
        claim=_claim(found),
        eager_quartiles_s=found.eager_quartiles_s,
        compiled_quartiles_s=found.compiled_quartiles_s,
        samples=found.samples,
        disturbed=found.disturbed,
    )


def _peak_bytes(report: Report, side: MemorySide) -> int | None:
    found = memory_of(report, side)
    return found.peak_bytes if found else None


def _claim(found: Speed) -> Claim:
    if found.interval is None:
        return "not measurable" if found.wide else "too few samples to say"
    return "faster" if found.faster else "slower" if found.slower else "no difference seen"


def _calls(report: Report) -> tuple[SweepCall, ...]:
    recorded = any(compilation.call is not None for compilation in report.compilations)
    # Torch's own count of frames also has those that it looked at and left alone.
    met = [compilation.call for compilation in report.compilations if compilation.status != "empty"]
    return tuple(
        SweepCall(
            call.inputs,
            call.eager_s,
            call.compiled_s,
            met.count(call.index) if recorded or not met else call.compilations,
            call.raised or call.ended,
            call.how,
        )
        for call in report.calls
    )


def _with_compilations(row: SweepRow, report: Report) -> SweepRow:
    found, summed = report.compilations, verdict(report)
    if not found and not report.calls:
        return row
    return replace(
        row,
        compilations=len(found),
        graphs=summed.graphs,
        breaks=summed.breaks,
        recompiles=summed.recompiles,
        kernels=summed.work.kernels or 0,
        kernel_calls=summed.work.calls,
        kernels_made=sum(distinct_kernels(compilation.kernels) for compilation in found),
        kernel_names=_kernel_names(found),
        stages=tuple(dict.fromkeys(graph.stage for compilation in found for graph in compilation.graphs)),
        passes=_passes(found),
        chosen=_chosen(report),
        guards_us=_guards_us(report),
        phases_s=_phases_s(report),
        compile_s=compile_time_s(report.phases) if report.phases else None,
        directions_s=directions_s(found),
        made=made(found),
        generated=generated(found),
        skipped=next((one.cudagraph_skip for one in found if one.cudagraph_skip), ""),
        skips=report.counters.dynamo.get("inductor", {}).get("cudagraph_skips", 0) if report.counters else None,
    )


def _kernel_names(found: Sequence[Compilation]) -> tuple[str, ...]:
    """Return the kernels' display names, each once."""
    names = dict.fromkeys(name for compilation in found for name in kernel_names(compilation).values())
    return tuple(names)[:MOST_NAMES]


def _passes(found: Sequence[Compilation]) -> tuple[str, ...]:
    """Return the names of passes that changed a graph; unnamed changes between passes are left out."""
    names = dict.fromkeys(change.name for compilation in found for change in compilation.passes if change.name)
    return tuple(names)[:MOST_NAMES]


def _chosen(report: Report) -> dict[str, str]:
    tried = [kernel.tried for found in report.compilations for kernel in found.kernels if kernel.tried]
    taken = {
        item.name: next((choice.name for choice in item.choices if choice.chosen), "")
        for item in (*tried, *report.autotuned)
    }
    return dict(list(taken.items())[:MOST_NAMES])


def _guards_us(report: Report) -> float | None:
    """Return the guard time of one call for the newest compilation of each frame, in microseconds.

    None if not recorded.
    """
    newest = {frame_of(found): found.guard_warm_us for found in report.compilations if found.guard_warm_us is not None}
    return sum(newest.values()) if newest else None


def _phases_s(report: Report) -> dict[str, float]:
    """Return the compile time by phase class, each instant counted once."""
    found: dict[str, float] = {}
    for phase, seconds in zip(report.phases, self_seconds(report.phases), strict=True):
        kind = phase_class(phase.name)
        found[kind] = found.get(kind, 0.0) + seconds
    return found

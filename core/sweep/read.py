"""Row of a cell: a pure function of its report and its run's status.

Generated code of a cell: number of kernels, digests to compare cells, and times.
"""

from __future__ import annotations

import hashlib
import statistics
from collections.abc import Sequence
from dataclasses import replace

from core.analysis import Speed, compile_time_s, distinct_kernels, phase_class, results_words, self_seconds, verdict
from core.analysis.kernels import kernel_names, summary
from core.analysis.memory import memory_of
from core.analysis.numerics import numerics, numerics_sentence
from core.analysis.work import frame_of
from core.report import Compilation, MemorySide, Report
from core.runs.status import Status
from core.sweep.row import Claim, SweepCall, SweepRow, was_killed

MAX_ERROR_CHARS = 2_000
MOST_NAMES = 500


def row_of(at: tuple[str, ...], run: str, status: Status, report: Report | None = None) -> SweepRow:
    """Return the row of a cell; without a report it has only the run's status."""
    error = "" if status.state == "done" else status.reason[:MAX_ERROR_CHARS]
    row = SweepRow(at, run, status.state, error, killed=was_killed(status), took_s=status.took_s)
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
        phases_s=_phases_s(report),
        compile_s=compile_time_s(report.phases) if report.phases else None,
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


def _phases_s(report: Report) -> dict[str, float]:
    """Return the compile time by phase class, each instant counted once."""
    seconds_by_class: dict[str, float] = {}
    for phase, seconds in zip(report.phases, self_seconds(report.phases), strict=True):
        kind = phase_class(phase.name)
        seconds_by_class[kind] = seconds_by_class.get(kind, 0.0) + seconds
    return seconds_by_class


def directions_s(compilations: Sequence[Compilation]) -> dict[str, float]:
    """Return the wrapper seconds of a call by direction, for the newest compilation of each frame."""
    newest = {frame_of(compilation): compilation for compilation in compilations if compilation.wrapper_times}
    seconds: dict[str, float] = {}
    for wrapper in (wrapper for compilation in newest.values() for wrapper in compilation.wrapper_times):
        if wrapper.samples_s and wrapper.direction:
            so_far_s = seconds.get(wrapper.direction, 0.0)
            seconds[wrapper.direction] = so_far_s + statistics.median(wrapper.samples_s)
    return seconds


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

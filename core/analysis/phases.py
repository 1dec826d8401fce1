"""Compile time by phase: torch's phases in colored classes, each instant counted for one phase."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from core.report import Phase, Report, stored

CLASSES = (
    ("compile", ("compile_file", "async_compile", "triton", "load_by_key_path", "PyCodeCache", "precompile")),
    ("codegen", ("code_gen", "GraphLowering.codegen", "GraphLowering.compile_to", "Scheduler", "PythonWrapperCodegen")),
    ("inductor", ("inductor", "fx_codegen", "compile_fx", "GraphLowering", "pass.", "_recursive_", "pad_mm", "joint_",
                  "post_grad", "pre_grad")),
    ("aot_autograd", ("create_aot", "aot_", "aot", "AOT", "backward_state", "min_cut", "partition")),
    ("dynamo", ("dynamo", "entire_frame", "compile_attempt", "bytecode", "build_guards", "backend_compile",
                "entire_backward", "fullgraph_capture", "symbolic", "pgo", "get_user")),
)  # fmt: skip

# Phase around the build of an AOTInductor package.
AHEAD_OF_TIME = "compile_fx_aot"
# Definition of compile time, shown on every page.
COMPILE_TIME = (
    "Compile time is the time in which at least one phase of torch was open, for forward and backward. Parallel "
    "threads count once."
)


@dataclass(frozen=True, slots=True)
class PhaseTotal:
    """Sum over the spans of one phase name: count and seconds.

    `total_s` is the time in which at least one span was open, `self_s` the time of this phase alone. With parallel
    threads, `threads` is their maximum number and `threads_s` the sum of their seconds; otherwise 1, and equal to
    `total_s`.
    """

    name: str
    count: int
    total_s: float
    self_s: float
    threads: int
    threads_s: float


def phase_class(name: str) -> str:
    """Return the class of a phase: dynamo, aot_autograd, inductor, codegen, compile, or other."""
    return next((kind for kind, prefixes in CLASSES if name.startswith(prefixes)), "other")


def phase_totals(report: Report, compilation: str = "") -> tuple[PhaseTotal, ...]:
    """Return sums by phase name, of one compilation or all, longest self time first; unfinished spans are left out."""
    return _totals(report, report.phases_of(compilation)) if compilation else _all_totals(report)


@stored
def _all_totals(report: Report) -> tuple[PhaseTotal, ...]:
    return _totals(report, enumerate(report.phases))


def _totals(report: Report, phases: Iterable[tuple[int, Phase]]) -> tuple[PhaseTotal, ...]:
    self_s = self_seconds(report)
    members: dict[str, list[tuple[int, Phase]]] = {}
    for index, phase in phases:
        if phase.duration_s is not None:
            members.setdefault(phase.name, []).append((index, phase))
    totals = (
        _total(name, [phase for _, phase in spans], sum(self_s[index] for index, _ in spans))
        for name, spans in members.items()
    )
    return tuple(sorted(totals, key=lambda total: -total.self_s))


def _total(name: str, spans: list[Phase], self_s: float) -> PhaseTotal:
    stretches = [
        (seconds, len({spans[i].thread for i in open_spans})) for seconds, open_spans in _open_intervals(spans)
    ]
    return PhaseTotal(
        name,
        len(spans),
        sum(seconds for seconds, _ in stretches),
        self_s,
        max((threads for _, threads in stretches), default=1),
        sum(seconds * threads for seconds, threads in stretches),
    )


@stored
def compile_seconds(report: Report) -> dict[str, float]:
    """Return compile time by compilation, defined by COMPILE_TIME for all pages and findings; empty without phases."""
    seconds_of: dict[str, float] = {}
    for phase, seconds in zip(report.phases, self_seconds(report), strict=True):
        seconds_of[phase.compilation] = seconds_of.get(phase.compilation, 0.0) + seconds
    return seconds_of


def compile_time_s(report: Report) -> float:
    """Return the compile time of all compilations together."""
    return sum(compile_seconds(report).values())


@stored
def class_seconds(report: Report) -> dict[str, float]:
    """Return compile time by class of phase, each instant counted once; together they are `compile_time_s`.

    A phase without a class counts for the class of the span that is around it, and for Dynamo if there is none.
    """
    phases = report.phases
    kinds = [phase_class(phase.name) for phase in phases]
    seconds_of: dict[str, float] = {}
    for seconds, open_spans in _open_intervals(phases):
        inward = (kinds[_owner(phases, open_spans)], *(kinds[index] for index in reversed(open_spans)))
        kind = next((known for known in inward if known != "other"), "dynamo")
        seconds_of[kind] = seconds_of.get(kind, 0.0) + seconds
    return seconds_of


def parallel_totals(totals: Sequence[PhaseTotal]) -> tuple[PhaseTotal, ...]:
    """Return the phases that ran in parallel threads, most thread seconds first."""
    return tuple(sorted((total for total in totals if total.threads > 1), key=lambda total: -total.threads_s))


@stored
def self_seconds(report: Report) -> tuple[float, ...]:
    """Return the self time of each span; parallel threads: of the latest span, otherwise of the innermost."""
    phases = report.phases
    self_s = [0.0] * len(phases)
    for seconds, open_spans in _open_intervals(phases):
        self_s[_owner(phases, open_spans)] += seconds
    return tuple(self_s)


def _owner(phases: Sequence[Phase], open_spans: tuple[int, ...]) -> int:
    """Return the span that an instant counts for: the latest one of a parallel thread, otherwise the innermost."""
    return next((index for index in reversed(open_spans) if phases[index].thread), open_spans[-1])


def _open_intervals(phases: Sequence[Phase]) -> Iterator[tuple[float, tuple[int, ...]]]:
    """Yield the seconds between neighbouring span starts and ends, with the open spans' indices in start order."""
    edges: list[tuple[float, bool, int]] = []
    for index, phase in enumerate(phases):
        if phase.end_us is not None and phase.end_us > phase.start_us:
            edges += [(phase.start_us, True, index), (phase.end_us, False, index)]
    open_spans: list[int] = []
    before_us = 0.0
    for at_us, begins, index in sorted(edges):
        if open_spans and at_us > before_us:
            yield (at_us - before_us) / 1e6, tuple(open_spans)
        before_us = at_us
        if begins:
            open_spans.append(index)
        else:
            open_spans.remove(index)

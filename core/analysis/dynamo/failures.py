"""Graph breaks by the line of the model, and compilations that failed or were left to eager."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.dynamo.frame_names import RESUMES, resumed
from core.analysis.phases import compile_seconds
from core.analysis.work import frame_of
from core.base.words import agree, count
from core.report import Compilation, GraphBreak, Place, Report


@dataclass(frozen=True, slots=True)
class BreakCost:
    """A graph break with the compilations it caused: resume functions, and callees that could no longer be inlined.

    `graphs` are the graphs of those compilations, `launches` their kernel calls, `compile_s` their compile seconds.
    Each compilation counts for one break.
    """

    graph_break: GraphBreak
    compilations: tuple[Compilation, ...]
    graphs: int
    launches: int
    compile_s: float


def break_costs(report: Report) -> tuple[BreakCost, ...]:
    """Return the costs of all graph breaks, most expensive first: by compile seconds, graphs, then log order."""
    seconds = compile_seconds(report)
    counted: set[str] = set()
    costs = []
    for graph_break in report.graph_breaks:
        caused = [
            compilation for compilation in caused_compilations(graph_break, report) if compilation.id not in counted
        ]
        counted.update(compilation.id for compilation in caused)
        costs.append(_cost(graph_break, caused, seconds))
    return tuple(sorted(costs, key=lambda cost: (-cost.compile_s, -cost.graphs)))


def _cost(graph_break: GraphBreak, caused: Collection[Compilation], seconds: Mapping[str, float]) -> BreakCost:
    graphs = sum(graph.stage == "dynamo_output_graph" for compilation in caused for graph in compilation.graphs)
    launches = sum(len(kernel.calls) for compilation in caused for kernel in compilation.kernels)
    return BreakCost(
        graph_break, tuple(caused), graphs, launches, sum(seconds.get(compilation.id, 0.0) for compilation in caused)
    )


def caused_compilations(graph_break: GraphBreak, report: Report) -> tuple[Compilation, ...]:
    """Return the compilations that a break caused: its resume functions, and frames that could no longer be inlined.

    The first compilation that hit the break does not count. Frames that hit it later do: each was compiled separately.
    """
    names = resumes(graph_break)
    by_id = {compilation.id: compilation for compilation in report.compilations}
    hits = [
        by_id[compilation_id] for compilation_id in dict.fromkeys(graph_break.compilations) if compilation_id in by_id
    ]
    frames = {frame_of(compilation) for compilation in hits[1:]} - {frame_of(compilation) for compilation in hits[:1]}
    return tuple(
        compilation
        for compilation in report.compilations
        if compilation.frame.name in names or frame_of(compilation) in frames
    )


def resumes(graph_break: GraphBreak) -> set[str]:
    """Return Dynamo's names of the resume functions after a break, for the broken frame and its callers."""
    places = ((resumed(frame.name)[0], frame.line) for frame in graph_break.stack)
    return {f"{RESUMES}{name}_at_{line}" for name, line in places}


FailureKind = Literal["failed", "over the limit", "given up"]
# Exceptions by which Dynamo skips a frame, by torch's class name; any other exception is an error.
GIVES_UP = frozenset({"Unsupported", "RecompileLimitExceeded", "CacheLimitExceeded"})
LIMIT = re.compile(r"\b((?:accumulated_)?(?:recompile|cache_size)_limit)\b")
LIMIT_VALUE = re.compile(r"(?:set to |limit \()(\d{1,9})")
# Noun counted for each kind, and the verb for one and for several.
WORDS: dict[FailureKind, tuple[str, str, str]] = {
    "failed": ("compilation", "failed", "failed"),
    "over the limit": ("frame", "is over the recompile limit", "are over the recompile limit"),
    "given up": ("frame", "runs eagerly", "run eagerly"),
}
MAX_REASON_CHARS = 200


@dataclass(frozen=True, slots=True)
class Failure:
    """A compilation without compiled code: kind of failure, torch's reason in one line, and the user's line.

    The file of `place` is empty if torch does not name it.
    """

    compilation: str
    frame: str
    kind: FailureKind
    reason: str
    place: Place

    @property
    def at_break(self) -> bool:
        """True if torch raised an error at a graph break instead of compiling around it, as with `fullgraph=True`."""
        return self.kind == "failed" and self.reason.startswith("Unsupported:")

    @property
    def consequence(self) -> str:
        """Consequence of the failure for the calls, in words."""
        if self.kind == "failed":
            return "nothing was compiled"
        if self.kind == "given up":
            return "this frame runs eagerly"
        return "from then on, calls that fit no compiled code of this frame run eagerly"


def failures(report: Report) -> tuple[Failure, ...]:
    """Return all failures of a report, the most severe kind first."""
    broken = {compilation_id for graph_break in report.graph_breaks for compilation_id in graph_break.compilations}
    failed = [compilation for compilation in report.compilations if compilation.status == "failed"]
    all_failures = [_failure(compilation, compilation.id in broken) for compilation in failed]
    all_failures += _eager_calls(report)
    return tuple(sorted(all_failures, key=lambda failure: list(WORDS).index(failure.kind)))


def _failure(compilation: Compilation, broken: bool) -> Failure:
    """Return the failure of a compilation; with `fullgraph`, torch raises an error and logs no graph break."""
    limit = LIMIT.search(compilation.error)
    gave_up = compilation.error_type in GIVES_UP and bool(broken or limit)
    kind: FailureKind = "failed" if not gave_up else "over the limit" if limit else "given up"
    first = _first_line(compilation.error)
    reason = f"{compilation.error_type}: {first}" if kind == "failed" else first
    if limit and kind == "over the limit":
        value = LIMIT_VALUE.search(compilation.error)
        reason = f"torch._dynamo hit config.{limit.group(1)}" + (f" ({value.group(1)})" if value else "")
    where = compilation.error_place or compilation.frame
    place = Place(where.file, where.line)
    return Failure(compilation.id, compilation.frame.name, kind, reason[:MAX_REASON_CHARS], place)


def _eager_calls(report: Report) -> list[Failure]:
    """Return the calls that a frame without ops leaves to eager.

    The graph break is in an inlined function that Dynamo does not compile separately, such as the `forward` of
    `nn.Sequential`, and there is no resume function.
    """
    compiled = {(compilation.frame.file, compilation.frame.name) for compilation in report.compilations}
    empty = {compilation.id: compilation for compilation in report.compilations if compilation.status == "empty"}
    names = {compilation.frame.name for compilation in report.compilations}
    return [
        Failure(
            compilation_id,
            graph_break.stack[-1].name,
            "given up",
            _first_line(graph_break.reason)[:MAX_REASON_CHARS],
            graph_break.place,
        )
        for graph_break in report.graph_breaks
        for compilation_id in graph_break.compilations
        if compilation_id in empty
        and graph_break.stack
        and (graph_break.stack[-1].file, graph_break.stack[-1].name) not in compiled
        and not names.intersection(resumes(graph_break))
    ]


def _first_line(text: str) -> str:
    """Return the first line with text, joined with the next line if it ends in a colon."""
    joined = ""
    for line in filter(None, map(str.strip, text.split("\n"))):
        joined = f"{joined} {line}".strip()
        if not joined.endswith(":"):
            break
    return joined


def failure_counts(all_failures: Sequence[Failure]) -> dict[FailureKind, str]:
    """Return the number of failures per kind in words; skipped frames count once per frame."""
    counts: dict[FailureKind, str] = {}
    for kind, (noun, singular, plural) in WORDS.items():
        members = {
            failure.compilation if kind == "failed" else failure.compilation.rpartition("/")[0]
            for failure in all_failures
            if failure.kind == kind
        }
        if members:
            counts[kind] = f"{count(len(members), noun)} {agree(len(members), singular, plural)}"
    return counts


def failure_sentence(all_failures: Sequence[Failure]) -> str:
    """Return the counts, and the first error with its reason and line; empty without failures."""
    counts = failure_counts(all_failures)
    if "failed" in counts:
        first = all_failures[0]
        counts["failed"] += f" ({first.reason.rstrip('.')}{f', at {first.place.short}' if first.place.file else ''})"
    return ", ".join(counts.values())

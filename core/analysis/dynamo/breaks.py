"""Cost of graph breaks: the compilations that each break caused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from core.analysis.dynamo.frame_names import RESUMES, resumed
from core.analysis.phases import compile_seconds
from core.analysis.work import frame_of
from core.report import Compilation, GraphBreak, Report


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
    seconds = compile_seconds(report.phases)
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

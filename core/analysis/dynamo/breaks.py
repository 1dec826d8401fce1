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

    found: GraphBreak
    made: tuple[Compilation, ...]
    graphs: int
    launches: int
    compile_s: float


def break_costs(report: Report) -> tuple[BreakCost, ...]:
    """Return the costs of all graph breaks, most expensive first: by compile seconds, graphs, then log order."""
    seconds = compile_seconds(report.phases)
    taken: set[str] = set()
    costs = []
    for found in report.graph_breaks:
        made = [item for item in made_by(found, report) if item.id not in taken]
        taken.update(item.id for item in made)
        costs.append(_cost(found, made, seconds))
    return tuple(sorted(costs, key=lambda cost: (-cost.compile_s, -cost.graphs)))


def _cost(found: GraphBreak, made: Collection[Compilation], seconds: Mapping[str, float]) -> BreakCost:
    graphs = sum(graph.stage == "dynamo_output_graph" for item in made for graph in item.graphs)
    launches = sum(len(kernel.calls) for item in made for kernel in item.kernels)
    return BreakCost(found, tuple(made), graphs, launches, sum(seconds.get(item.id, 0.0) for item in made))


def made_by(found: GraphBreak, report: Report) -> tuple[Compilation, ...]:
    """Return the compilations that a break caused: its resume functions, and frames that could no longer be inlined.

    The first compilation that hit the break does not count; frames that hit it later do, each compiled separately.
    """
    names = resumes(found)
    by_id = {item.id: item for item in report.compilations}
    met = [by_id[item] for item in dict.fromkeys(found.compilations) if item in by_id]
    frames = {frame_of(item) for item in met[1:]} - {frame_of(item) for item in met[:1]}
    return tuple(item for item in report.compilations if item.frame.name in names or frame_of(item) in frames)


def resumes(found: GraphBreak) -> set[str]:
    """Return Dynamo's names of the resume functions after a break, for the broken frame and its callers."""
    places = ((resumed(frame.name)[0], frame.line) for frame in found.stack)
    return {f"{RESUMES}{name}_at_{line}" for name, line in places}

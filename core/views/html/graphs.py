"""Graphs and source code of a run, drawn for the HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, TypeVar

import msgspec

from core.analysis.comparison import RunSide
from core.base import words as fmt
from core.report import Compilation, FxGraph, FxNode, Report, Schedule
from core.runs.store import Run
from core.runs.stored import side_of_run
from core.views.colours import kernel_colours
from core.views.compilations import CompilationsView
from core.views.fusion import FusionView
from core.views.fx_graph import FxGraphView, GraphStages
from core.views.html.page import Block, Drawing, Fold, Text, spans
from core.views.wire import TOP, StoredGraph, graph_data, level_data, stored

GRAPH_PX = 520
POST_GRAD = "inductor_post_grad_graph"
# What a file takes at most, so that it stays small enough to send.
MOST_COMPILATIONS = 8
MOST_NODES = 6_000
MOST_ROWS = 250
MOST_CODE_CHARS = 1_200_000
MOST_LISTING_CHARS = 80_000

Element = TypeVar("Element")


@dataclass
class Drawings:
    """The graphs of a file, in the form of the graph view: messages by place, and further levels by graph."""

    messages: dict[str, dict[str, Any]] = field(default_factory=dict)
    levels: dict[str, dict[str, Any]] = field(default_factory=dict)

    def place(
        self,
        channel: str,
        graph: StoredGraph,
        *,
        morph: StoredGraph | None = None,
        step: str = "",
        overlay: str = "",
        frame: int | None = None,
    ) -> str:
        """Store a graph's data; returns the id of its place in the page. Graphs of a channel select together."""
        number = len(self.messages)
        place = f"graph-{number}"
        data = msgspec.to_builtins(graph_data(graph, morph=morph))
        where = {"source": place, "channel": channel, "height": GRAPH_PX, "step": step, "overlay": overlay}
        self.messages[place] = {**data, **where, "frame": frame}
        for each in filter(None, (graph, morph)):
            self.levels.setdefault(each.digest, _further_levels(each))
        return place


@dataclass
class Graphs:
    """The graphs of a run, as blocks; their data is in `drawings`."""

    source: Source
    drawings: Drawings = field(default_factory=Drawings)

    def blocks(self, compilation: Compilation) -> Iterator[Block]:
        """Yield the drawings of a compilation: its captured graph, its last graph, and each fusion."""
        for graph in _shown(compilation):
            yield from self._fx(compilation, graph)
        for index in range(len(compilation.schedules)):
            yield from self._fusion(compilation, index)

    def _fx(self, compilation: Compilation, graph: FxGraph) -> Iterator[Block]:
        view = FxGraphView(
            self.source.run, self.source.report, compilation, graph, partial(self.source.nodes, compilation)
        )
        title = f"[{compilation.id}] {GraphStages.describe(graph)}"
        if not graph.ops or not self.source.takes_graph(title, sum(graph.ops.values())):
            return
        place = self.drawings.place(compilation.id, stored(view.picture, self.source.colours))
        drawing = Drawing(place, title)
        yield Fold(spans(f"FX graph: {view.title}"), (drawing,), graph is _shown(compilation)[0])

    def _fusion(self, compilation: Compilation, index: int) -> Iterator[Block]:
        schedule = compilation.schedules[index]
        view = FusionView(self.source.report, compilation, schedule, partial(self.source.nodes, compilation))
        title = f"[{compilation.id}] fusion of {view.name}"
        if not self.source.takes_graph(title, _size(schedule)):
            return
        before = stored(view.before, self.source.colours)
        after = stored(view.after, self.source.colours)
        step = f"fusion-{compilation.id}-{index}"
        last = len(view.after.frames) - 1
        left_place = self.drawings.place(compilation.id, before, step=step)
        right_place = self.drawings.place(compilation.id, after, morph=before, step=step, frame=last)
        left = Drawing(left_place, f"{title}, before", is_half=True)
        right = Drawing(right_place, f"{title}, after", is_half=True)
        note = Text(spans("Left: before fusion. Right: kernels, one frame for each fusion."), "quiet")
        yield Fold(spans(f"Fusion: {view.title}"), (note, left, right), is_open=True)


def _further_levels(graph: StoredGraph) -> dict[str, Any]:
    """Return the levels of all groups that the first message does not have."""
    opened = {level.group for level in graph.view.opened()}
    groups = (level.group for level in graph.view.levels_below(TOP) if level.group not in {*opened, TOP})
    return {str(group): msgspec.to_builtins(level_data(graph, group)) for group in groups}


def _shown(compilation: Compilation) -> list[FxGraph]:
    """Return the captured graph, and the last graph that Inductor lowered."""
    if not compilation.graphs:
        return []
    lowered = [graph for graph in compilation.graphs if graph.stage == POST_GRAD and not graph.name]
    first = GraphStages(compilation.graphs).first
    return [first, *(graph for graph in lowered[-1:] if graph is not first)]


def _size(schedule: Schedule) -> int:
    """Return the nodes of a fusion's drawings: those before it are drawn twice."""
    return 2 * len(schedule.before) + len(schedule.after)


@dataclass(kw_only=True)
class Allowance:
    """Room that is left in a file; the builders of a page take from it, and note the parts that do not fit."""

    nodes_left: int = MOST_NODES
    code_left: int = MOST_CODE_CHARS
    left_out: list[str] = field(default_factory=list)

    def first(self, what: str, elements: Sequence[Element], most: int = MOST_ROWS) -> Sequence[Element]:
        """Return the first elements; the number of the others is noted as left out."""
        if len(elements) > most:
            self.left_out.append(f"{what}: {fmt.number(len(elements) - most)} of {fmt.number(len(elements))}")
        return elements[:most]

    def takes_graph(self, what: str, size: int) -> bool:
        """Return True if a graph with so many nodes is part of the file; it is noted as left out otherwise."""
        if size > self.nodes_left:
            self.left_out.append(f"{what}: a graph of {fmt.count(size, 'node')}")
            return False
        self.nodes_left -= size
        return True

    def excerpt(self, what: str, text: str) -> str:
        """Return the beginning of a text that the file has room for; the length of the rest is noted as left out."""
        kept = text[: min(MOST_LISTING_CHARS, self.code_left)]
        self.code_left -= len(kept)
        if len(kept) < len(text):
            self.left_out.append(f"{what}: {fmt.number(len(text) - len(kept))} of {fmt.number(len(text))} characters")
        return kept


@dataclass
class Source(Allowance):
    """A stored run with its report, and the room that is left in its file."""

    run: Run
    side: RunSide

    @classmethod
    def of(cls, run: Run) -> Source:
        """Return the source of a run with a log; raises StoreError, TraceError."""
        return cls(run, side_of_run(run))

    @property
    def report(self) -> Report:
        """The run's report."""
        return self.side.report

    @cached_property
    def heaviest(self) -> Sequence[Compilation]:
        """The compilations with their graphs, kernels and guards in the file: those with the most ops, in log order."""
        weights = {entry.id: entry.ops for _, entry in CompilationsView(self.report).matches("")}
        ranked = sorted(self.report.compilations, key=lambda compilation: -weights.get(compilation.id, 0))
        kept = {compilation.id for compilation in self.first("Graphs, kernels and guards", ranked, MOST_COMPILATIONS)}
        return [compilation for compilation in self.report.compilations if compilation.id in kept]

    @property
    def colours(self) -> dict[str, str]:
        """Colour of each kernel of the run, as on the dashboard's pages."""
        return kernel_colours(self.report)

    def nodes(self, compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
        """Return the nodes of a graph of a compilation."""
        return self.side.nodes(compilation, graph)

"""Interactive graphs of an HTML file: what Dynamo captured, and the scheduler's nodes before and after fusion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import msgspec

from core.report import Compilation, FxGraph, Schedule
from core.views.fusion import FusionView
from core.views.fx_graph import FxGraphView, GraphStages
from core.views.html.page import Block, Drawing, Fold, Text
from core.views.html.source import Source
from core.views.html.spans import spans
from core.views.wire import TOP, StoredGraph, graph_data, level_data, stored

GRAPH_PX = 520
POST_GRAD = "inductor_post_grad_graph"


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

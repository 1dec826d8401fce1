"""The selected op on all pages: its id, its nodes and kernels, and the part that a page shows.

Torch maps the nodes before AOTAutograd to those after the post-grad passes, and these to kernels. A node of
AOTAutograd's graphs keeps its name in the graph that Inductor lowers, and a node of the joint graph keeps it in forward
and backward. Where no such link was recorded, nodes belong together by the user's line only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar

from core.analysis.comparison.matching import RunSide
from core.analysis.film import film
from core.analysis.kernels.ledger import fusion_schedules
from core.analysis.memory import graph_plans
from core.base import words as fmt
from core.base.decoder import decoded_object
from core.graph.fx import divided_graph
from core.graph.launches import launches
from core.report import Compilation, FxGraph, FxNode, Kernel, Place, Report, Schedule
from core.runs.store import Run
from core.runs.stored import open_profile
from core.views.capture import CaptureView
from core.views.decisions import decisions
from core.views.fx_graph import NODE_MAP, STAGES, GraphStages, mapped
from core.views.graph import GraphView
from core.views.markdown import one_line

# Prefixes of the items that stand for an op: an FX node, a scheduler node, a launch, a kernel.
OF_OPS = ("n:", "s:", "g:", "k:")
KINDS = {"s": "scheduler node", "g": "launch", "k": "kernel"}
JOINT = "joint"
BY_LINE = "by line only"
LONGEST_LABEL = 24  #: characters of the op's name in the header
MOST_NAMES = 6  #: names of a kind in the tooltip of the selected op
Line = tuple[str, int]


def is_op(item_id: str) -> bool:
    """Return True for the id of an op; other items of pages are lines, modules, phases and compilations."""
    return item_id.startswith(OF_OPS)


@dataclass(frozen=True, slots=True)
class OpId:
    """Id of an op in URLs and files: its compilation, its graph with direction and subgraph, and its item.

    The item is the kind of the op and its name: `n:gelu` is an FX node, `s:op3` a scheduler node, `g:op3` a launch, and
    `k:` begins the id of a kernel.
    """

    compilation: str
    graph: str
    item: str

    def __str__(self) -> str:
        return f"{self.compilation} {self.graph} {self.item}"

    @property
    def query(self) -> dict[str, str]:
        """Return the query parameters that select the op on any page."""
        return {"compilation": self.compilation, "of": self.graph, "select": self.item}

    @staticmethod
    def of_kernel(compilation: Compilation, kernel: Kernel) -> OpId:
        """Return the id of a kernel."""
        return OpId(compilation.id, kernel.graph, f"k:{kernel.id}")


@dataclass(frozen=True, slots=True)
class SameOp:
    """An op at all stages of a compilation.

    `label` is its name. `early` are its nodes before AOTAutograd, `lowered` those in the graphs that Inductor lowers,
    by direction, and `kernels` the kernels that compute it; its own direction is first. `lines` are the user's lines.
    `by_line` has the stages that are known by the line only: directions, `early`, and `kernels`.
    """

    id: OpId
    label: str
    stage: str
    early: tuple[str, ...] = ()
    lowered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kernels: tuple[str, ...] = ()
    lines: tuple[Line, ...] = ()
    by_line: frozenset[str] = frozenset()

    def nodes_in(self, graph: FxGraph, nodes: Iterable[FxNode]) -> tuple[tuple[str, ...], bool]:
        """Return the names of the op's nodes in a graph, and True if they are known by the line only."""
        known = {node.name: node for node in nodes}
        names = [name for name in dict.fromkeys(self._names(graph)) if name in known]
        stage = "early" if graph.early else graph.direction
        if names:
            return tuple(names), stage in self.by_line and names[0] != self.own_name(graph)
        same = tuple(name for name, node in known.items() if _is_call(node) and _lines_of(node) & {*self.lines})
        return same, True

    def own_name(self, graph: FxGraph) -> str:
        """Return the name of the selected node if it is one of this graph; otherwise empty."""
        return _node_name(self.id.item) if self.id.item.startswith("n:") and graph.id == self.id.graph else ""

    def _names(self, graph: FxGraph) -> Iterator[str]:
        if name := self.own_name(graph):
            yield name
        if graph.early:
            yield from self.early
            return
        # A joint graph has both directions: what only the line links is left out beside what is known.
        of = {direction: direction in self.by_line for direction in self.lowered if _is_of(graph, direction)}
        for direction, is_by_line in of.items():
            if not is_by_line or all(of.values()):
                yield from self.lowered[direction]

    def in_fusion(self, picture: GraphView, graph: FxGraph | None) -> str | None:
        """Return the id of the op in a drawing of the fusion of a graph; None if the drawing lacks it."""
        own = [self.id.item] if graph is None or graph.id == self.id.graph else []
        nodes = self.lowered.get(graph.direction, ()) if graph is not None else ()
        ids = (*own, *map("n:{}".format, nodes), *map("k:{}".format, self.kernels))
        return next((item for item in ids if picture.find(item) is not None), None)


class _Links:
    """Links between the stages of a compilation."""

    def __init__(self, side: RunSide, compilation: Compilation) -> None:
        self._compilation, self._nodes_of = compilation, partial(side.nodes, compilation)
        self._lowered = compilation.lowered_graphs
        files = {
            file.graph: file
            for file in side.report.debug_files
            if (file.compilation, file.name) == (compilation.id, NODE_MAP)
        }
        self._maps = {
            graph.direction: decoded_object(side.text(files[place].text))
            for place, graph in enumerate(self._lowered)
            if place in files
        }

    def op(self, op: OpId) -> SameOp | None:
        """Return the op of an id; None if its graph has no such item."""
        graph = self._compilation.graph(op.graph)
        if graph is None:
            return None
        if op.item.startswith("n:"):
            node = self._named(graph, (_node_name(op.item),))
            stage = STAGES[graph.stage][0] if graph.stage in STAGES else graph.stage
            return self._op(op, node[0].name, stage, graph, node, ()) if node else None
        kernels, origins = self._computed(graph, op.item)
        if not kernels:
            return None
        kind, _, name = op.item.partition(":")
        label = name if kind == "s" else kernels[0].name
        names = tuple(kernel.id for kernel in kernels)
        return self._op(op, label, KINDS[kind], graph, self._named(graph, origins), names)

    def _op(
        self, op: OpId, label: str, stage: str, graph: FxGraph, own: tuple[FxNode, ...], kernels: tuple[str, ...]
    ) -> SameOp:
        """Return the op of some nodes of a graph; `kernels` are known kernels of them."""
        names = tuple(node.name for node in own)
        lines = tuple(dict.fromkeys(line for node in own for line in sorted(_lines_of(node))))
        by_line = set[str]()
        early = names if graph.early else self._mapped(graph, "postToPre", names)
        if not early and (captured := next((each for each in self._compilation.graphs if each.early), None)):
            early = self._on(captured, lines)
            by_line |= {"early"} if early else set()
        lowered: dict[str, tuple[str, ...]] = {}
        for each in sorted(self._lowered, key=lambda each: each.direction != graph.direction):
            linked = self._exact(graph, names, each)
            names_here = linked or self._on(each, lines)
            lowered[each.direction] = names_here
            by_line |= {each.direction} if not linked and names_here else set()
        exact_kernels = [*kernels, *self._kernels({at: names for at, names in lowered.items() if at not in by_line})]
        if not exact_kernels:
            exact_kernels = self._kernels(lowered)
            by_line |= {"kernels"} if exact_kernels else set()
        name, exact = one_line(label, LONGEST_LABEL), tuple(dict.fromkeys(exact_kernels))
        return SameOp(op, name, stage, early, lowered, exact, lines, frozenset(by_line))

    def _exact(self, graph: FxGraph, names: tuple[str, ...], lowered: FxGraph) -> tuple[str, ...]:
        """Return the nodes of a lowered graph that are linked to nodes of a graph by map or name."""
        if graph.early:
            return mapped([self._maps.get(lowered.direction, {})], "preToPost", *names)
        if lowered.direction not in (graph.direction, JOINT) and graph.direction != JOINT:
            joint = next((each for each in self._compilation.graphs if each.direction == JOINT), None)
            names = tuple(node.name for node in self._named(joint, names)) if joint is not None else ()
        return tuple(node.name for node in self._named(lowered, names))

    def _mapped(self, graph: FxGraph, key: str, names: tuple[str, ...]) -> tuple[str, ...]:
        maps = [found for of, found in self._maps.items() if _is_of(graph, of)]
        return mapped(maps, key, *names)

    def _named(self, graph: FxGraph, names: Collection[str]) -> tuple[FxNode, ...]:
        return tuple(node for node in self._nodes_of(graph) if node.name in names) if names else ()

    def _on(self, graph: FxGraph, lines: tuple[Line, ...]) -> tuple[str, ...]:
        """Return the calls of a graph that are on these lines."""
        if not lines:
            return ()
        return tuple(
            node.name for node in self._nodes_of(graph) if _is_call(node) and not _lines_of(node).isdisjoint(lines)
        )

    def _kernels(self, lowered: Mapping[str, tuple[str, ...]]) -> list[str]:
        return [
            kernel.id
            for direction, names in lowered.items()
            for kernel in self._compilation.kernels
            if kernel.direction == direction and not set(names).isdisjoint(kernel.origins)
        ]

    def _computed(self, graph: FxGraph, op_item: str) -> tuple[list[Kernel], tuple[str, ...]]:
        """Return the kernels of a kernel, scheduler node or launch, and the FX nodes that it computes."""
        kind, _, name = op_item.partition(":")
        kernels = {kernel.id: kernel for kernel in self._compilation.kernels if kernel.graph == graph.id}
        schedules = [each for each in fusion_schedules(self._compilation) if each.direction == graph.direction]
        nodes = [node for schedule in schedules for node in schedule.before if node.name in _members(schedule, op_item)]
        if kind == "k":
            nodes = [node for schedule in schedules for node in schedule.before if node.kernel == name]
        names = dict.fromkeys([name] if kind == "k" else [node.kernel for node in nodes])
        shown = [kernels[each] for each in names if each in kernels]
        origins = [origin for node in nodes for origin in node.origins]
        return shown, tuple(dict.fromkeys(origins or [origin for kernel in shown for origin in kernel.origins]))


def _members(schedule: Schedule, op_item: str) -> tuple[str, ...]:
    """Return the scheduler nodes of an item: of a launch all of its nodes."""
    kind, _, name = op_item.partition(":")
    launch = next((node.nodes for node in schedule.after if name in node.nodes), ()) if kind == "g" else ()
    return launch or (name,)


def _node_name(op_item: str) -> str:
    """Return the name of an FX node; a copy in a drawing has its place after an `@`."""
    return op_item.removeprefix("n:").partition("@")[0]


def _is_call(node: FxNode) -> bool:
    return node.op.startswith("call_")


def _lines_of(node: FxNode) -> set[Line]:
    """Return the innermost lines of the user that a node is known to come from."""
    places = (node.source, node.stack[-1] if node.stack else None)
    return {(place.file, place.line) for place in places if place is not None and place.line}


def _is_of(graph: FxGraph, direction: str) -> bool:
    """Return True if a graph after AOTAutograd has nodes of a direction."""
    return graph.direction in (direction, JOINT, "")


@dataclass(frozen=True, slots=True)
class PagePart:
    """A page's part of the selected op: the item to select, and a few words; both empty without one."""

    item: str = ""
    words: str = ""


@dataclass(frozen=True, slots=True)
class _OnPage:
    """The op of a run's compilation, for the parts of pages; `choice` is that of `SelectedOp.on`."""

    run: Run
    side: RunSide
    compilation: Compilation
    op: SameOp
    choice: str | None

    @property
    def report(self) -> Report:
        """The run's report."""
        return self.side.report

    def nodes_of(self, graph: FxGraph) -> tuple[FxNode, ...]:
        """Return the nodes of a graph."""
        return self.side.nodes(self.compilation, graph)

    @property
    def line(self) -> str:
        """The id of the op's first line in the user's code; empty without one."""
        paths = [source.path for source in self.report.sources]
        lines = [(paths.index(file), line) for file, line in self.op.lines if file in paths]
        return f"l{lines[0][0] or ''}:{lines[0][1]}" if lines else ""

    def of_kernels(self, what: str) -> PagePart:
        """Return the part of a page that shows kernels."""
        kernels = self.op.kernels
        if not kernels:
            return PagePart()
        many = f"{what} 1 of {fmt.number(len(kernels))}" if len(kernels) > 1 else f"its {what}"
        return PagePart(f"k:{kernels[0]}", f"{many} {BY_LINE}" if "kernels" in self.op.by_line else many)

    def of_nodes(self, graph: FxGraph | None) -> PagePart:
        """Return the part of a page that draws a graph."""
        if graph is None:
            return PagePart()
        names, is_by_line = self.op.nodes_in(graph, self.nodes_of(graph))
        return _node_part(names, is_by_line)

    def on_line(self, what: str, places: Iterable[Place | None], shown: str = "") -> PagePart:
        """Return the part of a page of facts on lines; the item is `shown`, by default the op's line."""
        count = sum(place is not None and (place.file, place.line) in self.op.lines for place in places)
        return PagePart(shown or self.line, f"{fmt.count(count, what)} on its line") if count else PagePart()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the op's nodes at all stages, the selected node first."""
        own = (_node_name(self.op.id.item),) if self.op.id.item.startswith("n:") else ()
        lowered = (name for names in self.op.lowered.values() for name in names)
        return tuple(dict.fromkeys((*own, *self.op.early, *lowered)))

    def among(self, known: Container[str]) -> PagePart:
        """Return the part of a page that shows nodes with these names."""
        return _node_part(tuple(name for name in self.names if name in known))


def _node_part(names: tuple[str, ...], is_by_line: bool = False, what: str = "node") -> PagePart:
    if not names:
        return PagePart()
    words = f"{what} 1 of {fmt.number(len(names))}" if len(names) > 1 else f"its {what}"
    return PagePart(f"n:{names[0]}", f"{words} {BY_LINE}" if is_by_line else words)


@dataclass(frozen=True, slots=True)
class SelectedOp:
    """The selected op, and the page's part of it, as a chip in the header."""

    close_label: ClassVar[str] = "Forget the selection"
    no_part: ClassVar[str] = "not on this page"

    op: SameOp
    part: PagePart = PagePart()

    @classmethod
    def find(cls, side: RunSide, compilation: Compilation, selected: str, graph: str) -> SelectedOp | None:
        """Return the op of a selected item of a compilation; None if there is none.

        `graph`, by its id, probably has it: it is tried first, then the lowered graphs, then all others.
        """
        links = _Links(side, compilation)
        others = (each.id for each in (*compilation.lowered_graphs, *compilation.graphs))
        ids = (OpId(compilation.id, each, selected) for each in dict.fromkeys((graph, *others)))
        op = next(filter(None, map(links.op, ids)), None)
        return None if op is None else cls(op)

    def on(self, page: str, run: Run, side: RunSide, compilation: Compilation, choice: str | None) -> SelectedOp:
        """Return the op with the part of it that a page of the menu shows.

        `choice` is what the page shows of several: a graph, a chapter of passes, an aspect, another run; None if
        nothing was chosen.
        """
        part = PARTS.get(page)
        return SelectedOp(self.op, part(_OnPage(run, side, compilation, self.op, choice)) if part else PagePart())

    @property
    def name(self) -> str:
        """The op's name and stage."""
        return f"{self.op.label} ({self.op.stage})"

    @property
    def here(self) -> str:
        """The page's part of the op."""
        return f"selected · {self.part.words or self.no_part}"

    @property
    def help(self) -> str:
        """The op's id, and its nodes, kernels and lines."""
        lowered = (name for names in self.op.lowered.values() for name in names)
        parts = {
            "Dynamo": self.op.early,
            "post-grad": tuple(dict.fromkeys(lowered)),
            "kernels": tuple(kernel.rpartition(".")[2] for kernel in self.op.kernels),
            "lines": tuple(f"{file.rpartition('/')[2]}:{line}" for file, line in self.op.lines),
        }
        words = [f"{name}: {fmt.first_of(some, MOST_NAMES)}" for name, some in parts.items() if some]
        return "\n".join([f"Selected on all pages: {self.op.id}", *words])


def _graph(op: _OnPage) -> PagePart:
    graphs = op.compilation.graphs
    return op.of_nodes(op.compilation.graph(op.choice or op.op.id.graph) or (graphs[0] if graphs else None))


def _fusion(op: _OnPage) -> PagePart:
    nodes = {node.name: node for graph in op.compilation.lowered_graphs for node in op.nodes_of(graph)}
    kernels = {kernel.id: kernel for kernel in op.compilation.kernels}
    item, schedules = op.op.id.item, fusion_schedules(op.compilation)
    # The graphs of a compilation number their launches alike.
    graphs = [op.compilation.lowered(each.direction) for each in schedules]
    own_graph = ("g:", op.op.id.graph)
    same = [each for each, at in zip(schedules, graphs, strict=True) if at and (item[:2], at.id) == own_graph]
    drawn = [launch for each in same or schedules for launch in launches(each, nodes, kernels)]
    if own := [launch for launch in drawn if item in (launch.id, f"k:{launch.kernel}")]:
        which = f"launch 1 of {fmt.number(len(own))}" if len(own) > 1 else "launch"
        return PagePart(item, f"{which}, {fmt.count(len(own[0].members), 'op')}")
    known = {name for launch in drawn for name in launch.members}
    lowered = next(filter(None, ([name for name in names if name in known] for names in op.op.lowered.values())), [])
    return _node_part(tuple(lowered), what="op") if lowered or not op.op.kernels else op.of_kernels("launch")


def _passes(op: _OnPage) -> PagePart:
    chapters = {segment.id: segment for segment in film(op.compilation, op.nodes_of)}
    default = max(chapters, key=lambda name: len(chapters[name].frames), default="")
    segment = chapters.get(op.choice or default)
    return op.among({node.name for node in segment.nodes}) if segment is not None else PagePart()


def _partition(op: _OnPage) -> PagePart:
    joint = op.choice or next((partition.graph for partition in op.compilation.partitions), "")
    return op.of_nodes(op.compilation.graph(joint))


def _captures(op: _OnPage) -> PagePart:
    drawn = CaptureView(op.report, op.compilation, op.nodes_of, op.side.text)
    items = [node.name for node in drawn.nodes] if drawn.is_drawn else []
    selected = op.op.id.item.removeprefix("n:")
    names = [item for name in op.names for item in items if item.partition("@")[0] == name]
    return _node_part(tuple(sorted(names, key=lambda name: name != selected)))


def _decisions(op: _OnPage) -> PagePart:
    if not op.compilation.schedules:
        return PagePart()
    nodes = {node.name: node for graph in op.compilation.lowered_graphs for node in op.nodes_of(graph)}
    rows = {row.node for row in decisions(op.report, op.compilation, nodes, op.side.text)}
    # Lowering computes an op within another, whose row stands for both.
    scheduled = (node.origins for schedule in op.compilation.schedules for node in schedule.before)
    around = [name for origins in scheduled if not {*op.names}.isdisjoint(origins) for name in origins]
    return _node_part(tuple(name for name in dict.fromkeys((*op.names, *around)) if name in rows)[:1])


def _accelerator(op: _OnPage) -> PagePart:
    parts = (op.of_nodes(divided_graph(op.compilation, pipeline)) for pipeline in op.compilation.pipelines)
    return next((part for part in parts if part.item), PagePart())


def _pair(op: _OnPage) -> PagePart:
    part = op.of_kernels("kernel")
    return PagePart(part.item, f"{part.words}, if both runs have it") if part.item else part


def _compare(op: _OnPage) -> PagePart:
    if op.choice == "kernels":
        return _pair(op)
    return PagePart(f"n:{op.names[0]}", "its node at its stage") if op.choice == "graphs" and op.names else PagePart()


def _numerics(op: _OnPage) -> PagePart:
    graphs = [graph for graph in op.report.graph_numerics if graph.compilation == op.compilation.id]
    return op.among({node.name for graph in graphs for node in graph.nodes})


def _memory(op: _OnPage) -> PagePart:
    plans = graph_plans(op.compilation, op.side.text)
    planned = {kernel.id for plan in plans if plan.plan.steps for kernel in plan.kernels.values()}
    return op.of_kernels("kernel's buffers") if not planned.isdisjoint(op.op.kernels) else PagePart()


def _timeline(op: _OnPage) -> PagePart:
    profile = open_profile(op.run, op.report)
    slices = [] if profile is None else [each for each in profile.joined if each.kernel in op.op.kernels]
    words = f"{fmt.count(len(slices), 'slice')} of its kernels"
    return PagePart(f"t:{slices[0].index}", words) if slices else PagePart()


def _recompiles(op: _OnPage) -> PagePart:
    caused = [(each, each.location) for each in op.report.recompiles if each.location is not None]
    first = next((each.compilation for each, place in caused if (place.file, place.line) in op.op.lines), "")
    return op.on_line("recompile", (place for _, place in caused), first)


def _bytecode(op: _OnPage) -> PagePart:
    return PagePart(op.line, "its line") if op.compilation.bytecode and op.line else PagePart()


def _overview(op: _OnPage) -> PagePart:
    graph = GraphStages(op.compilation.graphs).preview
    if graph is None:
        return PagePart()
    return _fusion(op) if fusion_schedules(op.compilation) else op.of_nodes(graph)


# Page of the menu → its part of an op. Pages without an entry show no op.
PARTS: dict[str, Callable[[_OnPage], PagePart]] = {
    "overview": _overview,
    "compilations": lambda op: PagePart("", "its compilation"),
    "bytecode": _bytecode,
    "graph_breaks": lambda op: op.on_line("graph break", (each.place for each in op.report.graph_breaks)),
    "recompiles": _recompiles,
    "guards": lambda op: op.on_line("guard", (guard.location for guard in op.compilation.guards)),
    "fx_graph": _graph,
    "captures": _captures,
    "passes": _passes,
    "partition": _partition,
    "fusion": _fusion,
    "kernels": lambda op: op.of_kernels("kernel"),
    "kernel": lambda op: op.of_kernels("kernel"),
    "decisions": _decisions,
    "memory": _memory,
    "timeline": _timeline,
    "numerics": _numerics,
    "backend": lambda op: op.among({node.name for each in op.compilation.invocations for node in each.nodes}),
    "accelerator": _accelerator,
    "compare": _compare,
    "targets": _pair,
}

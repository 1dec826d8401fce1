"""Display graphs of FX graphs: one as recorded, a film of passes, or the changes between two."""

import re
from collections import defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

from core.analysis.comparison.graphs import Change, GraphUnion, UnionNode
from core.analysis.kernels.kernel import kernel_seconds
from core.analysis.memory import partitions
from core.analysis.numerics import node_errors, node_standings, numerics_of
from core.analysis.pipeline import node_segments
from core.base.words import first_of, number
from core.graph.assemble import Link, Material, assemble
from core.graph.launches import NestedGraph
from core.graph.model import Frames, GraphModel, Launch, Node, Overlay, Version, collection_paused
from core.graph.modules import Origin, Trait, shape_words
from core.graph.overlays import annotation_overlays
from core.ops.costs import CALLS, FxCosts, aten_name, numel, op_class
from core.report import (
    Compilation,
    FxGraph,
    FxNode,
    GraphNumerics,
    Kernel,
    Pipeline,
    Report,
    SchedulerNode,
    TensorMeta,
    tensor_text,
)
from core.report.nodes import MOST_REMEMBERED

PARAMETER = re.compile(r"(^l_self_|_parameters_|_buffers_|^g_|^p_|^b_|_modules_)", re.IGNORECASE)
CHIP_PREFIX = re.compile(r"^(l_self_|L_self_|g_\w+?_)?(modules_|parameters_|buffers_)*")
MOST_INPUTS = 8  #: limit: inputs of a graph that are drawn as nodes; of more, none
MOST_CHIPS = 3  #: inputs shown on a node
LONGEST_CHIP = 18  #: characters of an input on a node
MOST_VIA = 3  #: views named on an edge
LONGEST_TOOLTIP = 400  #: characters of a tooltip's line
NOWHERE = Origin()
Kernels = Mapping[str, Sequence[Kernel]]
States = Sequence[tuple[int, FxNode]]
DIFFERENCE = "difference"
# Changes by rank: a folded group is painted with the highest-ranked change of its nodes.
CHANGES: tuple[Change, ...] = ("same", "moved", "only left", "only right", "changed")
NOTE = "From the left run's graph to the right one's; a folded group is `changed` where any node in it is."
DROPPED, GONE = "dropped", "removed by an earlier pass"
END = "input or output"
# A loop's condition computes no result of the loop. The index in `while_loop[1]`, and the names in `(add, mul)`.
CONDITION = re.compile(r"while_loop_cond_graph_\d+(?:#\d+)?/$")
RESULT = re.compile(r"\[(\d{1,6})\]$")
NAME = re.compile(r"[\w.]+")
GETITEM = "operator.getitem"
NodesOf = Callable[[FxGraph], tuple[FxNode, ...]]


@collection_paused()
def fx_model(
    nodes: Sequence[FxNode],
    kernels: Kernels | None = None,
    *,
    source: str = "",
    directions: Mapping[str, str] | None = None,
    seconds: Mapping[str, float] | None = None,
    partition: Mapping[str, str] | None = None,
    errors: Mapping[str, float] | None = None,
    standings: Mapping[str, str] | None = None,
    segments: Mapping[str, str] | None = None,
) -> GraphModel:
    """Return the graph of FX nodes.

    Parameters become chips on the nodes that read them; so do inputs, if there are many. `seconds` are measured
    times by kernel id. `source` is the path of the user's file.

    The other arguments are by node name: `kernels`; `directions` in a joint graph; `partition`, the decisions of
    the partitioner; `errors`, the difference from eager, or from float64 if `standings` are passed; `standings`,
    the accuracy classes; `segments` of the accelerator.
    """
    drawing = _Drawing(nodes, kernels or {}, directions or {}, seconds or {}, source)
    edges = [
        drawing.link(read, name, ()) for name in drawing.drawn for read in drawing.by_name[name].inputs
        if read in drawing.number
    ]  # fmt: skip
    return drawing.model(edges, partition, errors, standings, segments)


@collection_paused()
def film_model(
    nodes: Sequence[tuple[FxNode, Frames]],
    edges: Sequence[tuple[str, str, Frames]],
    kernels: Kernels | None = None,
    *,
    source: str = "",
    directions: Mapping[str, str] | None = None,
    states: Mapping[str, States] | None = None,
) -> GraphModel:
    """Return one graph with the nodes and edges of all versions of a graph.

    Each node, and each edge (by node names), has the frames in which it exists; no frames means all frames. `states`
    map each changing node's name to its versions, each with its first frame.
    """
    drawing = _Drawing([node for node, _ in nodes], kernels or {}, directions or {}, {}, source)
    drawing.frames = {node.name: frames for node, frames in nodes}
    drawing.states = states or {}
    numbers = drawing.number
    links = [drawing.link(read, name, frames) for read, name, frames in edges if read in numbers and name in numbers]
    return drawing.model(links)


class _Drawing:
    """Selection of the drawn nodes, and their display form."""

    def __init__(
        self,
        nodes: Sequence[FxNode],
        kernels: Kernels,
        directions: Mapping[str, str],
        seconds: Mapping[str, float],
        source: str,
    ) -> None:
        self.by_name = {node.name: node for node in nodes}
        self.frames: Mapping[str, Frames] = {}
        self.states: Mapping[str, States] = {}
        self._kernels, self._directions, self._source = kernels, directions, source
        self.drawn = _drawn_nodes(self.by_name)
        self.number = {name: index for index, name in enumerate(self.drawn)}
        self._hidden = {
            name: hidden
            for name in self.drawn
            if (hidden := [read for read in self.by_name[name].inputs if read not in self.number])
        }
        self._parameters = {node.name: _elements(node) for node in nodes if is_parameter(node)}
        self._costs = FxCosts(self.by_name)
        self._values: dict[str, tuple[int, str, int]] = {}
        self._times = _split(kernels, seconds, self._costs, self.by_name)

    def model(
        self,
        edges: Sequence[Link],
        partition: Mapping[str, str] | None = None,
        errors: Mapping[str, float] | None = None,
        standings: Mapping[str, str] | None = None,
        segments: Mapping[str, str] | None = None,
    ) -> GraphModel:
        """Return the graph of the drawn nodes."""
        drawn = [self.by_name[name] for name in self.drawn]
        texts = [meta_text(node.meta) for node in drawn]
        material = Material(
            origins=[self._origin(node) for node in drawn],
            kinds=[(node.op, node.target, text) for node, text in zip(drawn, texts, strict=True)],
            traits=[self._trait(node) for node in drawn],
            names=self.drawn,
            edges=edges,
            parameters=self._parameters,
            source=self._source,
            partition=partition,
            errors=errors,
            standings=standings,
            segments=segments,
        )
        return assemble(material, lambda number, group: self._node(drawn[number], texts[number], group))

    def link(self, read: str, name: str, frames: Frames) -> Link:
        """Return the link from a node to a reader of its value."""
        value = self._values.get(read)
        if value is None:
            value = self.number[read], meta_text(self.by_name[read].meta), self._costs.size(read) or 0
            self._values[read] = value
        return Link(value[0], self.number[name], value[1], value[2], frames)

    def _origin(self, node: FxNode) -> Origin:
        direction = self._directions.get(node.name, "")
        if node.op not in CALLS:
            return NOWHERE
        return Origin(node.module, node.module_class, direction, node.source, node.code)

    def _trait(self, node: FxNode) -> Trait:
        dtype, shape = (node.meta.dtype, shape_words(node.meta.shape)) if node.meta else ("", "")
        seconds = self._times.get(node.name)
        parameters = tuple(read for read in self._hidden.get(node.name, ()) if read in self._parameters)
        return Trait(node.op in CALLS, self._costs.cost(node), dtype, shape, node.module_class, seconds, parameters)

    def _node(self, node: FxNode, text: str, group: int) -> Node:
        kernels = self._kernels.get(node.name, ())
        drawn = op_node(
            node, group, self._source, text, tuple(f"k:{kernel.id}" for kernel in kernels) if kernels else ()
        )
        return replace(
            drawn,
            kernel=kernels[0].id if kernels else "",
            chips=_chips(self._hidden.get(node.name, ())),
            frames=self.frames.get(node.name, ()),
            versions=tuple(_version(frame, state) for frame, state in self.states.get(node.name, ())),
        )


def op_node(node: FxNode, group: int, source: str, text: str, links: tuple[str, ...]) -> Node:
    """Return the box of an FX node in a group, with its tensor as text and a link to its source line."""
    if node.source and node.source.file == source:
        links += (f"l:{node.source.line}",)
    label, kind = _target_words(node.target) if node.op in CALLS else (_own_name(node.name), "other")
    return Node(
        id=f"n:{node.name}",
        label=label,
        detail=text,
        op_class=kind,
        group=group,
        links=links,
        tooltip=_tooltip(node),
        thin=kind == "view",
    )


def op_label(node: FxNode) -> str:
    """Return the short name of a call's op, such as `addmm`; the name of another node."""
    return _target_words(node.target)[0] if node.op in CALLS else node.name


def _version(frame: int, node: FxNode) -> Version:
    return Version(frame, op_label(node), meta_text(node.meta), _tooltip(node))


@lru_cache(maxsize=MOST_REMEMBERED)
def _target_words(target: str) -> tuple[str, str]:
    """Return a target's short name and its class."""
    return aten_name(target), op_class(target)


def meta_text(meta: TensorMeta | None) -> str:
    """Return a node's tensor as PyTorch annotates its graphs; empty if not recorded."""
    return _tensor_text(meta.dtype, meta.shape) if meta else ""


_tensor_text = lru_cache(maxsize=MOST_REMEMBERED)(tensor_text)


def is_parameter(node: FxNode) -> bool:
    """Return True if a node is a parameter or buffer by its op and name; False for AOT's `primals_1`."""
    return node.op == "get_attr" or (node.op == "placeholder" and PARAMETER.search(node.name) is not None)


def _drawn_nodes(by_name: Mapping[str, FxNode]) -> list[str]:
    """Return the computing nodes; also the inputs and outputs, if there are few inputs.

    Many inputs would make the layout too large.
    """
    inputs = {name for name, node in by_name.items() if node.op == "placeholder" and not is_parameter(node)}
    ends = (*inputs, *(name for name, node in by_name.items() if node.op == "output"))
    shown = set(ends) if len(inputs) <= MOST_INPUTS else set()
    return [name for name, node in by_name.items() if node.op in CALLS or name in shown]


def _split(
    kernels: Kernels, seconds: Mapping[str, float], costs: FxCosts, by_name: Mapping[str, FxNode]
) -> dict[str, float]:
    """Return measured kernel seconds by FX node, split in proportion to the nodes' estimated costs."""
    if not seconds:
        return {}
    members: dict[str, list[str]] = defaultdict(list)
    for name, node_kernels in kernels.items():
        for kernel in node_kernels:
            if kernel.id in seconds and name in by_name:
                members[kernel.id].append(name)
    times: dict[str, float] = defaultdict(float)
    for kernel_id, names in members.items():
        weights = [costs.cost(by_name[name]).weight or 0.0 for name in names]
        total = sum(weights)
        for name, weight in zip(names, weights, strict=True):
            times[name] += seconds[kernel_id] * (weight / total if total else 1 / len(names))
    return times


def _elements(node: FxNode) -> int | None:
    return numel(node.meta) if node.meta else None


def _chips(hidden: Sequence[str]) -> tuple[str, ...]:
    """Return chips for the hidden inputs: the first few by name, then the number of further inputs."""
    if not hidden:
        return ()
    more = (f"+{number(len(hidden) - MOST_CHIPS)}",) if len(hidden) > MOST_CHIPS else ()
    return (*map(_chip, hidden[:MOST_CHIPS]), *more)


def _chip(name: str) -> str:
    short = CHIP_PREFIX.sub("", _own_name(name)).strip("_")
    short = short.replace("_modules_", ".").replace("_parameters_", ".").replace("_buffers_", ".")
    return short if len(short) <= LONGEST_CHIP else f"…{short[1 - LONGEST_CHIP :]}"


def _own_name(name: str) -> str:
    """Return a node's name in its graph: in a drawing of several graphs, the part before the @."""
    return name.partition("@")[0]


def _tooltip(node: FxNode) -> str:
    """Return the call, and on a second line the module."""
    call = f"{node.name} = {node.target}({node.args})"[:LONGEST_TOOLTIP]
    return f"{call}\n{node.module[:LONGEST_TOOLTIP]} {node.module_class}".rstrip() if node.module else call


def union_model(union: GraphUnion, source: str = "") -> GraphModel:
    """Return the union as a film of three frames: the left graph, both, and the right graph."""
    model = film_model(
        [(_drawn_node(node), node.frames) for node in union.nodes],
        union.edges,
        source=source,
        states={node.name: _versions(node) for node in union.nodes if node.change == "changed"},
    )
    places = {f"n:{node.name}": CHANGES.index(node.change) for node in union.nodes}
    values = tuple(places.get(node.id) for node in model.nodes)
    painted = Overlay(DIFFERENCE, "difference", "category", "", values, "largest", CHANGES, NOTE)
    return replace(model, overlays=(painted, *model.overlays))


def _drawn_node(node: UnionNode) -> FxNode:
    """Return the node of the left graph, otherwise of the right one, under its name in the union."""
    version = node.left or node.right
    assert version is not None
    return replace(version, name=node.name, inputs=node.inputs)


def _versions(node: UnionNode) -> list[tuple[int, FxNode]]:
    """Return the versions of a changed node, each with its first frame."""
    return [(frame, version) for frame, version in ((0, node.left), (2, node.right)) if version is not None]


def recorded_model(report: Report, compilation: Compilation, graph: FxGraph, nodes_of: NodesOf) -> GraphModel:
    """Return an FX graph with all recorded data of its nodes; `nodes_of` reads a graph's nodes."""
    nodes = nodes_of(graph)
    decisions = _decisions(compilation, graph, nodes, nodes_of)
    compared = _compared(report, compilation, graph)
    model = fx_model(
        nodes,
        kernels_of(compilation, graph),
        source=source_path(report),
        directions=_directions(nodes, decisions) if decisions else None,
        seconds=kernel_seconds(report, compilation),
        partition=decisions or None,
        errors=node_errors(compared) if compared else _errors(report, graph, nodes) or None,
        standings=node_standings(compared) if compared else None,
        segments=_segments(compilation, graph, nodes),
    )
    reported = annotation_overlays(report, compilation.id, model.nodes, (node.name for node in nodes))
    return replace(model, overlays=(*model.overlays, *reported))


class Reads:
    """Values that drawn ops read, through views and removed ops, and through the calls of nested graphs.

    `drawn` are the names of the drawn ops. An op of a nested graph reads the graph's arguments from its call, and a
    reader of the call's results reads the ops of the nested graphs that compute them.
    """

    def __init__(self, nodes: Mapping[str, FxNode], drawn: Container[str], parts: Iterable[NestedGraph]) -> None:
        self._nodes, self._drawn = nodes, drawn
        self._read: dict[str, list[tuple[str, tuple[str, ...]]]] = {}
        self._call_of: dict[str, str] = {}
        self._outside: dict[str, list[str]] = {}
        self._outputs: dict[str, list[tuple[NestedGraph, FxNode]]] = {}
        for part in parts:
            for node in part.nodes.values():
                if node.op == "placeholder":
                    self._call_of[node.name] = part.call
                elif node.op == "output" and not CONDITION.search(part.path):
                    self._outputs.setdefault(part.call, []).append((part, node))

    def of(self, name: str) -> list[tuple[str, tuple[str, ...]]]:
        """Return the drawn ops whose values an op reads, each with the views between them."""
        if name not in self._read:
            self._read[name] = list(self._walk(name).items())
        return self._read[name]

    def outside(self, name: str) -> Sequence[str]:
        """Return the inputs and parameters of the graph that an op reads, through views and removed ops."""
        if name in self._nodes:
            self.of(name)
        return self._outside.get(name, ())

    def last_op(self, launch: Launch, node: SchedulerNode) -> str:
        """Return the member whose value a scheduler node computes last: none of its other ops reads it."""
        own = [name for name in node.origins if name in launch.owner]
        if not own:
            # A view of a member, such as one of several outputs of a library call.
            sources = (source for name in node.origins if name in self._nodes for source, _ in self.of(name))
            return next((source for source in sources if source in launch.owner), launch.members[0])
        read = {source for name in own if name in self._nodes for source, _ in self.of(name)}
        return next((name for name in reversed(own) if name not in read), own[-1])

    def elsewhere(self, launches: Sequence[Launch]) -> dict[tuple[int, str], int]:
        """Return the bytes, by launch and op, of the values that another launch reads: they must be in memory."""
        costs, first, stored = FxCosts(self._nodes), dict[str, int](), dict[tuple[int, str], int]()
        for place, name in [(place, name) for place, each in enumerate(launches) for name in each.members]:
            first.setdefault(name, place)
        for launch in launches:
            for name in [name for name in launch.members if name in self._nodes]:
                read = (source for source, _ in self.of(name) if source not in launch.owner)
                stored |= {(first[source], source): costs.size(source) or 0 for source in read}
        return stored

    def _walk(self, name: str) -> dict[str, tuple[str, ...]]:
        read: dict[str, tuple[str, ...]] = {}
        seen: set[str] = set()
        waiting: list[tuple[str, tuple[str, ...]]] = [(source, ()) for source in reversed(self._nodes[name].inputs)]
        while waiting:
            source, via = waiting.pop()
            node = self._nodes.get(source)
            if source in self._drawn or source in self._call_of:
                read.setdefault(self._call_of.get(source, source), via)
            elif node is not None and node.op in CALLS and source not in seen:
                seen.add(source)
                waiting += [(each, (aten_name(node.target), *via)) for each in reversed(self._sources(node))]
            elif node is not None and node.op not in CALLS and not node.graph:
                self._outside.setdefault(name, []).append(source)
        return read

    def _sources(self, node: FxNode) -> Sequence[str]:
        """Return the nodes that a node reads; of a result of a nested graph, the nodes that compute it."""
        outputs = self._outputs.get(node.inputs[0], []) if node.target == GETITEM and node.inputs else []
        index = RESULT.search(node.args)
        if not outputs or index is None:
            return node.inputs
        every = ((part, NAME.findall(output.args)) for part, output in outputs)
        return [part.path + names[int(index[1])] for part, names in every if int(index[1]) < len(names)]


def via_words(via: Sequence[str]) -> str:
    """Return the views between two ops; empty without views."""
    names = [name for name in via if name != "getitem"]
    return f" through {first_of(names, MOST_VIA)}" if names else ""


def divided_graph(compilation: Compilation, pipeline: Pipeline) -> FxGraph | None:
    """Return the graph that the accelerator partitioned into a pipeline's segments, or None."""
    stage = f"aot_{pipeline.direction}_graph"
    return next((graph for graph in reversed(compilation.graphs) if graph.stage == stage), None)


def _segments(compilation: Compilation, graph: FxGraph, nodes: Iterable[FxNode]) -> dict[str, str] | None:
    """Return node → accelerator segment for a partitioned graph; None for other graphs."""
    pipeline = next(
        (pipeline for pipeline in compilation.pipelines if divided_graph(compilation, pipeline) == graph), None
    )
    if pipeline is None:
        return None
    ends = {node.name: END for node in nodes if not node.op.startswith("call_")}
    return {**ends, **node_segments(pipeline)}


def _compared(report: Report, compilation: Compilation, graph: FxGraph) -> GraphNumerics | None:
    """Return the node accuracies of Dynamo's graph; None if not recorded, and for other graphs."""
    numerics = numerics_of(report, compilation.id) if graph.stage == "dynamo_output_graph" else None
    return numerics if numerics is not None and node_errors(numerics) else None


def source_path(report: Report) -> str:
    """Return the path of the model's file, as in the run's stack frames.

    Without recorded sources, as in an imported log, return the first recorded file of a compiled frame; empty if
    there is none.
    """
    if report.sources:
        return report.sources[0].path
    return next((compilation.frame.file for compilation in report.compilations if compilation.frame.file), "")


def kernels_of(compilation: Compilation, graph: FxGraph) -> dict[str, list[Kernel]]:
    """Return FX node → its kernels, for the graph that Inductor lowered."""
    kernels: dict[str, list[Kernel]] = {}
    for kernel in compilation.kernels:
        if kernel.graph == graph.id:
            for name in kernel.origins:
                kernels.setdefault(name, []).append(kernel)
    return kernels


def _decisions(compilation: Compilation, graph: FxGraph, nodes: Iterable[FxNode], nodes_of: NodesOf) -> dict[str, str]:
    """Return node → partitioner decision for a joint graph; empty for other graphs."""
    if graph.direction != "joint":
        return {}
    partition = next(
        (partition for partition in partitions(compilation, nodes_of) if partition.graph == graph.id), None
    )
    if partition is None:
        return {}
    removed = {node.name: GONE for node in nodes if node.op.startswith("call_")} if partition.recorded else {}
    return {**removed, **dict.fromkeys(partition.dropped, DROPPED), **partition.decisions}


def _errors(report: Report, graph: FxGraph, nodes: Sequence[FxNode]) -> dict[str, float]:
    """Return the largest difference from eager of the node that computes the output, by the node's name.

    Empty unless the model has one graph and one output.
    """
    is_single = (
        len(report.compilations) == 1 and not report.graph_breaks and graph.direction in ("", "forward", "inference")
    )
    outputs = [node.inputs for node in nodes if node.op == "output"]
    compared = [
        difference.max_abs
        for call in report.calls
        for difference in call.differences
        if (difference.what, difference.kind) == ("output", "value") and difference.same is not None
    ]
    if not (is_single and compared and len(outputs) == 1 and len(outputs[0]) == 1):
        return {}
    return {outputs[0][0]: max(compared)}


def _directions(nodes: Iterable[FxNode], decisions: Mapping[str, str]) -> dict[str, str]:
    """Return the direction of each node of a joint graph; a dropped node gets the direction of its inputs."""
    sides: dict[str, str] = {}
    for node in nodes:
        decision = decisions.get(node.name, GONE)
        reads_backward = decision in (DROPPED, GONE) and any(sides.get(name) == "backward" for name in node.inputs)
        sides[node.name] = "backward" if decision == "backward" or reads_backward else "forward"
    return sides

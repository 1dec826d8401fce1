"""FX graphs of a compilation: the recorded stages, and one graph with facts about its nodes."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import ClassVar

from core.analysis.backend import GraphMetadata, graph_metadata
from core.analysis.dynamo.recompiles import guards_on
from core.analysis.kernels.kernel import kernel_names
from core.analysis.numerics import numerics_of
from core.base import words as fmt
from core.base.decoder import decoded_object
from core.graph.fx import kernels_of, source_path
from core.job import MAX_CODE_BYTES
from core.report import Compilation, FxGraph, FxNode, GraphNumerics, Guard, Kernel, Payload, Report, Stage
from core.runs.store import Run
from core.runs.stored import open_model
from core.views.glossary import GLOSSARY
from core.views.graph import GraphView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from core.views.numerics import node_words

# Stage → its label in a row of stages, and its description.
STAGES: dict[Stage, tuple[str, str]] = {
    "dynamo_output_graph": ("Dynamo", "captured by Dynamo"),
    "before_pre_grad_graph": ("pre-grad", "before the pre-grad passes"),
    "after_pre_grad_graph": ("pre-grad", "after the pre-grad passes"),
    "aot_joint_graph": ("joint", "forward and backward together, traced by AOTAutograd"),
    "aot_inference_graph": ("AOTAutograd", "inference graph of AOTAutograd"),
    "before_joint_graph": ("joint", "before the joint-graph passes"),
    "after_joint_graph": ("joint", "after the joint-graph passes"),
    "aot_forward_graph": ("forward", "forward graph of AOTAutograd's partitioner"),
    "aot_backward_graph": ("backward", "backward graph of AOTAutograd's partitioner"),
    "before_post_grad_graph": ("post-grad", "before the post-grad passes"),
    "inductor_post_grad_graph": ("post-grad", "after the post-grad passes"),
    "compiled_autograd_graph_pre_reordering": ("compiled autograd", "backward captured by compiled autograd"),
    "compiled_autograd_graph": ("compiled autograd", "backward after compiled autograd's reordering"),
    "exported_program": ("export", "program returned by torch.export"),
}
LANES = ("forward", "backward")
# Torch's `OutputType` → what a result is.
NEW = "non_alias"
OUTPUT_KINDS = {
    NEW: "a new tensor",
    "is_input": "an input",
    "alias_of_input": "a view of an input",
    "alias_of_intermediate": "a view of an intermediate",
    "alias_of_intermediate_save_as_output": "a view of an intermediate, which is returned too",
    "alias_of_intermediate_base_is_user_output": "a view of another result",
    "unsafe_view_alias": "an unsafe view",
    "custom_function_view": "a view by a custom autograd function",
}
MOST_INPUTS = 2_000  #: limit: inputs or results in a table
RUNNABLE = "fx_graph_runnable.py"
NODE_MAP = "inductor_provenance_tracking_node_mappings.json"
# Lines of torch's script that set paths of the machine that wrote it.
OF_THE_WRITER = re.compile(r"^os\.environ\['(?:TORCH_TRACE|TORCH_DTRACE|\w*_CACHE_DIR)'\].*$", re.MULTILINE)
# A larger graph is drawn on its own page only, where the visitor waits for it.
MOST_OPS = 5_000  #: ops of a graph drawn on *Overview* and *Tour*
MOST_GUARDS = 8  #: guards of a node
MOST_USERS = 12  #: users of a node
DYNAMO = "dynamo_output_graph"


@dataclass(frozen=True, slots=True)
class StageGroup:
    """Successive graphs under one label, such as the graphs before and after some passes.

    `starts_lane` is True if the group begins a new row of the drawing.
    """

    label: str
    graphs: tuple[FxGraph, ...]
    starts_lane: bool


# Graphs of AOTAutograd, which contain the ATen ops of a run without Inductor.
OF_AOT = ("aot_inference_graph", "aot_forward_graph", "aot_backward_graph")


@dataclass(frozen=True, slots=True)
class GraphStages:
    """The recorded graphs of a compilation, at least one except for `preview`."""

    most_ops: ClassVar[int] = MOST_OPS

    graphs: Sequence[FxGraph]

    @property
    def first(self) -> FxGraph:
        """The graph to show first: Dynamo's if it was recorded, otherwise the first that torch logged itself.

        Of a restarted compilation, the last attempt counts.
        """
        last = max(graph.attempt for graph in self.graphs)
        logged = [graph for graph in self.graphs if not graph.name and graph.attempt == last]
        return next((graph for graph in logged if graph.stage == DYNAMO), [*logged, *self.graphs][0])

    @property
    def traced(self) -> FxGraph | None:
        """The last graph that AOTAutograd traced for the forward or backward; None if there is none."""
        return next((graph for graph in reversed(self.graphs) if graph.stage in OF_AOT), None)

    @property
    def preview(self) -> FxGraph | None:
        """The graph to draw on *Overview*; None if it has no op, or is so large that its own page draws it."""
        return self.first if self.graphs and self.first.ops and self.first.calls <= self.most_ops else None

    @property
    def groups(self) -> tuple[StageGroup, ...]:
        """The graphs in the compiler's order, grouped by label.

        Graphs without a direction come first, then forward, backward and dumped graphs.
        """
        groups: list[StageGroup] = []
        last_lane = 0
        for (lane, label), graphs in groupby(
            sorted(self.graphs, key=_lane), lambda graph: (_lane(graph), _label(graph))
        ):
            groups.append(StageGroup(label, tuple(graphs), lane > last_lane > 0))
            last_lane = lane
        return tuple(groups)

    @staticmethod
    def label(graph: FxGraph) -> str:
        """Return the stage and the number of ops of a graph, as the label of a link."""
        return f"The graph: {plain(GraphStages.describe(graph))}, {fmt.count(graph.calls, 'op')}, views included"

    @staticmethod
    def describe(graph: FxGraph) -> str:
        """Describe the stage of a graph: "captured by Dynamo"."""
        if graph.name:
            return f"dumped as {one_line(graph.name, LONGEST_NAME)}"
        return STAGES[graph.stage][1] if graph.stage in STAGES else graph.stage


def mapped(maps: Iterable[Mapping[str, object]], key: str, *names: str) -> tuple[str, ...]:
    """Return the nodes that torch's maps have for some nodes under a key, such as `preToPost`."""
    tables = [nodes for each in maps if isinstance(nodes := each.get(key), dict)]
    lists = [nodes for name in names for table in tables if isinstance(nodes := table.get(name), list)]
    return tuple(dict.fromkeys(str(node) for nodes in lists for node in nodes))


def _lane(graph: FxGraph) -> int:
    if graph.name:
        return len(LANES) + 1
    return LANES.index(graph.direction) + 1 if graph.direction in LANES else 0


def _label(graph: FxGraph) -> str:
    if graph.name:
        return "dumped"
    return STAGES[graph.stage][0] if graph.stage in STAGES else graph.stage


@dataclass(frozen=True, slots=True)
class GraphInputs:
    """Inputs and results of a graph, from AOTAutograd's metadata.

    `names` are the names of the graph's placeholders, in order.
    """

    metadata: GraphMetadata
    names: Sequence[str]

    @property
    def title(self) -> str:
        """Numbers of mutated inputs, of results that are not new tensors, and of donated buffers."""
        inputs, outputs = self.metadata.inputs, self.metadata.outputs
        mutated = sum(bool(item.mutates) for item in inputs)
        aliases = sum(item.kind != NEW for item in outputs)
        donated = self.metadata.donated
        parts = [
            f"{fmt.number(mutated)} of {fmt.count(len(inputs), 'input')} mutated",
            f"{fmt.number(aliases)} of {fmt.count(len(outputs), 'result')} aliased",
            f"the backward may reuse {fmt.count(donated, 'saved value')}" if donated else "",
        ]
        return f"{'; '.join(filter(None, parts))}."

    @property
    def input_rows(self) -> list[dict[str, str]]:
        """Inputs with their mutations, required gradients and static addresses."""
        return [
            {
                "input": one_line(self.names[number], LONGEST_NAME) if number < len(self.names) else str(number),
                "mutated": item.mutates,
                "gradient": "required" if item.requires_grad else "",
                "address": "static" if item.static else "",
            }
            for number, item in enumerate(self.metadata.inputs[:MOST_INPUTS])
        ]

    @property
    def output_rows(self) -> list[dict[str, str]]:
        """Results of the model, each with the value that it aliases."""
        return [
            {
                "result": str(number),
                "is": OUTPUT_KINDS.get(item.kind, one_line(item.kind, LONGEST_NAME)),
                "of": "" if item.base is None else str(item.base),
                "gradient": "required" if item.requires_grad else "",
            }
            for number, item in enumerate(self.metadata.outputs[:MOST_INPUTS])
        ]


@dataclass(frozen=True)
class FxGraphView:
    """An FX graph of a compilation; `nodes_of` reads the nodes of a graph."""

    unparsed: ClassVar[str] = (
        "The text of this graph was not parsed: it is not Python, or it is too long or too dense to parse. No graph is "
        "drawn."
    )

    run: Run
    report: Report
    compilation: Compilation
    graph: FxGraph
    nodes_of: Callable[[FxGraph], tuple[FxNode, ...]]

    @property
    def title(self) -> str:
        """Number of ops, and the stage."""
        ops = fmt.count(self.graph.calls, "op") if self.graph.ops else "Not parsed"
        return f"{ops}: {plain(GraphStages.describe(self.graph), LONGEST_LINE)}."

    @property
    def help(self) -> str:
        """Meaning of a graph, and the number of its nodes."""
        nodes = fmt.count(sum(self.graph.ops.values()), "node")
        return f"{GLOSSARY['graph']} This graph has {nodes}, inputs and outputs included."

    @staticmethod
    def missing_node(item_id: str) -> str:
        """Return the message for a selected node that the graph lacks."""
        return f"{code(item_id, LONGEST_NAME)} is not in this graph."

    @staticmethod
    def cut_text(shown: int, total: int) -> str:
        """Return the numbers of shown and of all characters of a text."""
        return f"These are its first {fmt.number(shown)} characters; the download has all {fmt.number(total)}."

    @property
    def picture(self) -> GraphView:
        """Graph with all recorded data of its nodes; for a large graph it is cached in the run's directory."""
        model = open_model(self.run, self.report, self.compilation, self.graph, self.nodes_of)
        return GraphView(model, kernel_names(self.compilation))

    @cached_property
    def nodes(self) -> tuple[FxNode, ...]:
        return self.nodes_of(self.graph)

    @property
    def first_kernel(self) -> Kernel | None:
        """First kernel that was generated from the graph; None if there is none."""
        return next((kernel for kernel in self.compilation.kernels if kernel.graph == self.graph.id), None)

    @property
    def runnable(self) -> Payload | None:
        """Torch's script `fx_graph_runnable.py` for the graph that Inductor compiled; None without."""
        script = self._file(RUNNABLE)
        return script if script is not None and script.length <= MAX_CODE_BYTES else None

    @property
    def node_map(self) -> Payload | None:
        """Torch's map between early nodes (before AOTAutograd) and the nodes that Inductor lowers.

        None for a graph of another stage, or if torch logged none.
        """
        return self._file(NODE_MAP) if self.graph.lowered or self.graph.early else None

    def mapped_nodes(self, text: str, name: str) -> dict[str, str]:
        """Return the source or result nodes of a node in the node map, as Markdown by row name."""
        key, row = ("postToPre", "came from") if self.graph.lowered else ("preToPost", "became")
        names = mapped([decoded_object(text)], key, name)
        if not names:
            return {}
        more = f" and {fmt.number(len(names) - MOST_USERS)} more" if len(names) > MOST_USERS else ""
        return {row: ", ".join(code(other, LONGEST_NAME) for other in names[:MOST_USERS]) + more}

    def _file(self, name: str) -> Payload | None:
        """Return a file of torch's debug directory for this graph, or for the first lowered one, or None."""
        lowered = [graph.direction for graph in self.compilation.lowered_graphs]
        place = lowered.index(self.graph.direction) if self.graph.direction in lowered else 0
        return self.report.debug_file(self.compilation.id, place, name)

    @staticmethod
    def edited_script(text: str) -> str:
        """Return torch's script, with the writer's log and cache paths commented out."""
        return OF_THE_WRITER.sub(r"# \g<0>", text.lstrip("\n"))

    @property
    def metadata(self) -> Payload | None:
        """Place of AOTAutograd's metadata of this graph in the log.

        None unless it is AOTAutograd's forward or inference graph, or if torch logged none.
        """
        stages = ("aot_forward_graph", "aot_inference_graph")
        graphs = [graph.id for graph in self.compilation.graphs if graph.stage in stages]
        number = graphs.index(self.graph.id) if self.graph.id in graphs else -1
        logged = self.compilation.aot_metadata
        return logged[number].text if 0 <= number < len(logged) else None

    def inputs(self, text: str) -> GraphInputs:
        """Return the graph's inputs and results by AOTAutograd's metadata; `text` is the metadata."""
        placeholders = [node.name for node in self.nodes if node.op == "placeholder"]
        return GraphInputs(graph_metadata(text), placeholders)

    @property
    def own_lines(self) -> dict[str, int]:
        """Line of each node that comes from the compiled file, by the node's name."""
        path = source_path(self.report)
        return {node.name: node.source.line for node in self.nodes if node.source and node.source.file == path}

    def node_rows(self, node: FxNode) -> dict[str, str]:
        """Return the recorded facts of a node as Markdown, by name."""
        compared = numerics_of(self.report, self.compilation.id) if self.graph.stage == DYNAMO else None
        return node_rows(
            self.compilation, self.nodes, node, self._kernels.get(node.name, ()), self.graph.lowered, compared
        )

    def text_links(self, text: str) -> dict[int, tuple[str, ...]]:
        """Return the ids of nodes and kernels by line of the graph's text, from its first full line."""
        shift = text.startswith("\n")
        return {
            node.line - shift: (f"n:{node.name}", *(f"k:{kernel.id}" for kernel in self._kernels.get(node.name, ())))
            for node in self.nodes
        }

    @cached_property
    def _kernels(self) -> dict[str, list[Kernel]]:
        return kernels_of(self.compilation, self.graph)


def node_rows(
    compilation: Compilation,
    nodes: Sequence[FxNode],
    node: FxNode,
    kernels: Sequence[Kernel] = (),
    lowered: bool = False,
    numerics: GraphNumerics | None = None,
) -> dict[str, str]:
    """Return the facts of a node of a graph as Markdown, by name.

    Missing facts are left out, with a note if another stage has them.
    """
    users = [user.name for user in nodes if node.name in user.inputs]
    more = f" and {fmt.number(len(users) - MOST_USERS)} more" if len(users) > MOST_USERS else ""
    rows = {
        "name": f"{code(node.name)} {node.op}",
        "target": code(node.target),
        "value": code(_value(node)) or "not a tensor",
        "arguments": code(node.args, LONGEST_TEXT),
        "users": ", ".join(code(user) for user in users[:MOST_USERS]) + more,
        "line": f"{code(node.code)} at {code(node.source.short)}" if node.source else "not recorded",
        "module": f"{code(node.module)} {code(node.module_class)}".strip() or "not recorded for this stage",
        "kernel": ", ".join(code(kernel.name) for kernel in kernels)
        or ("none" if lowered else "known on the post-grad graph"),
        "symbols": _symbols(compilation, node),
        "guards": _guards(compilation, node),
        "against float64": node_words(numerics, node.name) if numerics else "",
    }
    return {name: text for name, text in rows.items() if text}


def _value(node: FxNode) -> str:
    if node.meta is None:
        return ""
    shape, stride = ", ".join(node.meta.shape), ", ".join(node.meta.stride)
    return f"{node.meta.dtype}[{shape}][{stride}]{node.meta.device}"


def _symbols(compilation: Compilation, node: FxNode) -> str:
    """Return the dynamic sizes in a node's shape, with their sources and first values."""
    sizes = re.findall(r"\w+", " ".join(node.meta.shape)) if node.meta else []
    symbols = [symbol for symbol in compilation.symbols if symbol.name in sizes]
    return "; ".join(f"{code(symbol.name)} = {code(symbol.source)}, first {code(symbol.value)}" for symbol in symbols)


def _guards(compilation: Compilation, node: FxNode) -> str:
    """Return the guards on the value of an input of Dynamo's graph."""
    if node.op not in ("placeholder", "get_attr"):
        return ""
    guards = guards_on(compilation, node)
    more = f" and {fmt.number(len(guards) - MOST_GUARDS)} more" if len(guards) > MOST_GUARDS else ""
    return ", ".join(map(_guard, guards[:MOST_GUARDS])) + more or "none that names it"


def _guard(guard: Guard) -> str:
    return code(f"{guard.kind} {guard.expression}", LONGEST_LINE)

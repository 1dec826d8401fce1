"""Passes over a compilation's graphs, and partitions of its joint graphs.

`PassesView` has each step's changes and a film. `PartitionView` has the decisions and the values saved for the
backward.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from core.analysis import FilmStep, Segment, film, graph_at, partitions, saved_bytes, saved_values, tensor_bytes
from core.analysis.kernels import kernel_names
from core.base import words as fmt
from core.graph import film_model, kernels_of, source_path
from core.report import Compilation, Decision, FxGraph, FxNode, KeptValue, Partition, Report, SavedValue, tensor_text
from core.views.fx_graph import node_rows
from core.views.glossary import GLOSSARY
from core.views.graph import GraphFrame, GraphView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain

__all__ = ["PartitionView", "PassesView"]

# Chapter (stage of the compiler) → the graph that its passes change.
CHAPTERS = {
    "dynamo": "Dynamo's graph",
    "joint": "the joint graph",
    "forward": "the forward graph",
    "backward": "the backward graph",
    "inference": "the inference graph",
    "dumped": "the dumped graph",
    "compiled autograd": "the graph of compiled autograd",
    "export": "the exported program",
    "not finished": "a graph that was never finished",
}
MOST_NODES = 40  #: limit: nodes of a pass's step as text
NOT_RECORDED = "Not recorded as a pass: the difference between two graphs that torch logged."
DECISIONS: dict[Decision, str] = {
    "forward": "Computed in the forward, and not needed after it.",
    "backward": "Computed in the backward.",
    "saved": "Computed in the forward, or an input of it, and saved for the backward.",
    "recomputed": "Computed in the forward and recomputed in the backward.",
}
NOUNS = {"activation": "activation", "input": "input", "symbol": "symbolic size", "other": "other value"}


@dataclass(frozen=True, slots=True)
class NodeChange:
    """Nodes that a step changed in one way: a title with their number, and their code."""

    title: str
    code: str


@dataclass(frozen=True, slots=True)
class PassesView:
    """Passes over one graph, as a film with one frame per step.

    `segment` is the range of frames in which a name means the same node; `source` is the compiled file.
    """

    time_help: ClassVar[str] = "The pass itself, without recording"

    compilation: Compilation
    segment: Segment
    source: str

    @classmethod
    def of(
        cls, report: Report, compilation: Compilation, nodes_of: Callable[[FxGraph], tuple[FxNode, ...]]
    ) -> tuple[PassesView, ...]:
        """Return the passes over each graph of a compilation; `nodes_of` reads the nodes of a graph."""
        source = source_path(report)
        return tuple(cls(compilation, segment, source) for segment in film(compilation, nodes_of))

    @property
    def id(self) -> str:
        """Name of the graph among those of the compilation, such as `joint` or `dynamo.2`."""
        return self.segment.id

    @property
    def last(self) -> int:
        """Number of the last step; step 0 is the initial graph."""
        return len(self.segment.frames) - 1

    @property
    def label(self) -> str:
        """Name of the graph, and the number of steps that changed it."""
        return f"{self.id} · {fmt.number(self.last)}"

    @property
    def title(self) -> str:
        """Number of steps, the changed graph, and its op counts before and after."""
        graph = CHAPTERS.get(self.segment.chapter, self.segment.chapter)
        before, after = fmt.count(self._ops(0), "op"), fmt.number(self._ops(self.last))
        if not self.last:
            return f"No pass changed {graph}: {before}."
        return f"{fmt.count(self.last, 'step')} changed {graph}: {before} before, {after} after."

    @property
    def help(self) -> str:
        """Meaning of a pass."""
        return GLOSSARY["pass"]

    @property
    def picture(self) -> GraphView:
        """Film of the steps: the nodes of all steps, each at the same position in all frames."""
        segment = self.segment
        last = next((graph for graph in self.compilation.graphs if graph.id == segment.frames[-1].graph), None)
        model = film_model(
            [(node.node, node.frames) for node in segment.nodes],
            [(edge.source, edge.target, edge.frames) for edge in segment.edges],
            kernels_of(self.compilation, last) if last else None,
            source=self.source,
            states={node.name: node.states for node in segment.nodes if len(node.states) > 1},
        )
        return GraphView(model, kernel_names(self.compilation), tuple(map(_frame, segment.frames)))

    @property
    def rows(self) -> list[dict[str, object]]:
        """Table of the steps, with the time of each pass in µs and the numbers of changed nodes."""
        return [
            {
                "step": number,
                "pass or graph": one_line(step.title, LONGEST_LINE),
                "stage": step.stage or "logged graph",
                "µs": step.duration_us,
                "added": len(step.added),
                "removed": len(step.removed),
                "rewritten": len(step.rewritten),
            }
            for number, step in enumerate(self.segment.frames)
        ]

    def nodes(self, number: int) -> tuple[FxNode, ...]:
        """Return the nodes of the graph after a step."""
        return graph_at(self.segment, number)

    def node_rows(self, number: int, node: FxNode) -> dict[str, str]:
        """Return the facts of a node after a step as Markdown, by name."""
        return node_rows(self.compilation, self.nodes(number), node)

    def step_title(self, number: int) -> str:
        """Return a step's number and pass as Markdown."""
        return f"**Step {number}**: {code(self.segment.frames[number].title, LONGEST_LINE)}"

    def origin(self, number: int) -> list[str]:
        """Return the places of a step's pass and of its patterns in torch's code, as Markdown lines."""
        step = self.segment.frames[number]
        lines = [] if step.recorded else [NOT_RECORDED]
        if step.source:
            lines.append(f"The pass is at {code(str(step.source), LONGEST_LINE)}")
        for match in step.patterns:
            place = f" at {code(str(match.source), LONGEST_LINE)}" if match.source else ""
            lines.append(f"{fmt.number(match.count)} × pattern {code(match.name, LONGEST_LINE)}{place}")
        return lines

    def changes(self, number: int) -> Iterator[NodeChange]:
        """Yield the nodes that a step added, removed and rewrote."""
        step = self.segment.frames[number]
        for verb, names, frame in (
            ("added", step.added, number),
            ("removed", step.removed, number - 1),
            ("rewritten", step.rewritten, number),
        ):
            if names:
                yield NodeChange(f"{fmt.count(len(names), 'node')} {verb}", self._code(names, frame))

    def reordered(self, number: int) -> str:
        """Return a note if a step changed the order of the remaining nodes; empty for any other step."""
        return "Remaining nodes were reordered." if self.segment.frames[number].reordered else ""

    @staticmethod
    def no_node(selected: str | None) -> str:
        """Return the message for a selected node that a step lacks, or a prompt if no node is selected."""
        if selected:
            return "Not in this step: a later step adds it, or a pass removed it."
        return "Click a node."

    @property
    def unchanged(self) -> str:
        """Number and total time of the passes that changed nothing; empty if there are none."""
        times = [duration_us for _, _, duration_us in self._unchanged]
        took = fmt.duration_s(sum(times) / 1e6)
        return f"{fmt.count(len(times), 'pass', 'passes')} changed nothing, in {took}" if times else ""

    @property
    def unchanged_rows(self) -> list[dict[str, str | float]]:
        """Table of the passes that changed nothing, the slowest first."""
        slowest_first = sorted(self._unchanged, key=lambda record: -record[2])
        return [
            {"stage": stage, "pass": one_line(name, LONGEST_LINE), "µs": duration_us}
            for stage, name, duration_us in slowest_first
        ]

    @property
    def _unchanged(self) -> list[tuple[str, str, float]]:
        """Stage, name and µs of each pass that changed nothing."""
        records = self.compilation.unchanged_passes
        return [(record.stage, name, duration_us) for record in records for name, duration_us in record.passes]

    def _ops(self, number: int) -> int:
        """Return the number of computing nodes after a step."""
        return sum(node.op.startswith("call_") for node in self.nodes(number))

    def _code(self, names: tuple[str, ...], frame: int) -> str:
        nodes = {node.name: node for node in self.nodes(frame)}
        lines = [_line(nodes[name]) for name in names[:MOST_NODES] if name in nodes]
        more = [f"# and {fmt.number(len(names) - MOST_NODES)} more"] if len(names) > MOST_NODES else []
        return "\n".join([*lines, *more])


def _line(node: FxNode) -> str:
    call = f"return {node.args}" if node.op == "output" else f"{node.name} = {node.target}({node.args})"
    return call[:LONGEST_TEXT]


def _frame(step: FilmStep) -> GraphFrame:
    changes = (tuple(f"n:{name}" for name in names) for names in (step.added, step.removed, step.rewritten))
    return GraphFrame(one_line(step.title, LONGEST_LINE), _step_words(step), *changes)


def _step_words(step: FilmStep) -> str:
    """Return a step's changes: "+3 −2 ~1 in 412 µs", or "reordered" if only the order changed."""
    counts = (("+", step.added), ("−", step.removed), ("~", step.rewritten))
    changes = " ".join(f"{sign}{fmt.number(len(names))}" for sign, names in counts if names)
    if not changes and step.reordered:
        changes = "reordered"
    took = f" in {fmt.duration_s(step.duration_us / 1e6)}" if step.duration_us is not None else ""
    return f"{changes}{took}"


@dataclass(frozen=True, slots=True)
class PartitionView:
    """The partition of one joint graph.

    `nodes` are the graph's nodes by name, empty if the log does not contain the graph.
    """

    partition: Partition
    nodes: Mapping[str, FxNode]

    @staticmethod
    def partitions(
        compilation: Compilation, nodes_of: Callable[[FxGraph], tuple[FxNode, ...]]
    ) -> tuple[Partition, ...]:
        """Return the partition of each joint graph of a compilation; `nodes_of` reads the nodes of a graph."""
        return partitions(compilation, nodes_of)

    @property
    def title(self) -> str:
        """Activations that the forward saves: from the compiled code if recorded, otherwise from the graphs."""
        compiled = self.partition.kept
        if compiled is None:
            return f"AOTAutograd's partition saves {_activations(self.partition.saved)} for the backward."
        return f"The forward saves {_activations(compiled)} for the backward."

    @property
    def help(self) -> str:
        """Meaning of a partition."""
        return GLOSSARY["partition"]

    @property
    def caption(self) -> str:
        """Number of nodes per decision, and the partitioner's plan compared with the compiled code."""
        return f"{self._decision_counts}. {self._plan}"

    @property
    def values(self) -> tuple[SavedValue, ...]:
        """Values saved for the backward, largest first."""
        return saved_values(self.partition)

    @property
    def rows(self) -> list[dict[str, object]]:
        """Table of the saved values; `bytes` is None for a symbolic size."""
        compiled = {value.name: value for value in self.partition.kept or ()}
        return [self._row(value, compiled.get(value.name)) for value in self.values]

    def node_rows(self, node: FxNode) -> dict[str, str]:
        """Return the partitioner's decision on a node, with its reasons, as Markdown."""
        partition, name = self.partition, node.name
        decision, size = partition.decisions.get(name), tensor_bytes(node)
        policies = [partition.policies[name]] if name in partition.policies else []
        reasons = "; ".join(plain(reason, LONGEST_TEXT) for reason in [*partition.reasons.get(name, ()), *policies])
        undecided = "dropped: dead, or equal to another node" if name in partition.dropped else "not recorded"
        return {
            "node": code(f"{name} = {node.target}({node.args})", LONGEST_TEXT),
            "decision": f"**{decision}**: {DECISIONS[decision]}" if decision else undecided,
            "size": fmt.bytes_(size) if size is not None else "symbolic, or no tensor",
            "torch's reasons": reasons or ("none given" if partition.recorded else "not recorded"),
        }

    @property
    def _decision_counts(self) -> str:
        counts = Counter(self.partition.decisions.values())
        kinds = Counter(value.kind for value in self.partition.saved)
        nouns = [fmt.count(kinds[kind], noun) for kind, noun in NOUNS.items() if kinds[kind] or kind == "activation"]
        notes = {"saved": f" ({', '.join(nouns)})"}
        parts = [f"{fmt.number(counts[each])} {each}{notes.get(each, '')}" for each in DECISIONS if counts[each]]
        if self.partition.dropped:
            parts.append(f"{fmt.number(len(self.partition.dropped))} dropped")
        if self.partition.recorded:
            return f"Nodes by the partitioner's decision: {', '.join(parts)}"
        listed = ", ".join(parts)
        return f"Nodes by decision, derived from the three graphs: {listed}. Reasons for the decisions are not recorded"

    @property
    def _plan(self) -> str:
        """The partitioner's plan compared with the compiled code, since Inductor may save a copy of an input."""
        if self.partition.kept is None:
            return "Whether the compiled code saves the same values is not recorded."
        inputs = {value.name for value in self.partition.saved if value.kind == "input"}
        copies = sum(value.kind == "activation" and value.name in inputs for value in self.partition.kept)
        plan = f"Before Inductor that was {_activations(self.partition.saved)}"
        if not copies:
            return f"{plan}."
        return f"{plan}; Inductor also saves {fmt.count(copies, 'copy of an input', 'copies of inputs')}."

    def _row(self, value: SavedValue, compiled: KeptValue | None) -> dict[str, object]:
        node = self.nodes.get(value.name)
        return {
            "value": one_line(value.name, LONGEST_NAME),
            "bytes": value.bytes,
            "shape": tensor_text(node.meta.dtype, node.meta.shape) if node and node.meta else "",
            "kind": value.kind,
            "kept as": _buffer_words(value, compiled),
            "why": one_line("; ".join([*([value.policy] if value.policy else []), *value.reasons]), LONGEST_LINE),
            "your line": one_line(node.code, LONGEST_LINE) if node else "",
        }


def _buffer_words(value: SavedValue, compiled: KeptValue | None) -> str:
    if compiled is None:
        return ""
    is_copy = (value.kind, compiled.kind) == ("input", "activation")
    return f"{compiled.buffer}, a copy" if is_copy else compiled.buffer


def _activations(values: Sequence[SavedValue | KeptValue]) -> str:
    number = sum(value.kind == "activation" for value in values)
    return f"{fmt.count(number, 'activation')} ({fmt.bytes_(saved_bytes(values, 'activation'))})"

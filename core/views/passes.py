"""Passes over a compilation's graphs, and partitions of its joint graphs.

`PassesView` has each step's changes and a film. `PartitionView` has the decisions and the values saved for the
backward.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from core.analysis.film import FilmStep, Segment, film, graph_at
from core.analysis.kernels.kernel import kernel_names
from core.analysis.memory import partitions, saved_bytes, saved_values, tensor_bytes
from core.base import words as fmt
from core.graph.fx import film_model, kernels_of, source_path
from core.report import Compilation, Decision, FxGraph, FxNode, KeptValue, Partition, Report, SavedValue, tensor_text
from core.views.blocks import (
    Code,
    Column,
    Drawn,
    Fold,
    Heading,
    Lazy,
    Listing,
    PageBlock,
    Table,
    Text,
    Title,
    folded,
    paragraph,
    spans,
)
from core.views.fx_graph import node_rows
from core.views.glossary import GLOSSARY
from core.views.graph import GraphFrame, GraphView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain

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
OFF_IN_A_SWEEP = "What the pass does to a call, by the sweep *Rewrites*, which turned it off"
NOT_RECORDED = "Not recorded as a pass: the difference between two graphs that torch logged."
DECISIONS: dict[Decision, str] = {
    "forward": "Computed in the forward, and not needed after it.",
    "backward": "Computed in the backward.",
    "saved": "Computed in the forward, or an input of it, and saved for the backward.",
    "recomputed": "Computed in the forward and recomputed in the backward.",
}
NOUNS = {"activation": "activation", "input": "input", "symbol": "symbolic size", "other": "other value"}


# Parts that the dashboard draws by hand.
FILM, JOINT = "film", "joint"
NO_GRAPH: tuple[PageBlock, ...] = (
    Title(spans("This compilation has no graph that passes could change")),
    Text(spans("Choose another compilation above. *Overview* says how each compilation ended.")),
)
NO_JOINT_GRAPH: tuple[PageBlock, ...] = (
    Title(spans("This compilation has no joint graph")),
    Text(spans("Only training has one: AOTAutograd traces forward and backward together if a gradient is needed.")),
)


def passes(chapters: Sequence[PassesView], chosen: PassesView | None = None) -> Iterator[PageBlock]:
    """Yield the passes over the graphs of a compilation; the default graph is that with the most steps."""
    if not chapters:
        yield from NO_GRAPH
        return
    first = chosen or max(chapters, key=lambda chapter: chapter.last)
    yield Title(spans(first.title), GLOSSARY["pass"])
    yield Drawn(FILM, Lazy(lambda: _films(first, chapters)))


def _films(first: PassesView, chapters: Sequence[PassesView]) -> Iterator[PageBlock]:
    for chapter in sorted(chapters, key=lambda chapter: chapter is not first):
        yield Heading(chapter.label)
        yield from paragraph("" if chapter is first else chapter.title)
        yield chapter.table
        for number in range(1, chapter.last + 1):
            yield from folded(chapter.step_title(number), tuple(chapter.step(number)))
        yield from chapter.unchanged


def partition(views: Sequence[PartitionView], chosen: PartitionView | None = None) -> Iterator[PageBlock]:
    """Yield the partitions of a compilation's joint graphs; the title is that of the chosen graph."""
    if not views:
        yield from NO_JOINT_GRAPH
        return
    first = chosen or views[0]
    yield Title(spans(first.title), GLOSSARY["partition"])
    yield from paragraph(first.caption, "quiet")
    yield Drawn(JOINT, Lazy(lambda: _saved(first, views)))


def _saved(first: PartitionView, views: Sequence[PartitionView]) -> Iterator[PageBlock]:
    yield first.table
    for view in views:
        if view is not first:
            yield Heading(view.partition.graph)
            yield from paragraph(view.title)
            yield from paragraph(view.caption, "quiet")
            yield view.table


@dataclass(frozen=True, slots=True)
class PassesView:
    """Passes over one graph, as a film with one frame per step.

    `segment` is the range of frames in which a name means the same node; `source` is the compiled file. `effects` are
    what each pass does to a call, by its name, where a sweep turned it off.
    """

    compilation: Compilation
    segment: Segment
    source: str
    effects: Mapping[str, str] = field(default_factory=dict)

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
        return GraphView(model, kernel_names(self.compilation), tuple(map(self._frame, segment.frames)))

    @property
    def table(self) -> Table[tuple[int, FilmStep]]:
        """The steps, with the time of each pass in µs and the numbers of changed nodes."""
        steps = tuple(enumerate(self.segment.frames))
        name = f"steps-{self.compilation.id}-{self.id}"
        effect: Column[tuple[int, FilmStep]] = Column("a call", self._effect, help=OFF_IN_A_SWEEP)
        columns = (*STEPS, effect) if self.effects else STEPS
        return Table(name, columns, steps, link=lambda step: str(step[0]), parameter="frame", is_short=True)

    def steps(self, number: int) -> Iterator[PageBlock]:
        """Yield the steps, one of them in full, and the passes that changed nothing."""
        yield self.table
        yield from paragraph(self.step_title(number))
        yield from self.step(number)
        yield from self.unchanged

    def nodes(self, number: int) -> tuple[FxNode, ...]:
        """Return the nodes of the graph after a step."""
        return graph_at(self.segment, number)

    def node_rows(self, number: int, node: FxNode) -> dict[str, str]:
        """Return the facts of a node after a step as Markdown, by name."""
        return node_rows(self.compilation, self.nodes(number), node)

    def step_title(self, number: int) -> str:
        """Return a step's number and pass as Markdown."""
        return f"**Step {number}**: {code(self.segment.frames[number].title, LONGEST_LINE)}"

    def step(self, number: int) -> Iterator[PageBlock]:
        """Yield the places of a step's pass and patterns in torch's code, and the nodes that the step changed."""
        step = self.segment.frames[number]
        yield from paragraph("" if step.recorded else NOT_RECORDED, "quiet")
        if step.source:
            yield from paragraph(f"The pass is at {code(str(step.source), LONGEST_LINE)}", "quiet")
        for match in step.patterns:
            place = f" at {code(str(match.source), LONGEST_LINE)}" if match.source else ""
            pattern = f"{fmt.number(match.count)} × pattern {code(match.name, LONGEST_LINE)}{place}"
            yield from paragraph(pattern, "quiet")
        for verb, names, frame in (
            ("added", step.added, number),
            ("removed", step.removed, number - 1),
            ("rewritten", step.rewritten, number),
        ):
            if names:
                yield Listing(f"{fmt.count(len(names), 'node')} {verb}", Code(self._code(names, frame)), is_open=True)
        yield from paragraph("Remaining nodes were reordered." if step.reordered else "", "quiet")

    @staticmethod
    def no_node(selected: str | None) -> str:
        """Return the message for a selected node that a step lacks, or a prompt if no node is selected."""
        if selected:
            return "Not in this step: a later step adds it, or a pass removed it."
        return "Click a node."

    @property
    def unchanged(self) -> Iterator[Fold]:
        """Yield the passes that changed nothing, the slowest first, below their number and total time."""
        records = self.compilation.unchanged_passes
        unchanged = [(record.stage, name, took_us) for record in records for name, took_us in record.passes]
        unchanged.sort(key=lambda each: -each[2])
        took = fmt.duration_s(sum(took_us for *_, took_us in unchanged) / 1e6)
        title = f"{fmt.count(len(unchanged), 'pass', 'passes')} changed nothing, in {took}"
        yield from folded(title, [Table("unchanged", UNCHANGED, unchanged)] if unchanged else [])

    def _effect(self, step: tuple[int, FilmStep]) -> str:
        return self.effects.get(step[1].title, "")

    def _frame(self, step: FilmStep) -> GraphFrame:
        added, removed, rewritten = (
            tuple(f"n:{name}" for name in names) for names in (step.added, step.removed, step.rewritten)
        )
        words = "; ".join(filter(None, [_step_words(step), self.effects.get(step.title, "")]))
        return GraphFrame(one_line(step.title, LONGEST_LINE), words, added, removed, rewritten)

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

    no_graph: ClassVar[str] = "The log does not contain the joint graph."
    no_node: ClassVar[str] = "Click a node or a row to see the partitioner's decision and reason."

    partition: Partition
    nodes: Mapping[str, FxNode]

    @classmethod
    def of(
        cls, compilation: Compilation, nodes_of: Callable[[FxGraph], tuple[FxNode, ...]]
    ) -> tuple[PartitionView, ...]:
        """Return the partition of each joint graph of a compilation; `nodes_of` reads the nodes of a graph."""
        views = []
        for partition in partitions(compilation, nodes_of):
            graph = compilation.graph(partition.graph)
            views.append(cls(partition, {node.name: node for node in nodes_of(graph)} if graph else {}))
        return tuple(views)

    @property
    def title(self) -> str:
        """Activations that the forward saves: from the compiled code if recorded, otherwise from the graphs."""
        compiled = self.partition.kept
        if compiled is None:
            return f"AOTAutograd's partition saves {_activations(self.partition.saved)} for the backward."
        return f"The forward saves {_activations(compiled)} for the backward."

    @property
    def caption(self) -> str:
        """Number of nodes per decision, and the partitioner's plan compared with the compiled code."""
        return f"{self._decision_counts}. {self._plan}"

    @property
    def table(self) -> Table[SavedValue]:
        """Values saved for the backward, largest first; a symbolic size has no bytes."""
        compiled = {value.name: value for value in self.partition.kept or ()}
        columns: tuple[Column[SavedValue], ...] = (
            Column("value", lambda value: one_line(value.name, LONGEST_NAME)),
            Column("bytes", lambda value: value.bytes, fmt.bytes_, "None where a size is symbolic"),
            Column("shape", self._shape),
            Column("kind", lambda value: value.kind),
            Column("kept as", lambda value: _buffer_words(value, compiled.get(value.name))),
            Column("why", _reasons),
            Column("your line", self._line),
        )
        values = saved_values(self.partition)
        return Table(
            f"saved-{self.partition.graph}", columns, values, link=lambda value: f"n:{value.name}", is_short=True
        )

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

    def _shape(self, value: SavedValue) -> str:
        node = self.nodes.get(value.name)
        return tensor_text(node.meta.dtype, node.meta.shape) if node and node.meta else ""

    def _line(self, value: SavedValue) -> str:
        node = self.nodes.get(value.name)
        return one_line(node.code, LONGEST_LINE) if node else ""


def _reasons(value: SavedValue) -> str:
    return one_line("; ".join([*([value.policy] if value.policy else []), *value.reasons]), LONGEST_LINE)


def _buffer_words(value: SavedValue, compiled: KeptValue | None) -> str:
    if compiled is None:
        return ""
    is_copy = (value.kind, compiled.kind) == ("input", "activation")
    return f"{compiled.buffer}, a copy" if is_copy else compiled.buffer


def _activations(values: Sequence[SavedValue | KeptValue]) -> str:
    number = sum(value.kind == "activation" for value in values)
    return f"{fmt.count(number, 'activation')} ({fmt.bytes_(saved_bytes(values, 'activation'))})"


STEPS: tuple[Column[tuple[int, FilmStep]], ...] = (
    Column("step", lambda step: step[0], fmt.number),
    Column("pass or graph", lambda step: one_line(step[1].title, LONGEST_LINE)),
    Column("stage", lambda step: step[1].stage or "logged graph"),
    Column("µs", lambda step: step[1].duration_us, fmt.number, "The pass itself, without recording"),
    Column("added", lambda step: len(step[1].added), fmt.number),
    Column("removed", lambda step: len(step[1].removed), fmt.number),
    Column("rewritten", lambda step: len(step[1].rewritten), fmt.number),
)
UNCHANGED: tuple[Column[tuple[str, str, float]], ...] = (
    Column("stage", lambda each: each[0]),
    Column("pass", lambda each: one_line(each[1], LONGEST_LINE)),
    Column("µs", lambda each: each[2], fmt.number),
)

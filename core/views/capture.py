"""Captures of a model side by side: graphs, nodes by line, and `torch._dynamo.explain`."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import get_args

from core.analysis.work import captured_ops
from core.base import words as fmt
from core.base.syntax import NOT_READ, module
from core.graph.fx import fx_model, source_path
from core.job import CompileJob
from core.report import Capture, CaptureWay, Compilation, FxGraph, FxNode, Payload, Report, tensor_text
from core.views.blocks import Column, Drawn, Heading, Lazy, PageBlock, Table, Title, paragraph, spans
from core.views.fx_graph import node_rows
from core.views.graph import GraphView
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain, prose
from core.views.texts import SourceView

WAYS = {
    "symbolic_trace": "symbolic_trace",
    "dynamo": "Dynamo",
    "export": "torch.export",
    "core_aten": "core ATen",
    "aot": "AOTAutograd",
}
RECORDED = get_args(CaptureWay)
MEANINGS = {
    "symbolic_trace": "torch.fx calls `forward` with proxies in place of tensors, and records what they are used for",
    "dynamo": "follows the bytecode, and breaks the graph where it cannot",
    "export": "one whole graph of ATen ops for all inputs in its range, without Python",
    "core_aten": "the exported graph, decomposed into PyTorch's core ops",
    "aot": "Dynamo's graph in ATen ops without side effects, for training with its backward",
}
DYNAMO, AOT = "dynamo_output_graph", ("aot_inference_graph", "aot_forward_graph")
MOST_DRAWN = 3_000  #: limit: nodes of all captures in the drawings
MOST_LINES = 2_000  #: lines of the user's file beside their nodes
HOW_TO_CAPTURE = (
    "Only torch.compile's own captures were recorded. To compare them with `torch.fx.symbolic_trace`, `torch.export`, "
    "core ATen and `torch._dynamo.explain`, run the job again with *other captures*."
)
LINES_NOTE = "`torch.export` records the lines of functions named `forward` alone."
EXPLAINED = {
    "graphs": "",
    "graph breaks": "`explain()` does not count breaks: it reports the number of graphs minus one.",
    "ops": "`explain()` counts `call_function` nodes; the run counts calls of methods, too.",
    "guards": "`explain()` counts guards as Dynamo makes them; the run counts the leaves of the guard tree, which "
    "are checked.",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
NodesOf = Callable[[FxGraph], tuple[FxNode, ...]]


# Parts that the dashboard draws by hand, and the tabs of the drawer beside the graphs.
CAPTURE, GRAPHS = "capture", "graphs"
NOTHING: tuple[PageBlock, ...] = (Title(spans("This run compiled nothing")),)
TABS = (WAYS_TAB, LINES_TAB, NODES_TAB, SUMMARY_TAB) = ("graphs", "lines", "nodes", "explain()")


def captures(view: CaptureView) -> Iterator[PageBlock]:
    """Yield the captures of a model: graphs, nodes by line, all nodes, and `torch._dynamo.explain`."""
    yield Title(spans(view.title))
    if not view.is_recorded:
        yield from paragraph(HOW_TO_CAPTURE)
        yield Drawn(CAPTURE)
    for failure in view.failures:
        yield from paragraph(failure, "warn")
    yield Drawn(GRAPHS, Lazy(lambda: (block for tab in TABS for block in (Heading(tab), *view.tab(tab)))))


@dataclass(frozen=True, slots=True)
class CaptureGraph:
    """A capture of the model: its graph with nodes, None if the capture failed, and its record.

    `record` is None for a graph of torch.compile.
    """

    way: str
    graph: FxGraph | None
    nodes: tuple[FxNode, ...]
    record: Capture | None = None

    @property
    def name(self) -> str:
        """Name of the capture method."""
        return WAYS[self.way]

    @property
    def count(self) -> int:
        """Number of nodes, with inputs and output."""
        return sum(self.graph.ops.values()) if self.graph else 0

    def number_of(self, op: str) -> int:
        """Return the number of nodes with this op."""
        return self.graph.ops.get(op, 0) if self.graph else 0


@dataclass(frozen=True)
class CaptureView:
    """The captures of a run's model, and the graphs of one of its compilations.

    `nodes_of` reads the nodes of a graph, `read` a payload of the log.
    """

    report: Report
    compilation: Compilation
    nodes_of: NodesOf
    read: Callable[[Payload], str]

    @property
    def is_recorded(self) -> bool:
        """True if the run has captures other than torch.compile's."""
        return bool(self.report.captures)

    @staticmethod
    def capturing(job: CompileJob | None) -> CompileJob | None:
        """Return the job that captures the model with all methods.

        None for a script, without a job, or if the job already captures with all methods.
        """
        if job is None or job.capture or job.model.is_script:
            return None
        return replace(job, capture=True, measure=False)

    @cached_property
    def graphs(self) -> tuple[CaptureGraph, ...]:
        """Captures in the order of `WAYS`, failed captures included.

        Dynamo and AOTAutograd are included only if the compilation has their graph.
        """
        by_way = {capture.way: capture for capture in self.report.captures}
        graphs: dict[str, CaptureGraph] = {way: self._recorded(capture) for way, capture in by_way.items()}
        for way, stages in (("dynamo", (DYNAMO,)), ("aot", AOT)):
            recorded = [graph for graph in self.compilation.graphs if graph.stage in stages]
            if recorded:
                graphs[way] = CaptureGraph(way, recorded[-1], self.nodes_of(recorded[-1]))
        return tuple(graphs[way] for way in WAYS if way in graphs)

    def _recorded(self, capture: Capture) -> CaptureGraph:
        nodes = self.nodes_of(capture.graph) if capture.graph is not None else ()
        return CaptureGraph(capture.way, capture.graph, nodes, capture)

    @property
    def title(self) -> str:
        """Node counts of the graphs, failed captures, and the comparison of results with eager."""
        graphs = [graph for graph in self.graphs if graph.graph is not None]
        words = (fmt.count(graph.count, "node") if graph is graphs[0] else fmt.number(graph.count) for graph in graphs)
        counts = [f"{number} by {graph.name}" for number, graph in zip(words, graphs, strict=True)]
        failed = [graph.name for graph in self.graphs if graph.graph is None]
        parts = [f"{', '.join(counts)}."] if counts else []
        parts += [f"No graph by {' and '.join(failed)}."] if failed else []
        equal = {graph.name: self._equal(graph) for graph in self.graphs}
        differing = [name for name, is_equal in equal.items() if is_equal is False]
        if differing:
            parts.append(f"{' and '.join(differing)}: results differ from eager.")
        elif True in equal.values():
            parts.append("Their results equal eager's.")
        return " ".join(parts) or "Dynamo captured no graph."

    def tab(self, name: str) -> Iterator[PageBlock]:
        """Yield one of the tables beside the graphs, with its sentences."""
        if name == WAYS_TAB:
            columns = (
                *WAY_COLUMNS,
                Column("result", self._result),
                Column("time", lambda graph: fmt.duration_s(graph.record.seconds) if graph.record else ""),
                Column("what it does", lambda graph: MEANINGS[graph.way].replace("`", "")),
            )
            yield Table("captures", columns, self.graphs)
            for reason in self.reasons:
                yield from paragraph(reason, "quiet")
        elif name == LINES_TAB:
            yield from paragraph(self.lines_title)
            yield self.line_table
            exported = any(graph.way == "export" for graph in self.graphs)
            yield from paragraph(LINES_NOTE if exported else "", "quiet")
        elif name == NODES_TAB:
            yield self.node_table
        elif name == SUMMARY_TAB:
            yield from paragraph(self.explain_note)
            if self.explained_rows:
                yield Table("explain", EXPLAIN_COLUMNS, self.explained_rows)
            yield from paragraph("\n".join(f"- {reason}" for reason in self.explained_reasons))

    def _equal(self, graph: CaptureGraph) -> bool | None:
        """Return True if a graph gives eager's results; None if its results were not compared."""
        explained = self.report.explained
        if graph.record is None:
            return explained.equal if explained and graph.way == "dynamo" else None
        return graph.record.equal

    def _result(self, graph: CaptureGraph) -> str:
        if graph.record and graph.record.problem:
            return one_line(graph.record.problem, LONGEST_LINE)
        return {True: "equal to eager", False: "differs from eager", None: "not run by itself"}[self._equal(graph)]

    @property
    def failures(self) -> Iterator[str]:
        """Yield torch's error for each failed capture as Markdown, with the user's line if it is known."""
        for graph in self.graphs:
            if graph.record is None or not graph.record.problem:
                continue
            frame = next(reversed(graph.record.frames), None)
            place = f" at {code(frame.text)} ({code(frame.short)})" if frame else ""
            yield f"**{graph.name}**{place}: {plain(graph.record.problem, LONGEST_LINE)}"

    @property
    def reasons(self) -> Iterator[str]:
        """Yield sentences, as Markdown, that say why the graphs differ, with this run's numbers."""
        ways = {graph.way: graph for graph in self.graphs if graph.graph is not None}
        traced, exported, decomposed = (ways.get(way) for way in RECORDED)
        if traced and (modules := [node for node in traced.nodes if node.op == "call_module"]):
            yield (
                f"`symbolic_trace` has {fmt.count(len(modules), 'node')} `call_module`, such as "
                f"{code(modules[0].target, LONGEST_NAME)}: it does not enter the modules of `torch.nn`. Dynamo and "
                "`torch.export` follow their `forward`, so those modules are ops there."
            )
        if traced and exported and (lifted := exported.number_of("placeholder") - traced.number_of("placeholder")) > 0:
            yield (
                f"`torch.export` has {fmt.count(lifted, 'input')} more than `symbolic_trace`: parameters and buffers "
                "are inputs of its graph, and attributes of the module there."
            )
        if exported and decomposed and decomposed.graph and exported.graph:
            gone = _missing(exported.graph.targets, decomposed.graph.targets)
            if gone:
                instead = _missing(decomposed.graph.targets, exported.graph.targets)
                yield f"Core ATen has no {_listed(gone)}; it has {_listed(instead)} instead."

    @cached_property
    def _text(self) -> str:
        return SourceView(self.report, self.read).text(source_path(self.report))

    @cached_property
    def lines(self) -> dict[int, dict[str, int]]:
        """Line of the user's file → number of nodes by capture.

        Lines of captured functions without a node are included; their numbers are empty.
        """
        path = source_path(self.report)
        counts: dict[int, Counter[str]] = {}
        for graph in self.graphs:
            for node in graph.nodes:
                if node.op.startswith(("call", "get_attr")) and node.source and node.source.file == path:
                    counts.setdefault(node.source.line, Counter())[graph.way] += 1
        for line in _statements(self._text, counts):
            counts.setdefault(line, Counter())
        return {line: dict(counts[line]) for line in sorted(counts)[:MOST_LINES]}

    @property
    def line_table(self) -> Table[tuple[int, dict[str, int]]]:
        """The lines with their numbers of nodes, in a column for each graph."""
        texts = self._text.split("\n")
        ways = tuple(_nodes_by(graph) for graph in self.graphs if graph.graph is not None)
        columns: tuple[Column[tuple[int, dict[str, int]]], ...] = (
            Column("line", lambda row: row[0], fmt.number),
            Column("code", lambda row: one_line("".join(texts[row[0] - 1 : row[0]]), LONGEST_LINE), width=200),
            *ways,
        )
        return Table("lines", columns, tuple(self.lines.items()))

    @property
    def lines_title(self) -> str:
        """Numbers of lines with no node, one node, or several.

        The counts are from Dynamo's graph if it has lines, otherwise from the first graph that has lines.
        """
        for graph in sorted(self.graphs, key=lambda graph: graph.way != "dynamo"):
            numbers = [counts.get(graph.way, 0) for counts in self.lines.values()]
            if any(numbers):
                none, single = numbers.count(0), numbers.count(1)
                several = len(numbers) - none - single
                return (
                    f"{graph.name}: {fmt.count(single, 'line')} became one node, {fmt.number(several)} several, "
                    f"{fmt.number(none)} none."
                )
        return "No node names a line of the user's file."

    @property
    def node_table(self) -> Table[tuple[CaptureGraph, FxNode, int]]:
        """The nodes of all graphs with their numbers of users, in torch's own columns."""
        rows: list[tuple[CaptureGraph, FxNode, int]] = []
        for graph in self.graphs:
            users = Counter(name for node in graph.nodes for name in node.inputs)
            rows += [(graph, node, users[node.name]) for node in graph.nodes]
        return Table("nodes", NODE_COLUMNS, rows)

    @property
    def explained_rows(self) -> list[tuple[str, int, int]]:
        """Figures of `torch._dynamo.explain`, each beside that of the first call; empty without."""
        explained = self.report.explained
        if explained is None or explained.problem:
            return []
        first = [compilation for compilation in self.report.compilations if compilation.call in (0, None)]
        ids = {compilation.id for compilation in first}
        breaks = sum(not ids.isdisjoint(graph_break.compilations) for graph_break in self.report.graph_breaks)
        captured = [item for item in first if any(graph.stage == DYNAMO for graph in item.graphs)]
        guards = sum(len(item.guards) for item in first)
        run = (len(captured), breaks, sum(map(captured_ops, captured)), guards)
        torch = (explained.graphs, explained.graph_breaks, explained.ops, explained.guards)
        return [*zip(EXPLAINED, torch, run, strict=True)]

    @property
    def explain_note(self) -> str:
        """Call and seconds of `torch._dynamo.explain`, or the reason why there are none; as Markdown."""
        explained = self.report.explained
        if explained is None:
            return "`torch._dynamo.explain` was not recorded."
        if explained.problem:
            return f"`torch._dynamo.explain` raised {plain(explained.problem)}"
        return f"`torch._dynamo.explain(model)(*args)` took {fmt.duration_s(explained.seconds)}, for the first call."

    @property
    def explained_reasons(self) -> list[str]:
        """The `break_reasons` of `explain`, as Markdown."""
        explained = self.report.explained
        return [prose(reason, LONGEST_LINE) for reason in explained.reasons] if explained is not None else []

    @property
    def is_drawn(self) -> bool:
        """True if the graphs together are small enough for one drawing."""
        return 0 < sum(len(graph.nodes) for graph in self.graphs) <= MOST_DRAWN

    @cached_property
    def nodes(self) -> tuple[FxNode, ...]:
        """The nodes of all graphs, with names that are unique across the graphs."""
        return tuple(_renamed(node, graph.way) for graph in self.graphs for node in graph.nodes)

    @property
    def picture(self) -> GraphView:
        """Drawing of all graphs, each a group."""
        directions = {_name(node.name, graph.way): graph.name for graph in self.graphs for node in graph.nodes}
        return GraphView(fx_model(self.nodes, source=source_path(self.report), directions=directions))

    def node_facts(self, selected: str | None) -> dict[str, str]:
        """Return the facts of a selected node by name, as Markdown; empty if no graph has the node."""
        name, _, way = (selected or "").removeprefix("n:").rpartition("@")
        graph = next((graph for graph in self.graphs if graph.way == way), None)
        node = next((node for node in graph.nodes if node.name == name), None) if graph else None
        if graph is None or node is None:
            return {}
        return {"capture": graph.name, **node_rows(self.compilation, graph.nodes, node)}


def _name(name: str, way: str) -> str:
    return f"{name}@{way}"


def _renamed(node: FxNode, way: str) -> FxNode:
    """Return a node whose name is unique over all graphs."""
    return replace(node, name=_name(node.name, way), inputs=tuple(_name(name, way) for name in node.inputs))


def _missing(left: dict[str, int], right: dict[str, int]) -> list[str]:
    """Return the targets that only the left graph calls, most frequent first."""
    return sorted((target for target in left if target not in right), key=lambda target: -left[target])


def _listed(targets: Sequence[str]) -> str:
    shown = [code(target.removeprefix("torch.ops."), LONGEST_NAME) for target in targets[:4]]
    more = f" and {fmt.number(len(targets) - 4)} more" if len(targets) > 4 else ""
    return (", ".join(shown) or "other ops") + more


def _statements(text: str, lines: dict[int, Counter[str]]) -> Iterator[int]:
    """Yield the lines of the own statements of each function that has one of these lines."""
    try:
        tree = module(text)
    except NOT_READ:
        return
    functions = [node for node in ast.walk(tree) if isinstance(node, FUNCTIONS)]
    for function in functions:
        statements = list(_own_statements(function))
        if not lines.keys().isdisjoint(statements):
            documented = function.body[0].lineno if ast.get_docstring(function) is not None else 0
            yield from (line for line in statements if line != documented)


def _own_statements(node: ast.AST) -> Iterator[int]:
    """Yield the lines of a function's statements, without those of nested functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child.lineno
        if not isinstance(child, FUNCTIONS):
            yield from _own_statements(child)


def _nodes_by(graph: CaptureGraph) -> Column[tuple[int, dict[str, int]]]:
    return Column(graph.name, lambda row: row[1].get(graph.way, 0), fmt.number)


WAY_COLUMNS: tuple[Column[CaptureGraph], ...] = (
    Column("capture", lambda graph: graph.name),
    Column("nodes", lambda graph: graph.count if graph.graph else None, fmt.number),
    Column("calls", lambda graph: graph.graph.calls if graph.graph else None, fmt.number),
    Column("inputs", lambda graph: graph.number_of("placeholder") if graph.graph else None, fmt.number),
    Column("attributes", lambda graph: graph.number_of("get_attr") if graph.graph else None, fmt.number),
)
NODE_COLUMNS: tuple[Column[tuple[CaptureGraph, FxNode, int]], ...] = (
    Column("capture", lambda row: row[0].name),
    Column("op", lambda row: row[1].op),
    Column("name", lambda row: one_line(row[1].name, LONGEST_NAME)),
    Column("target", lambda row: one_line(row[1].target, LONGEST_NAME)),
    Column("args", lambda row: one_line(row[1].args, LONGEST_LINE)),
    Column("users", lambda row: row[2], fmt.number),
    Column("value", lambda row: tensor_text(row[1].meta.dtype, row[1].meta.shape) if row[1].meta else ""),
    Column("line", lambda row: one_line(row[1].source.short, LONGEST_NAME) if row[1].source else ""),
)
EXPLAIN_COLUMNS: tuple[Column[tuple[str, int, int]], ...] = (
    Column("figure", lambda row: row[0]),
    Column("explain()", lambda row: row[1], fmt.number),
    Column("this run", lambda row: row[2], fmt.number),
    Column("note", lambda row: EXPLAINED[row[0]] if row[1] != row[2] else ""),
)

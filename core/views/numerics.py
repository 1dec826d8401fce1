"""Comparison of eager and compiled with float64: results of calls, and nodes of a graph.

Texts are Markdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

from core.analysis.numerics import (
    Numerics,
    ResultStanding,
    error_words,
    first_difference,
    first_inaccurate,
    node_standings,
    numerics_of,
    numerics_sentence,
    of_tolerance,
    standing,
)
from core.analysis.numerics import numerics as numerics_of_results
from core.analysis.results import difference_words, excuse_words, results
from core.analysis.verdict import target_words
from core.base import words as fmt
from core.job import CompileJob, validated
from core.job.text import bits_from_text, options_as_text
from core.report import (
    Accuracy,
    BitComparison,
    Compilation,
    FxGraph,
    FxNode,
    GraphNumerics,
    NodeAccuracy,
    NodeBits,
    Report,
)
from core.views.blocks import (
    Beside,
    Column,
    Data,
    Drawn,
    Heading,
    InLine,
    PageBlock,
    PageLink,
    Row,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, plain, prose, quoted

# Parts that the page draws: buttons, charts, the table of nodes, and the lines of the selected node.
COMPARE, COMPARE_BITS, COMPARE_NODES = "numerics-now", "bits-now", "nodes-now"
RESULTS, NODES, NODE_TABLE, LINES = "numerics-results", "numerics-nodes", "numerics-table", "lines"

NOT_COMPARED = "A script runs once, as it is, and is not compared with eager."
NOT_RECORDED = (
    "Every run compares compiled with eager. On request, a run also compares both with float64, to show which is more "
    "accurate and which node differs first."
)
MEANING = (
    "An error is the norm of the difference from float64, over the norm in float64. If the error of compiled exceeds "
    "the tolerance, it must not exceed the error of eager."
)
NO_CALL = "No call was recorded: an imported log has no eager calls."
NO_RESULT = "The run ended before a call was compared."
SHOWN_DIFFERENCES = 5
OF_EAGER = (
    "Norm of eager's difference from float64 over the norm in float64; of whole numbers and booleans the part of the "
    "elements that differ"
)
APART = "Compiled against eager: norm of the difference over eager's norm"
OF_ELEMENT = "The largest difference of one element from float64"
INDUCTOR, EXAMPLE = "inductor", "batch=1"
CAPTURED = "dynamo_output_graph"
NodeReader = Callable[[Compilation, FxGraph], Sequence[FxNode]]
NAMED_SETTINGS = 3


def numerics(report: Report, compilation: Compilation | None, read_nodes: NodeReader) -> Iterator[PageBlock]:
    """Yield the comparison with float64: results, values bit by bit, and nodes of a compilation."""
    view = NumericsView(report)
    if view.state != "recorded":
        yield Title(spans(view.title))
        yield from paragraph(view.paragraph)
        if view.state == "not recorded":
            yield InLine((Drawn(COMPARE), Drawn(COMPARE_BITS)))
        yield from view.bit_by_bit
        return
    if view.title:
        yield Title(spans(view.title), GLOSSARY["numerics"])
        yield from paragraph(view.paragraph, "quiet")
        yield view.results
    yield from view.bit_by_bit
    data = Data("numerics", (report.call_numerics, report.graph_numerics, report.bits))
    yield InLine((Heading(f"Nodes of [{compilation.id}]" if compilation else "Nodes"), data, Drawn(COMPARE_BITS)))
    reason = view.without_nodes(compilation)
    if compilation is None or reason:
        yield from paragraph(reason)
        yield Drawn(COMPARE_NODES)
        return
    graph = view.nodes_of(compilation, read_nodes)
    yield from paragraph(graph.sentence)
    yield from paragraph(graph.caption, "quiet")
    if any(node.accuracy is not None for node in graph.numerics.nodes):
        yield Drawn(NODES, of=(graph,))
        yield Beside((Drawn(NODE_TABLE, (graph.table,), (graph,)),), (Drawn(LINES, of=(graph,)),), shares=(3, 2))


@dataclass(frozen=True, slots=True)
class ErrorPoint:
    """A compared value in a chart; `position` is its index there, and `call` is None for a node."""

    position: int
    name: str
    accuracy: Accuracy
    call: int | None = None

    @property
    def errors(self) -> dict[str, float | None]:
        """Error of each side."""
        return {"eager": self.accuracy.eager_error, "compiled": self.accuracy.compiled_error}

    @property
    def details(self) -> tuple[str, str, str]:
        """Dtype, both errors, and the tolerance."""
        errors = f"eager {fmt.number(self.accuracy.eager_error)}, compiled {fmt.number(self.accuracy.compiled_error)}"
        return self.accuracy.dtype, errors, f"tolerance {fmt.number(self.accuracy.tolerance)}"


@dataclass(frozen=True)
class NumericsView:
    """The comparison of a run with float64."""

    report: Report

    @property
    def state(self) -> str:
        """State of the comparison: `not run`, `not recorded`, or `recorded`."""
        if target_words(self.report):
            return "not run"
        return "recorded" if self._results is not None or self.report.graph_numerics else "not recorded"

    @property
    def title(self) -> str:
        """Verdict on the results, or a note that nothing was compared; empty if only nodes were compared."""
        if self.state == "not run":
            return "Nothing was run, so there is no result to compare."
        if self.state == "not recorded":
            return "Results were not compared with float64."
        return prose(numerics_sentence(self._results)) if self._results else ""

    @property
    def paragraph(self) -> str:
        """Reason why there is no comparison, else the meaning of errors, and the limits of this comparison."""
        if self.state == "not run":
            return f"The code was {target_words(self.report)}."
        if self.report.script is not None:
            return NOT_COMPARED
        if self._results is None:
            return NOT_RECORDED if self.report.calls else NO_RESULT if self.report.setting.run else NO_CALL
        reasons = [f"{reason[:1].upper()}{reason[1:]}." for reason in self._results.reasons]
        more = [*reasons, narrowed_words(self._results.narrowed)]
        return " ".join([MEANING, *map(prose, filter(None, more))])

    @staticmethod
    def largest_words(shown: int) -> str:
        """Return the note on a chart that leaves out the results with smaller errors."""
        return f"The {fmt.number(shown)} with the largest errors; the table has all."

    @property
    def results(self) -> PageBlock:
        """Results of the calls: differing results first, then by compiled's error relative to its tolerance."""
        calls = len({result.call for result in self._by_error}) > 1
        call: Column[ResultStanding] = Column("call", lambda result: result.call, fmt.number)
        columns = (RESULT_COLUMNS[0], *((call,) if calls else ()), *RESULT_COLUMNS[1:])
        table = Table("results", columns, self._by_error)
        return Beside((Drawn(RESULTS, of=(self,)),), (table,)) if self.points else table

    @property
    def points(self) -> list[ErrorPoint]:
        """Results with an error, in the order of the rows."""
        with_error = [result for result in self._by_error if result.accuracy.compiled_error is not None]
        return [ErrorPoint(index, result.what, result.accuracy, result.call) for index, result in enumerate(with_error)]

    @property
    def bit_by_bit(self) -> Iterator[PageBlock]:
        """The comparison bit by bit with another configuration; nothing if none was requested."""
        if self.report.bits is None:
            return
        yield Heading("Bit by bit", GLOSSARY["bit by bit"])
        yield from paragraph(prose(bits_words(self.report.bits), LONGEST_TEXT))
        if self.report.bits.nodes:
            yield Table("bits", BIT_COLUMNS, self.report.bits.nodes)

    @staticmethod
    def compares_bits(job: CompileJob) -> bool:
        """Return True if a job can be compared bit by bit with another configuration."""
        return not job.target and job.compile.backend == INDUCTOR

    @staticmethod
    def bits_typed(job: CompileJob) -> str:
        """Return the job's other configuration as text for the input field; an example if it has none."""
        return options_as_text(job.bits) or EXAMPLE

    @staticmethod
    def with_bits(job: CompileJob, typed: str) -> CompileJob:
        """Return an untimed job that compares bits with the typed configuration; raises JobError."""
        return validated(replace(job, bits=bits_from_text(typed), measure=False))

    def without_nodes(self, compilation: Compilation | None) -> str:
        """Return the reason why nodes of a compilation were not compared; empty if nodes were compared."""
        if compilation is not None and numerics_of(self.report, compilation.id) is not None:
            return ""
        failed = numerics_of(self.report, "")
        return plain(f"No node was compared: {failed.reason}." if failed else "Single nodes were not compared.")

    def nodes_of(self, compilation: Compilation, read_nodes: NodeReader) -> NodeNumericsView:
        """Return the comparison of a compilation's nodes; `read_nodes` returns the nodes of a graph."""
        graph = next((graph for graph in compilation.last_graphs if graph.stage == CAPTURED), None)
        nodes = {node.name: node for node in read_nodes(compilation, graph)} if graph else {}
        compared = numerics_of(self.report, compilation.id) or GraphNumerics(compilation.id)
        return NodeNumericsView(compilation, compared, graph, nodes)

    @cached_property
    def _results(self) -> Numerics | None:
        return numerics_of_results(self.report)

    @cached_property
    def _by_error(self) -> list[ResultStanding]:
        results = self._results.results if self._results else ()
        return sorted(
            results, key=lambda result: (result.standing != "differs", -(of_tolerance(result.accuracy) or 0.0))
        )


class NodeRow(NamedTuple):
    """A compared node; `source` is the node of the captured graph, None if it is not logged."""

    position: int
    node: NodeAccuracy
    standing: str
    source: FxNode | None

    @property
    def reason(self) -> str:
        """Reason why the node was not compared; empty if it was."""
        return self.node.left_out or (self.node.accuracy.reason if self.node.accuracy else "")


@dataclass(frozen=True)
class NodeNumericsView:
    """The comparison of the nodes of a compilation.

    `graph` is the captured graph, and `nodes` are its nodes by name; None and empty if the log does not contain it.
    """

    compilation: Compilation
    numerics: GraphNumerics
    graph: FxGraph | None
    nodes: Mapping[str, FxNode]

    @property
    def sentence(self) -> str:
        """First node that differs, or a note that no node differs."""
        return prose(graph_sentence(self.numerics, {node.name: node.target for node in self.nodes.values()}))

    @property
    def caption(self) -> str:
        """Effect of the comparison on the graph, and the nodes left out."""
        words = (outputs_words(self.numerics), left_out_words(self.numerics), narrowed_words(self.numerics.narrowed))
        return prose(" ".join(filter(None, words)))

    @property
    def first_to_differ(self) -> str:
        """Name of the first node that differs; empty if none does."""
        first = first_inaccurate(self.numerics)
        return first.name if first else ""

    def chosen(self, selected: str) -> str:
        """Return the name of the selected node.

        Without a selection, it is the first node that differs, otherwise the node with the largest error; empty if the
        graph has no node.
        """
        nodes = self.numerics.nodes
        largest = max(nodes, key=_compiled_error, default=None)
        chosen = next((node for node in nodes if node.name == selected), first_inaccurate(self.numerics) or largest)
        return chosen.name if chosen else ""

    @property
    def points(self) -> list[ErrorPoint]:
        """Compared nodes in execution order."""
        return [
            ErrorPoint(index, node.name, node.accuracy)
            for index, node in enumerate(self.numerics.nodes)
            if node.accuracy is not None
        ]

    @property
    def table(self) -> Table[NodeRow]:
        """All nodes, in execution order."""
        standings = node_standings(self.numerics)
        rows = [
            NodeRow(position, node, standings[node.name], self.nodes.get(node.name))
            for position, node in enumerate(self.numerics.nodes)
        ]
        return Table(f"{NODE_TABLE}-{self.compilation.id}", NODE_COLUMNS, rows)


def result_blocks(report: Report) -> Iterator[PageBlock]:
    """Yield excused differences, and the differences from eager or why results could not be compared."""
    result = results(report)
    if result is None:
        return
    excuses = _first(excuse_words(result))
    yield from paragraph(prose(f"{excuses[:1].upper()}{excuses[1:]}.", LONGEST_TEXT) if excuses else "")
    if result.outcome in ("same", "other strides"):
        return
    differs = result.outcome == "differs"
    title = "Compiled differs from eager" if differs else "Not comparable with eager"
    text = prose(_first([*dict.fromkeys(map(difference_words, result.told))]), LONGEST_TEXT)
    yield from paragraph(f"**{title}.** {text}", "bad" if differs else "warn")
    if differs:
        yield PageLink("numerics", "Which one is right, and the first node that differs")


def _first(texts: Sequence[str]) -> str:
    more = f"; and {fmt.number(len(texts) - SHOWN_DIFFERENCES)} more" if len(texts) > SHOWN_DIFFERENCES else ""
    return "; ".join(texts[:SHOWN_DIFFERENCES]) + more


def _compiled_error(node: NodeAccuracy) -> float:
    return (node.accuracy and node.accuracy.compiled_error) or 0.0


def _figures(of: Callable[[Row], Accuracy | None]) -> tuple[Column[Row], ...]:
    """Return the columns of the accuracy of a row; empty cells for a row without one."""

    def column(name: str, value: Callable[[Accuracy], Any], unit: Callable[[Any], str], help: str) -> Column[Row]:
        return Column(name, lambda row: None if (accuracy := of(row)) is None else value(accuracy), unit, help)

    return tuple(column(*figure) for figure in FIGURES)


FIGURES: tuple[tuple[str, Callable[[Accuracy], Any], Callable[[Any], str], str], ...] = (
    ("dtype", lambda accuracy: accuracy.dtype, str, ""),
    ("eager", lambda accuracy: accuracy.eager_error, fmt.number, OF_EAGER),
    ("compiled", lambda accuracy: accuracy.compiled_error, fmt.number, "The same for compiled"),
    ("of tolerance", of_tolerance, fmt.ratio, "Compiled's error over what its dtype allows"),
    ("apart", lambda accuracy: accuracy.apart, fmt.number, APART),
    ("largest, eager", lambda accuracy: accuracy.eager_max_abs, fmt.number, OF_ELEMENT),
    ("largest, compiled", lambda accuracy: accuracy.compiled_max_abs, fmt.number, "The same for compiled"),
)
RESULT_COLUMNS: tuple[Column[ResultStanding], ...] = (
    Column("result", lambda result: one_line(result.what, LONGEST_LINE)),
    Column("compiled is", lambda result: result.standing),
    *_figures(lambda result: result.accuracy),
    Column("elements", lambda result: result.accuracy.elements, fmt.number),
    Column("why", lambda result: one_line(result.accuracy.reason, LONGEST_LINE)),
)
NODE_COLUMNS: tuple[Column[NodeRow], ...] = (
    Column("#", lambda row: row.position, fmt.number),
    Column("node", lambda row: one_line(row.node.name, LONGEST_NAME)),
    Column("compiled is", lambda row: row.standing),
    *_figures(lambda row: row.node.accuracy),
    Column("your line", lambda row: one_line(row.source.code, LONGEST_LINE) if row.source else ""),
    Column("module", lambda row: one_line(row.source.module, LONGEST_LINE) if row.source else ""),
    Column("why", lambda row: one_line(row.reason, LONGEST_LINE)),
)
BIT_COLUMNS: tuple[Column[NodeBits], ...] = (
    Column("node", lambda node: one_line(node.node, LONGEST_NAME)),
    Column("your line", lambda node: one_line(node.line, LONGEST_LINE)),
    Column("begins here", lambda node: "yes" if node.source else ""),
    Column("elements", lambda node: f"{fmt.number(node.differing)} of {fmt.number(node.elements)}"),
    Column("largest difference", lambda node: node.max_abs, fmt.number),
    Column("dtype", lambda node: one_line(node.dtype, LONGEST_NAME)),
    Column("kernel", lambda node: one_line(node.kernel, LONGEST_NAME)),
    Column("other kernel", lambda node: one_line(node.other_kernel, LONGEST_NAME)),
    Column("why", lambda node: one_line(node.reason.replace("`", ""), LONGEST_LINE)),
)


def narrowed_words(names: Sequence[str]) -> str:
    """Return the ops of the float64 run that were computed in float32; empty if there are none."""
    ops = ", ".join(f"`{name}`" for name in names)
    return (
        f"Torch has no float64 version of {ops}, which {fmt.agree(len(names), 'was', 'were')} computed in float32."
        * bool(ops)
    )


def graph_sentence(graph: GraphNumerics, calls: Mapping[str, str] | None = None) -> str:
    """Return the first differing node in words, or that no node differs."""
    first, compared = first_inaccurate(graph), [node for node in graph.nodes if node.accuracy is not None]
    if not compared:
        return f"No node was compared: {graph.reason or 'the graph has none that computes a tensor'}."
    if first is None or first.accuracy is None:
        same = sum(standing(node.accuracy) == "the same bits" for node in compared if node.accuracy)
        nodes = f"{fmt.count(len(compared), 'node')} that {fmt.agree(len(compared), 'was', 'were')} compared"
        if same == len(compared):
            return f"Compiled gives the same bits as eager in the {nodes}."
        same_bits = f"{fmt.number(same)} {fmt.agree(same, 'has', 'have')} the same bits"
        return f"Compiled is as right as eager in the {nodes}; {same_bits}."
    differing = sum(node.accuracy.same is False for node in compared if node.accuracy)
    of = f"{fmt.number(differing)} of {fmt.count(len(compared), 'node')} {fmt.agree(differing, 'differs', 'differ')}"
    called = f", `{calls[first.name]}`" if calls and first.name in calls else ""
    return f"{of}, first `{first.name}`{called}: {error_words(first.accuracy)}."


def node_words(graph: GraphNumerics, name: str) -> str:
    """Return a node's accuracy in words, or why it was not compared; empty if neither is known."""
    node = next((node for node in graph.nodes if node.name == name), None)
    if node is None or node.accuracy is None:
        return f"not compared: {node.left_out}" if node is not None and node.left_out else ""
    return f"{node_standings(graph)[name]}: {error_words(node.accuracy)}"


def numerics_lines(report: Report) -> list[str]:
    """Return the accuracy of a run: a sentence for its results and one per graph; empty if not recorded."""
    run_numerics = numerics_of_results(report)
    graphs = [f"[{graph.compilation}] ".removeprefix("[] ") + graph_sentence(graph) for graph in report.graph_numerics]
    return [*([f"numerics: {numerics_sentence(run_numerics)}"] if run_numerics else []), *graphs]


def left_out_words(graph: GraphNumerics) -> str:
    """Return how many nodes were not compared, and why; empty if all nodes were compared."""
    reasons = Counter(node.left_out or "not reached" for node in graph.nodes if node.accuracy is None)
    listed = "; ".join(f"{reason} ({fmt.number(times)})" for reason, times in reasons.items())
    return f"{fmt.count(reasons.total(), 'node')} not compared: {listed}." if listed else ""


def outputs_words(graph: GraphNumerics) -> str:
    """Return whether adding node values changed the graph's own outputs, in words; empty without any."""
    if not graph.parts:
        return ""
    parts = fmt.count(graph.parts, "compilation")
    source = f"Compiled values are from {parts} with the compared nodes as additional outputs"
    if graph.changed is None:
        return f"{source}, which may change fusion."
    if graph.changed == 0:
        return f"{source}. The graph's own outputs are bit-identical."
    return f"{source}. The graph's own outputs changed by up to {fmt.number(graph.changed)} of their norm."


def bits_words(bits: BitComparison) -> str:
    """Return the result of a bit comparison in sentences, with the first differing value and the reason."""
    against = f"`{options_as_text(bits.changes)}`"
    if bits.problem:
        return f"Not compared bit by bit with {against}: {bits.problem}."
    values = fmt.count(bits.compared, "value")
    if not bits.different:
        return f"Equal bit by bit with {against}: {values} written by kernels compared.{_left_out(bits)}"
    first = first_difference(bits)
    differing = f"{fmt.number(bits.different)} of {values} {fmt.agree(bits.different, 'has', 'have')} other bits"
    return f"With {against}, {differing}. {_first_words(first) if first else ''}{_left_out(bits)}"


def _first_words(node: NodeBits) -> str:
    line = f" ({quoted(node.line, LONGEST_LINE)})" if node.line else ""
    kernel = quoted(node.kernel)
    if node.kernel != node.other_kernel:
        kernel = f"{kernel} and {quoted(node.other_kernel)}"
    begins = "They first differ" if node.source else "The first in order is"
    reason = f": {node.reason}" if node.reason else ", for an unknown reason" if node.source else ""
    return f"{begins} at {quoted(node.node)}{line}, written by {kernel}{reason}."


def _left_out(bits: BitComparison) -> str:
    """Return the values that were not compared, in words; empty if there are none."""
    names = ", ".join(map(quoted, bits.unmatched[:NAMED_SETTINGS]))
    more = (
        f" and {fmt.number(len(bits.unmatched) - NAMED_SETTINGS)} more" if len(bits.unmatched) > NAMED_SETTINGS else ""
    )
    written = f" Only one configuration writes {names}{more}." if names else ""
    large = f" {fmt.count(bits.too_large, 'value')} too large to compare." if bits.too_large else ""
    return f"{written}{large}"

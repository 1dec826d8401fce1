"""A compilation that called a custom backend: graph, calls, executions, code, backend output."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

from core.accelerator.backends import SHIPPED_BACKENDS
from core.analysis.backend import NODE_COLUMN, BackendRow, StripCell
from core.analysis.dynamo.recompiles import CallUse
from core.base import words as fmt
from core.graph.fx import source_path
from core.graph.overlays import annotation_name, annotations_of
from core.job import CompileJob
from core.report import (
    AnnotationTable,
    AnnotationText,
    BackendNode,
    Compilation,
    Execution,
    FxGraph,
    FxNode,
    Invocation,
    Payload,
    Report,
)
from core.views.blocks import Block, Code, Column, Listing, Table, paragraph
from core.views.fx_graph import GraphStages
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain
from core.views.texts import SourceView

MOST_NODES = 2_000  #: nodes of a graph that a backend received
MOST_ANNOTATIONS = 24  #: tables, and texts, of a backend to choose from
OUTSIDE, FAILED = "outside of the calls", "raised"
# `add = x + 1`, `relu: "f32[8]" = …` and `return (add,)` in `gm.code`.
ASSIGNED = re.compile(r"^\s*(\w+)(?:\s*:[^=]*)?\s*=(?!=)")
RETURNED = re.compile(r"^\s*return\b")
OWN_FILE = "backend.py"


@dataclass(frozen=True, slots=True)
class ExecutionBar:
    """An execution in the chart.

    `kind` is the entry of the legend: `call 3`, `outside of the calls`, or `raised`. `call` is None outside of
    the calls of the run. `hover` has the execution's time and tensors.
    """

    kind: str
    number: int
    call: int | None
    seconds: float
    is_failed: bool
    hover: tuple[str, str]


@dataclass(frozen=True)
class BackendCompilationView:
    """A compilation that called a backend; `name` is the name of its frame. Texts are plain.

    Executions are recorded at the end of a run, so a live run (`is_live`) has none yet.
    """

    report: Report
    row: BackendRow
    name: str
    is_live: bool = False

    overlay = annotation_name(0)
    no_code = "The code of this graph was not recorded."
    unparsed = (
        "The text of this graph was not parsed, so it cannot be drawn: it is not Python, or too long or too dense."
    )

    @property
    def compilation(self) -> Compilation:
        return self.row.compilation

    @property
    def id(self) -> str:
        return self.compilation.id

    @property
    def invocation(self) -> Invocation:
        """Last call of the backend."""
        return self.row.invocations[-1]

    @property
    def is_failed(self) -> bool:
        """True if the last call of the backend failed, so there is no callable to run."""
        return bool(self.invocation.problem)

    @property
    def cells(self) -> tuple[str, str, str, str]:
        """Frame, graph, seconds of the backend, and the returned object or the failure."""
        invocation, frame = self.invocation, self.compilation.frame
        at = f" · {frame.short}" if frame.file else ""
        graph = f"{fmt.count(node_count(invocation), 'node')}: {', '.join(invocation.inputs)}"
        return (
            one_line(f"{self.name}{at}", LONGEST_LINE),
            one_line(graph, LONGEST_LINE),
            seconds_of(self.row.invocations),
            one_line(invocation.problem or invocation.returned.replace("`", ""), LONGEST_LINE),
        )

    @property
    def marks(self) -> str:
        """Letter of each call of the run, as in the legend."""
        return "".join(LETTERS[cell.use] for cell in self.row.cells)

    @property
    def mark_texts(self) -> tuple[str, ...]:
        """Description of each call of the run."""
        return tuple(mark_text(cell, self._inputs.get(cell.call, "")) for cell in self.row.cells)

    @property
    def execution_count(self) -> str:
        """Number of executions in and outside of the calls, or the reason why it is unknown."""
        ran = self.row.ran
        if ran is None:
            return no_executions(self.is_failed, self.is_live)
        outside = f", {fmt.number(ran.measured)} outside of calls" if ran.measured else ""
        return f"{fmt.count(ran.calls, 'execution')}{outside}"

    @property
    def left(self) -> Iterator[Block]:
        """Nodes, calls, executions, and the tables that the backend reported."""
        yield self.node_table
        yield from paragraph(self.nodes_left_out, "quiet")
        yield from paragraph(self.execution_words, "quiet")
        if self.outside_s is not None:
            yield from paragraph(f"{self.outside_name}: {fmt.duration_s(self.outside_s)}", "quiet")
        yield from (self.call_table, self.execution_table)
        for table in self.tables:
            yield from paragraph(plain(table.label))
            yield table.block(table.label)
            yield from paragraph(table.left_out, "quiet")

    def right(self, read: Callable[[Payload], str]) -> Iterator[Block]:
        """Yield `gm.code`, the backend's file, and the texts that the backend reported."""
        source = self.source(None, SourceView(self.report, read).text)
        if self.code:
            yield Listing("gm.code", Code(self.code))
        if source is not None:
            yield Listing(source.title, Code(source.code, notes=tuple(source.notes.items())))
        for text in self.texts:
            yield Listing(text.label, Code(read(text.payload), text.language))

    @property
    def call_table(self) -> Table[StripCell]:
        """A row for each call that compiled or ran this compilation, with the reason, usually a guard."""
        inputs = self._inputs
        given: Column[StripCell] = Column("with", lambda cell: one_line(inputs.get(cell.call, ""), LONGEST_LINE))
        cells = [cell for cell in self.row.cells if cell.use]
        return Table(f"calls-{self.id}", (CALL_COLUMNS[0], given, *CALL_COLUMNS[1:]), cells)

    @cached_property
    def _inputs(self) -> dict[int, str]:
        return {call.index: call.inputs for call in self.report.calls}

    @cached_property
    def executions(self) -> tuple[Execution, ...]:
        """Recorded executions."""
        return tuple(execution for execution in self.report.executions if execution.compilation == self.id)

    @property
    def execution_words(self) -> str:
        """Sentence with the number of executions, and the number that were recorded."""
        ran, recorded = self.row.ran, len(self.executions)
        if ran is None:
            return "How often it ran was not recorded."
        if recorded >= ran.calls:
            listed = ""
        elif recorded:
            listed = f" Only the first {fmt.number(recorded)} {fmt.agree(recorded, 'is', 'are')} listed."
        else:
            listed = " No execution is listed."
        outside = f", and {fmt.count(ran.measured, 'time')} outside of them, for example while measuring"
        calls = f"{fmt.count(ran.calls, 'time')} in the calls of the run{outside if ran.measured else ''}"
        return f"The backend's callable ran {calls}.{listed}"

    @property
    def execution_bars(self) -> tuple[ExecutionBar, ...]:
        """Recorded executions as bars."""
        return tuple(map(_bar, self.executions))

    @property
    def outside_s(self) -> float | None:
        """Mean seconds of the executions outside of the calls; None if not all were recorded."""
        ran = self.row.ran
        in_calls = [execution.seconds for execution in self.executions if execution.call is not None]
        if ran is None or not ran.measured or len(in_calls) != ran.calls:
            return None
        return max(0.0, ran.seconds - sum(in_calls)) / ran.measured

    @property
    def outside_name(self) -> str:
        """Label of `outside_s` in the chart, with the number of executions, if any."""
        ran = self.row.ran
        return f"mean of {fmt.number(ran.measured)} outside of the calls" if ran and ran.measured else ""

    @property
    def execution_table(self) -> Table[Execution]:
        """Recorded executions, a row each."""
        return Table(f"ran-{self.id}", EXECUTION_COLUMNS, self.executions)

    @property
    def nodes(self) -> tuple[BackendNode, ...]:
        """Nodes of the backend's input graph."""
        return self.invocation.nodes

    @property
    def node_ids(self) -> list[str]:
        """Id of each node."""
        return [f"n:{node.name}" for node in self.nodes]

    @property
    def node_table(self) -> Table[BackendNode]:
        """A row for each of the first `MOST_NODES` nodes."""
        return Table(f"nodes-{self.id}", NODE_COLUMNS, self.nodes[:MOST_NODES])

    @property
    def node_text(self) -> str:
        """Nodes as text, in the format of `gm.graph.print_tabular()`."""
        head = tuple(column.name for column in NODE_COLUMNS)
        rows = [head, *((n.op, n.name, n.target, n.args, n.kwargs, ", ".join(n.users), n.value) for n in self.nodes)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        first, *lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(line.rstrip() for line in (first, "  ".join("-" * width for width in widths), *lines)) + "\n"

    @property
    def nodes_left_out(self) -> str:
        """Number of nodes without a row; empty without any."""
        more = self.invocation.left_out + max(0, len(self.nodes) - MOST_NODES)
        return f"{fmt.count(more, 'more node')} not shown." if more else ""

    @property
    def code(self) -> str:
        """Text of `gm.code`; empty if it was not recorded."""
        return self.invocation.code.strip("\n").rstrip()

    @property
    def code_links(self) -> dict[int, tuple[str, ...]]:
        """Line of `gm.code` → ids of the nodes that it defines or returns."""
        return code_links(self.code, self.nodes)

    def source(self, job: CompileJob | None, read: Callable[[str], str]) -> BackendSource | None:
        """Return the backend's own file, with the failure at its line; None if no such file is known.

        A logged file comes first, then the job's code, a built-in backend, and the model's file. `read` returns the
        text of a logged file.
        """
        title, text = _source(self.report, self.invocation, job, read)
        path, line = self.invocation.place or ("", 0)
        line = line if _file_name(path) == title else 0
        return BackendSource(title, text, {line: self.invocation.problem} if line else {}) if text else None

    @property
    def first_graph(self) -> FxGraph:
        """The graph to show without annotations: Dynamo's if it was recorded."""
        return GraphStages(self.compilation.graphs).first

    def annotated_graph(self, nodes_of: Callable[[FxGraph], tuple[FxNode, ...]]) -> FxGraph | None:
        """Return the last graph with nodes that a reported table names; None without such a graph.

        `nodes_of` reads the nodes of a graph. The last graph counts, since a backend's input graph and the graph made
        from it share node names.
        """
        for graph in reversed(self.compilation.graphs if self.report.told_tables else ()):
            if annotations_of(self.report, self.id, {node.name for node in nodes_of(graph)}):
                return graph
        return None

    @property
    def tables(self) -> tuple[BackendTable, ...]:
        """Tables reported for the compilation, and tables reported without a compilation."""
        tables = (table for table in self.report.told_tables if table.compilation in ("", self.id))
        return tuple(map(BackendTable, tables))[:MOST_ANNOTATIONS]

    @property
    def texts(self) -> tuple[BackendText, ...]:
        """Texts reported for the compilation, and texts reported without a compilation."""
        texts = (text for text in self.report.told_texts if text.compilation in ("", self.id))
        return tuple(map(BackendText, texts))[:MOST_ANNOTATIONS]


def node_count(invocation: Invocation) -> int:
    """Return the number of nodes of a backend's input graph."""
    return len(invocation.nodes) + invocation.left_out


def _bar(execution: Execution) -> ExecutionBar:
    kind = OUTSIDE if execution.call is None else f"call {fmt.number(execution.call)}"
    kind = FAILED if execution.problem else kind
    tensors = f"{', '.join(execution.inputs)} → {', '.join(execution.outputs)}"
    hover = (f"{kind}: {fmt.duration_s(execution.seconds)}", one_line(tensors, LONGEST_LINE))
    return ExecutionBar(kind, execution.number, execution.call, execution.seconds, bool(execution.problem), hover)


NODE_COLUMNS: tuple[Column[BackendNode], ...] = (
    Column("opcode", lambda node: node.op),
    Column("name", lambda node: one_line(node.name, LONGEST_NAME)),
    Column("target", lambda node: one_line(node.target, LONGEST_LINE)),
    Column("args", lambda node: one_line(node.args, LONGEST_LINE)),
    Column("kwargs", lambda node: "" if node.kwargs == "{}" else one_line(node.kwargs, LONGEST_LINE)),
    Column("users", lambda node: one_line(", ".join(node.users), LONGEST_LINE)),
    Column("value", lambda node: one_line(node.value, LONGEST_NAME)),
)
EXECUTION_COLUMNS: tuple[Column[Execution], ...] = (
    Column("execution", lambda ran: ran.number, fmt.number),
    Column("call", lambda ran: "–" if ran.call is None else fmt.number(ran.call)),
    Column("time", lambda ran: ran.seconds, fmt.duration_s),
    Column("given", lambda ran: one_line(", ".join(ran.inputs), LONGEST_LINE)),
    Column("returned", lambda ran: one_line(ran.problem or ", ".join(ran.outputs), LONGEST_LINE)),
)


def _cell(at: int, row: Sequence[str | int | float | None]) -> Any:
    cell = row[at]
    return one_line(cell, LONGEST_LINE) if isinstance(cell, str) else cell


@dataclass(frozen=True, slots=True)
class BackendTable:
    """A table that a backend reported."""

    table: AnnotationTable

    @property
    def label(self) -> str:
        """Title, or "without a title"."""
        return _label(self.table)

    @property
    def columns(self) -> list[str]:
        """Names of the columns, made distinct."""
        names = [one_line(name, LONGEST_NAME) or f"column {at}" for at, name in enumerate(self.table.columns, 1)]
        return [name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)]

    def block(self, name: str) -> Table[Sequence[str | int | float | None]]:
        """Return the table under a name."""
        kinds = [{type(row[at]) for row in self.table.rows} for at in range(len(self.columns))]
        units = [str if kind & {str, bool} else fmt.number for kind in kinds]
        columns = (Column(name, partial(_cell, at), units[at]) for at, name in enumerate(self.columns))
        return Table(name, tuple(columns), self.table.rows)

    @property
    def node_ids(self) -> list[str] | None:
        """Id of each row's node; None without a column `node`."""
        if NODE_COLUMN not in self.table.columns:
            return None
        at = self.table.columns.index(NODE_COLUMN)
        return [f"n:{row[at]}" for row in self.table.rows]

    @property
    def left_out(self) -> str:
        """Number of rows that were not recorded; empty without any."""
        return f"{fmt.count(self.table.left_out, 'more row')} not shown." if self.table.left_out else ""


@dataclass(frozen=True, slots=True)
class BackendText:
    """A text that a backend reported."""

    text: AnnotationText

    @property
    def label(self) -> str:
        """Title, or "without a title"."""
        return _label(self.text)

    @property
    def title(self) -> str:
        """Title in one line; empty without one."""
        return one_line(self.text.title, LONGEST_LINE)

    @property
    def language(self) -> str:
        """Language of its code."""
        return self.text.language

    @property
    def payload(self) -> Payload:
        """Place of the text in the log."""
        return self.text.text


def _label(annotation: AnnotationTable | AnnotationText) -> str:
    return one_line(annotation.title, LONGEST_NAME) or "without a title"


@dataclass(frozen=True, slots=True)
class BackendSource:
    """A file that defines a backend, with its notes by line."""

    title: str
    code: str
    notes: dict[int, str]


def code_links(text: str, nodes: Sequence[BackendNode]) -> dict[int, tuple[str, ...]]:
    """Return line of `gm.code` → ids of its nodes.

    An assignment has the node that it computes, `def forward` the placeholders, `return` the output.
    """
    names = {node.name for node in nodes}
    ends = {kind: tuple(f"n:{n.name}" for n in nodes if n.op == kind) for kind in ("placeholder", "output")}
    links: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        assigned = ASSIGNED.match(line)
        if assigned and assigned[1] in names:
            links[number] = (f"n:{assigned[1]}",)
        elif RETURNED.match(line):
            links[number] = ends["output"]
        elif line.startswith("def forward"):
            links[number] = ends["placeholder"]
    return links


def _source(
    report: Report, invocation: Invocation, job: CompileJob | None, read: Callable[[str], str]
) -> tuple[str, str]:
    """Return the title and the text of the backend's code, a logged file first; empty if unknown."""
    logged = [source.path for source in report.sources]
    if invocation.place and invocation.place[0] in logged:
        return _file_name(invocation.place[0]), read(invocation.place[0])
    if job is None:
        return "", ""
    options = job.compile
    own = OWN_FILE if options.backend_code else f"{options.backend}.py"
    path = next((path for path in logged[1:] if _file_name(path) == own), "")
    if path:
        return own, read(path)
    if options.backend_code:
        return own, options.backend_code
    if options.backend in SHIPPED_BACKENDS:
        return own, SHIPPED_BACKENDS[options.backend].path.read_text(encoding="utf-8")
    return _model_source(report, invocation.backend, read)


def _model_source(report: Report, backend: str, read: Callable[[str], str]) -> tuple[str, str]:
    """Return the model's file if it defines the backend: a function, a class or a variable with its name."""
    path = source_path(report)
    text, name = read(path), re.escape(backend)
    is_defined = re.search(rf"^(def|class) {name}\b|^{name}\s*[:=]", text, re.MULTILINE)
    return (_file_name(path), text) if is_defined else ("", "")


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


LETTERS: dict[CallUse, str] = {"compiled": "g", "failed": "f", "used": "r", "unknown": "?", "": " "}
LEGEND = {
    "g": "new compilation: the call passed its graph to the backend",
    "f": "new compilation: the backend failed",
    "r": "guards passed: the returned callable ran again",
    "?": "not recorded whether it ran",
}
USES: dict[CallUse, str] = {
    "compiled": "the backend received the graph",
    "failed": "the backend failed",
    "used": "ran again",
    "unknown": fmt.NOT_RECORDED,
    "": "",
}
NEVER, LATER = "none", "recorded at the end of the run"


def seconds_of(records: Sequence[Invocation] | Sequence[Execution]) -> str:
    """Return the total seconds of calls or executions."""
    return fmt.duration_s(sum(record.seconds for record in records))


def no_executions(is_failed: bool, is_live: bool) -> str:
    """Return the text for a missing execution count: none, recorded later, or not recorded."""
    if is_failed:
        return NEVER
    return LATER if is_live else fmt.NOT_RECORDED


def mark_text(cell: StripCell, inputs: str) -> str:
    """Return the text of a cell of the strip: how the call used the compilation."""
    parts = [LEGEND.get(LETTERS[cell.use], ""), cell.because.replace("`", ""), _cell_executions(cell)]
    words = "; ".join(filter(None, parts)) or "not of this compilation"
    call = f"call {cell.call} with {inputs}" if inputs else f"call {cell.call}"
    return one_line(f"{call}: {words}", LONGEST_LINE * 2)


def _cell_executions(cell: StripCell) -> str:
    if not cell.executions:
        return ""
    return f"{fmt.count(len(cell.executions), 'execution')}, {seconds_of(cell.executions)}"


CALL_COLUMNS: tuple[Column[StripCell], ...] = (
    Column("call", lambda cell: fmt.number(cell.call)),
    Column("what became of it", lambda cell: USES[cell.use]),
    Column("why", lambda cell: one_line(cell.because.replace("`", ""), LONGEST_LINE)),
    Column("executions", _cell_executions),
)

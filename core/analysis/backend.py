"""Backends of a run: graphs, executions, problems, reported node values, and AOTAutograd's metadata.

`backend_rows` has a cell for each compilation and call: whether the call compiled or reused the code, and which guard
decided. `backend_sentence` counts graphs and executions in words. `node_values` are a backend's reported values that
color nodes.

`graph_metadata` parses torch's text of a dataclass: `ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True,
mutates_data=…), …], output_info=[OutputAliasInfo(output_type=<OutputType.non_alias: 1>, …, base_idx=None, …), …], …)`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from core.analysis.dynamo.recompiles import CallUse, call_uses, failed_guard, recompile_edge
from core.base.words import NOT_RECORDED, agree, count, duration_s, number
from core.report import AnnotationTable, Call, Compilation, Execution, Executions, Guard, Invocation, Report

__all__ = [
    "NODE_COLUMN",
    "BackendProblem",
    "BackendRow",
    "NodeValues",
    "StripCell",
    "backend_lines",
    "backend_problems",
    "backend_rows",
    "backend_sentence",
    "backends_called",
    "node_values",
    "problem_words",
    "requested_backend",
    "strip_words",
]
INDUCTOR = "inductor"
MOST_PROBLEM_CHARS = 200  #: a backend's problem in a sentence
MOST_LINES = 50  #: compilations, calls, problems or tables of a backend on the command line
NODE_COLUMN = "node"
SCRIPT_WITHOUT_BACKEND = "The script gave no callable to torch.compile, so no backend was called."
CellValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class StripCell:
    """Relation of a call to a compilation: its use (compiled, reused …), its executions, and the reason.

    `because` is the reason as prose with code in backticks. For reused code, `guard` is the guard that passed in
    this call and failed in another call. For a compiled call, `guard` is the failed guard of the compilation
    `failed`, which could not be reused.
    """

    call: int
    use: CallUse
    executions: tuple[Execution, ...] = ()
    because: str = ""
    guard: Guard | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A compilation that called a backend, with one cell per call of the run.

    `ran` is the total executions of the result; None if not recorded.
    """

    compilation: Compilation
    cells: tuple[StripCell, ...]
    ran: Executions | None

    @property
    def invocations(self) -> tuple[Invocation, ...]:
        """Calls of a backend, in order."""
        return self.compilation.invocations


@dataclass(frozen=True, slots=True)
class BackendProblem:
    """An error in a backend's result, or an exception raised by the backend.

    `execution` is None if the error occurred at compile time.
    """

    compilation: str
    backend: str
    words: str
    place: tuple[str, int] | None = None
    execution: Execution | None = None


def requested_backend(report: Report) -> str:
    """Return the backend of the job, or of a script's first entry point; empty for an imported log."""
    if report.script is not None:
        return next((entry.backend for entry in report.script.entries), "")
    options = (report.setting.job or {}).get("compile")
    name = options.get("backend") if isinstance(options, dict) else ""
    return name if isinstance(name, str) else ""


def backends_called(report: Report) -> tuple[str, ...]:
    """Return the backends that were called, each once, in log order."""
    names = (invocation.backend for compilation in report.compilations for invocation in compilation.invocations)
    return tuple(dict.fromkeys(names))


def backend_rows(report: Report) -> tuple[BackendRow, ...]:
    """Return the strip: a row for each compilation that called a backend other than `inductor`."""
    uses = call_uses(report)
    ran = {execution.compilation: execution for execution in report.ran}
    executions: dict[tuple[str, int | None], list[Execution]] = {}
    for execution in report.executions:
        executions.setdefault((execution.compilation, execution.call), []).append(execution)
    return tuple(
        BackendRow(
            compilation,
            tuple(
                _cell(report, compilation, call.index, use, tuple(executions.get((compilation.id, call.index), ())))
                for call, use in zip(report.calls, uses.get(compilation.id, ()), strict=False)
            ),
            ran.get(compilation.id),
        )
        for compilation in report.compilations
        if compilation.invocations
    )


def _cell(
    report: Report, compilation: Compilation, call: int, use: CallUse, executions: tuple[Execution, ...]
) -> StripCell:
    """Return the cell of one call; a recorded execution proves use where Dynamo's cache order doesn't."""
    use = "used" if executions and use in ("", "unknown") else use
    if use in ("compiled", "failed"):
        return _compiled_cell(report, compilation, call, use, executions)
    if use != "used":
        return StripCell(call, use, executions)
    failed = next((reason for reason in report.recompiles if reason.failed == compilation.id), None)
    if failed is None:
        guards = count(len(compilation.guards), "guard") if compilation.guards else "guards"
        return StripCell(call, use, executions, f"its {guards} held")
    failing_call = "another call" if failed.call is None else f"call {failed.call}"
    because = f"the guard held that {failing_call} failed: `{_first_line(failed.reason)}`"
    return StripCell(call, use, executions, because, failed_guard(failed, compilation.guards))


def _compiled_cell(
    report: Report, compilation: Compilation, call: int, use: CallUse, executions: tuple[Execution, ...]
) -> StripCell:
    edge = recompile_edge(report, compilation)
    if edge is None:
        return StripCell(call, use, executions, "there was no code for it yet")
    because = f"[{edge.reason.failed}] could not be used: `{_first_line(edge.reason.reason)}`"
    return StripCell(call, use, executions, because, edge.guard, edge.reason.failed)


def _first_line(text: str) -> str:
    return text.split("\n")[0]


def backend_problems(report: Report) -> tuple[BackendProblem, ...]:
    """Return the problems of backend invocations, followed by the problems of executions."""
    invoked = [
        (compilation.id, invocation) for compilation in report.compilations for invocation in compilation.invocations
    ]
    names = {compilation: invocation.backend for compilation, invocation in reversed(invoked)}
    at_compile = (
        BackendProblem(compilation, invocation.backend, invocation.problem, invocation.place)
        for compilation, invocation in invoked
        if invocation.problem
    )
    at_run = (
        BackendProblem(
            execution.compilation, names.get(execution.compilation, ""), execution.problem, execution=execution
        )
        for execution in report.executions
        if execution.problem
    )
    return (*at_compile, *at_run)


def backend_sentence(report: Report) -> str:
    """Return the backend summary of a run in one sentence: graphs, executions, and the first problem."""
    names, rows = backends_called(report), backend_rows(report)
    if not names:
        return _no_graph_words(report)
    graphs = sum(len(row.invocations) for row in rows)
    received = f"{_name_list(names)} received {count(graphs, 'graph')}"
    problems = backend_problems(report)
    if problems and problems[0].execution is None:
        return f"{received}, and {problem_words(problems[0])}."
    ran = _execution_words(rows, graphs, report.calls)
    summary = "; ".join(filter(None, [received, ran, _reuse_words(rows, report.calls) if ran else ""]))
    return f"{summary}; {problem_words(problems[0])}." if problems else f"{summary}."


def strip_words(report: Report) -> str:
    """Return the strip in numbers: "2 calls, 1 invocation, 2 executions"."""
    rows = backend_rows(report)
    executions = sum(row.ran.calls for row in rows if row.ran)
    ran = count(executions, "execution") if _has_executions(rows) else f"executions {NOT_RECORDED}"
    return ", ".join([count(len(report.calls), "call"), count(_invocation_count(rows), "invocation"), ran])


def backend_lines(report: Report) -> Iterator[str]:
    """Yield every record of a backend other than `inductor`, one per line; nothing without such records."""
    rows = backend_rows(report)
    if not rows:
        return
    yield backend_sentence(report)
    yield f"  {strip_words(report)}"
    for row in rows[:MOST_LINES]:
        yield from _row_lines(row)
    for problem in backend_problems(report)[:MOST_LINES]:
        place = f" at {problem.place[0]}:{problem.place[1]}" if problem.place else ""
        yield f"  [{problem.compilation}] `{problem.backend}` {problem_words(problem)}{place}"
    for table in report.told_tables[:MOST_LINES]:
        yield f"  [{table.compilation}] reported {table.title!r}: {count(len(table.rows) + table.left_out, 'row')}"
    for text in report.told_texts[:MOST_LINES]:
        yield f"  [{text.compilation}] reported {text.title!r}"


def _no_graph_words(report: Report) -> str:
    backend = requested_backend(report)
    if report.script is not None and not backend:
        return SCRIPT_WITHOUT_BACKEND
    if not backend:
        return "No backend call was recorded: an imported log does not contain them."
    if backend == INDUCTOR:
        return "The backend was `inductor`."
    return f"`{backend}` received no graph."


def _name_list(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def problem_words(problem: BackendProblem) -> str:
    """Return a problem in words of limited length: "execution 0 raised TypeError: …"."""
    words = " ".join(problem.words.split())
    words = words if len(words) <= MOST_PROBLEM_CHARS else f"{words[:MOST_PROBLEM_CHARS]} …"
    return words if problem.execution is None else f"execution {number(problem.execution.number)} {words}"


def _invocation_count(rows: Sequence[BackendRow]) -> int:
    return sum(len(row.invocations) for row in rows)


def _has_executions(rows: Sequence[BackendRow]) -> bool:
    return any(row.ran for row in rows)


def _execution_words(rows: Sequence[BackendRow], graphs: int, calls: Sequence[Call]) -> str:
    pronoun = agree(graphs, "it", "them")
    if not _has_executions(rows):
        return f"executions {NOT_RECORDED}"
    times = sum(row.ran.calls for row in rows if row.ran)
    if not times:
        return f"no call ran {pronoun}"
    return f"executed {count(times, 'time')} in {count(len(calls), 'call')}" if calls else ""


def _reuse_words(rows: Sequence[BackendRow], calls: Sequence[Call]) -> str:
    """Return which calls compiled nothing, in words; empty for a script, and with fewer than two calls."""
    compiling = {row.compilation.call for row in rows}
    compiled = [call.index for call in calls if call.index in compiling or call.compilations]
    quiet = len(calls) - len(compiled)
    if len(calls) < 2 or calls[0].entry is not None:
        return ""
    if not quiet:
        return "each call compiled"
    if len(calls) == 2:
        return f"the {'second' if compiled == [calls[0].index] else 'first'} compiled nothing"
    if compiled == [calls[0].index]:
        return f"the {number(quiet)} after the first compiled nothing"
    return f"{count(quiet, 'call')} compiled nothing"


def _row_lines(row: BackendRow) -> Iterator[str]:
    for invocation in row.invocations:
        yield f"  [{row.compilation.id}] {_invocation_words(row.compilation, invocation)}"
    if row.ran:
        measured = f" and {count(row.ran.measured, 'time')} beside them" if row.ran.measured else ""
        yield f"    ran {count(row.ran.calls, 'time')} in calls{measured}, {duration_s(row.ran.seconds)} in all"
    for cell in row.cells[:MOST_LINES]:
        if cell.use:
            yield f"    call {number(cell.call)}: {cell.use}" + (f", since {cell.because}" if cell.because else "")


def _invocation_words(compilation: Compilation, invocation: Invocation) -> str:
    ops = Counter(node.op for node in invocation.nodes)
    more = f" and {number(invocation.left_out)} more" if invocation.left_out else ""
    kinds = ", ".join(f"{number(occurrences)} {op}" for op, occurrences in ops.items())
    inputs = f" with {', '.join(invocation.inputs)}" if invocation.inputs else ""
    returned = f"; returned {invocation.returned}" if invocation.returned else ""
    took = duration_s(invocation.seconds)
    nodes = f"{count(len(invocation.nodes), 'node')}{more} ({kinds})"
    return f"`{invocation.backend}` received {nodes}{inputs}{returned}, in {took}"


@dataclass(frozen=True, slots=True)
class NodeValues:
    """Node values from one column of a reported table: the column after `node`."""

    title: str
    column: str
    values: dict[str, CellValue]


def node_values(report: Report, compilation: str) -> tuple[NodeValues, ...]:
    """Return the node values of a compilation's reported tables.

    For a node with several rows, the first row counts.
    """
    tables = (table for table in report.told_tables if table.compilation == compilation)
    return tuple(_column_values(table) for table in tables if NODE_COLUMN in table.columns[:-1])


def _column_values(table: AnnotationTable) -> NodeValues:
    at = table.columns.index(NODE_COLUMN)
    values: dict[str, CellValue] = {}
    for row in table.rows:
        if isinstance(name := row[at], str):
            values.setdefault(name, row[at + 1])
    return NodeValues(table.title, table.columns[at + 1], values)


INPUT = re.compile(r"InputAliasInfo\(([^()]*)\)")
OUTPUT = re.compile(r"OutputAliasInfo\(output_type=<OutputType\.(\w+)")
BASE = re.compile(r"\bbase_idx=(\d{1,9})\b")
TRUE = re.compile(r"(\w+)=True")
LIST = r"\b{}=\[([\d,\s]*)\]"
DONATED = re.compile(LIST.format("bw_donated_idxs"))
STATIC = re.compile(LIST.format("static_input_indices"))
MAX_CHARS = 4_000_000  #: characters of AOTAutograd's metadata
MAX_ITEMS = 20_000  #: inputs, results or indices in AOTAutograd's metadata


@dataclass(frozen=True, slots=True)
class GraphInput:
    """An input of AOTAutograd's graph; `mutates` is `data`, `metadata`, both, or empty.

    A static input keeps its address between calls, as parameters do.
    """

    mutates: str
    requires_grad: bool
    static: bool


@dataclass(frozen=True, slots=True)
class GraphOutput:
    """A result of the model, with torch's `OutputType`.

    `base` is the index of the input or intermediate that the result aliases; None without an alias.
    """

    kind: str
    base: int | None
    requires_grad: bool


@dataclass(frozen=True, slots=True)
class GraphMetadata:
    """Inputs and results of a graph; `donated` counts saved values whose memory the backward may reuse."""

    inputs: tuple[GraphInput, ...]
    outputs: tuple[GraphOutput, ...]
    donated: int


def graph_metadata(text: str) -> GraphMetadata:
    """Parse the metadata in torch's text; parts that the text does not contain are empty."""
    text = text[:MAX_CHARS]
    static = set(_numbers(text, STATIC))
    inputs = [
        _input(match[1], number in static)
        for number, match in zip(range(MAX_ITEMS), INPUT.finditer(text), strict=False)
    ]
    starts = [match for _, match in zip(range(MAX_ITEMS), OUTPUT.finditer(text), strict=False)]
    ends = [*(match.start() for match in starts[1:]), len(text)]
    outputs = [_output(match[1], text[match.end() : end]) for match, end in zip(starts, ends, strict=False)]
    return GraphMetadata(tuple(inputs), tuple(outputs), len(_numbers(text, DONATED)))


def _input(fields: str, static: bool) -> GraphInput:
    true = set(TRUE.findall(fields))
    mutates = [what for what in ("data", "metadata") if f"mutates_{what}" in true]
    return GraphInput(" and ".join(mutates), "requires_grad" in true, static)


def _output(kind: str, fields: str) -> GraphOutput:
    own = fields.partition("num_intermediate_bases=")[0]
    base = BASE.search(own)
    return GraphOutput(kind, int(base[1]) if base else None, "requires_grad=True" in own)


def _numbers(text: str, pattern: re.Pattern[str]) -> list[int]:
    match = pattern.search(text)
    return [int(number) for number in re.findall(r"\d{1,9}", match[1])][:MAX_ITEMS] if match else []

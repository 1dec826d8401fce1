"""Backends of a run: graphs, executions, problems, reported node values, and AOTAutograd's metadata.

`backend_rows` has a cell for each compilation and call: whether the call compiled or reused the code, and which guard
decided. `backend_sentence` counts graphs and executions in words. `node_values` are a backend's reported values that
color nodes.

`graph_metadata` parses torch's text of a dataclass: `ViewAndMutationMeta(input_info=[InputAliasInfo(is_leaf=True,
mutates_data=…), …], output_info=[OutputAliasInfo(output_type=<OutputType.non_alias: 1>, …, base_idx=None, …), …], …)`.
"""

import re
from dataclasses import dataclass

from core.analysis.dynamo.recompiles import CallUse, call_uses, failed_guard, recompile_edge
from core.base.words import count, number
from core.report import AnnotationTable, Compilation, Execution, Executions, Guard, Invocation, Report

INDUCTOR = "inductor"
MOST_PROBLEM_CHARS = 200  #: a backend's problem in a sentence
# A checkpoint's backward ends a recomputation by this exception as soon as it has what was saved.
STOPPED = "raised _StopRecomputationError"
NODE_COLUMN = "node"
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
        if execution.problem and not execution.problem.startswith(STOPPED)
    )
    return (*at_compile, *at_run)


def problem_words(problem: BackendProblem) -> str:
    """Return a problem in words of limited length: "execution 0 raised TypeError: …"."""
    words = " ".join(problem.words.split())
    words = words if len(words) <= MOST_PROBLEM_CHARS else f"{words[:MOST_PROBLEM_CHARS]} …"
    return words if problem.execution is None else f"execution {number(problem.execution.number)} {words}"


@dataclass(frozen=True, slots=True)
class NodeValues:
    """Node values from one column of a reported table: the column after `node`."""

    title: str
    column: str
    values: dict[str, CellValue]


def node_values(report: Report, compilation: str) -> tuple[NodeValues, ...]:
    """Return the node values of a compilation's reported tables, for each node those of its first row."""
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

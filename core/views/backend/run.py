"""Backend page: backend calls of a run, and the backend contract with its counts; texts are Markdown."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

from core.analysis.backend import (
    BackendProblem,
    BackendRow,
    backend_problems,
    backend_rows,
    backends_called,
    problem_words,
    requested_backend,
)
from core.analysis.dynamo.failures import frame_names
from core.base import words as fmt
from core.base.words import NOT_RECORDED
from core.report import Call, Compilation, Invocation, Payload, Place, Report
from core.sweep.presets import BackendFact
from core.views.backend.compilation import LEGEND, BackendCompilationView, no_executions, node_count, seconds_of
from core.views.blocks import Beside, Column, Data, Drawn, InLine, PageBlock, PageLink, Table, Title, paragraph, spans
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_NAME, LONGEST_TEXT, code, one_line, prose

INDUCTOR = "inductor"
# Parts that the page draws: backends to run, the picture of the contract, and panes of a compilation.
OFFER, CONTRACT, LEFT, RIGHT = "offer", "contract", "left", "right"
MOST_PROBLEMS = 3  #: problems of a backend that are listed


MOST_LINES = 50  #: compilations, calls, problems or tables of a backend on the command line
SCRIPT_WITHOUT_BACKEND = "The script gave no callable to torch.compile, so no backend was called."


def backend(
    report: Report, compilation: Compilation | None, read: Callable[[Payload], str], is_live: bool = False
) -> Iterator[PageBlock]:
    """Yield the backend calls of a run: problems, the contract with counts, and one compilation."""
    view = BackendView(report, is_live)
    yield Title(spans(view.title), GLOSSARY["backend"])
    if not view.rows:
        yield from paragraph(view.contract)
        yield from paragraph(view.missing)
        if view.is_inductor:
            yield InLine((PageLink("fx_graph"), PageLink("kernels")))
        yield Drawn(OFFER)
        return
    for problem in view.problems:
        yield from paragraph(problem, "bad")
    yield from paragraph(view.more_problems, "quiet")
    shown = view.of(compilation)
    stations = Table("contract", STATION_COLUMNS, view.stations)
    compilations = Table("compilations", COMPILATION_COLUMNS, view.compilations)
    yield Drawn(CONTRACT, (stations, compilations), (view, shown.id))
    left, right = tuple(shown.left), tuple(shown.right(read))
    yield Beside((Drawn(LEFT, left, (shown,)),), (Drawn(RIGHT, right, (shown,)),), shares=(3, 2))
    yield InLine((Data("backend", view.rows),))


@dataclass(frozen=True, slots=True)
class ContractStation:
    """A step of the backend contract: its title, its code, and this run's count."""

    name: str
    code: str
    number: str
    is_bad: bool = False


@dataclass(frozen=True)
class BackendView:
    """The backend calls of a run.

    Executions are recorded at the end of a run, so a live run (`is_live`) has none yet.
    """

    report: Report
    is_live: bool = False

    built_in_note = "Each is one file that you can read and change."
    contract = (
        "A backend is a callable `(gm, example_inputs)` that returns a callable. Dynamo captures a frame as a graph "
        "and passes it to the backend once. Each call whose guards pass runs the returned callable."
    )
    once, always = "once for each graph", "at each call whose guards pass"
    legend = LEGEND

    @property
    def title(self) -> str:
        """Numbers of graphs and of their executions, and the first failure."""
        return prose(backend_sentence(self.report))

    @cached_property
    def rows(self) -> tuple[BackendRow, ...]:
        """Compilations that called a backend, each with the calls of the run."""
        return backend_rows(self.report)

    @property
    def is_inductor(self) -> bool:
        """True if the job, or the first entry point of a script, names the backend `inductor`."""
        return requested_backend(self.report) == INDUCTOR

    @property
    def missing(self) -> str:
        """Reason why no backend call was recorded."""
        if self.is_inductor:
            return "Inductor received the Dynamo graph and generated kernels."
        backend = requested_backend(self.report)
        if self.report.script is not None and not backend:
            return "AOTAutograd and Inductor can also be called without torch.compile; *FX graph* shows their graphs."
        if not backend:
            return "Not recorded: only Compileboard runs record the graphs that a backend receives."
        return f"{code(backend)} received no graph, or its calls were not recorded."

    @property
    def problems(self) -> list[str]:
        """First failures of the backend or of its compiled code."""
        return [_problem(problem) for problem in backend_problems(self.report)[:MOST_PROBLEMS]]

    @property
    def more_problems(self) -> str:
        """Number of further failures; empty without any."""
        more = len(backend_problems(self.report)) - MOST_PROBLEMS
        return f"{fmt.count(more, 'more problem')} of this kind." if more > 0 else ""

    @cached_property
    def compilations(self) -> tuple[BackendCompilationView, ...]:
        """Compilations that called a backend, in log order."""
        names = frame_names(self.report)
        return tuple(
            BackendCompilationView(
                self.report, row, names.get(row.compilation.id, row.compilation.frame.name), self.is_live
            )
            for row in self.rows
        )

    def of(self, compilation: Compilation | None) -> BackendCompilationView:
        """Return the view of a compilation; the first view if the compilation called no backend."""
        compile_id = compilation.id if compilation is not None else None
        return next((view for view in self.compilations if view.id == compile_id), self.compilations[0])

    @property
    def stations(self) -> tuple[ContractStation, ...]:
        """Steps from a frame to the executions of its compiled code, with counts over all compilations."""
        invocations = [invocation for row in self.rows for invocation in row.invocations]
        failures = sum(bool(invocation.problem) for invocation in invocations)
        nodes = fmt.count(sum(map(node_count, invocations)), "node")
        returned = fmt.count(len(invocations) - failures, "callable")
        result = f"{returned}, {fmt.number(failures)} failed" if failures else returned
        graphs = f"{fmt.count(len(invocations), 'graph')}, {nodes}"
        called = f"called {fmt.count(len(invocations), 'time')}, {seconds_of(invocations)}"
        return (
            ContractStation("Dynamo", "captures a frame", fmt.count(len(self.rows), "compilation")),
            ContractStation("graph", "a GraphModule, and tensors", graphs),
            ContractStation(_names(invocations), "(gm, example_inputs)", called, failures > 0),
            ContractStation("callable", "compiled_fn", result, failures > 0),
            ContractStation("executions", "compiled_fn(*inputs)", self._executions),
        )

    @property
    def _executions(self) -> str:
        if all(row.ran is None for row in self.rows):
            return no_executions(all(view.is_failed for view in self.compilations), self.is_live)
        executions = sum(row.ran.calls for row in self.rows if row.ran)
        return f"{fmt.number(executions)} in {fmt.count(len(self.report.calls), 'call')}"


def _problem(problem: BackendProblem) -> str:
    at = f" at {code(Place(*problem.place).short)}" if problem.place else ""
    when = "" if problem.execution is None else f", execution {fmt.number(problem.execution.number)}"
    return f"\\[{problem.compilation}\\]{when}: {code(problem.backend)} {prose(problem.words, LONGEST_TEXT)}{at}"


def _names(invocations: Sequence[Invocation]) -> str:
    return one_line(", ".join(dict.fromkeys(invocation.backend for invocation in invocations)), LONGEST_NAME)


def _cell(at: int, view: BackendCompilationView) -> str:
    return view.cells[at]


STATION_COLUMNS: tuple[Column[ContractStation], ...] = (
    Column("step", lambda station: station.name),
    Column("code", lambda station: station.code),
    Column("count", lambda station: station.number),
)
COMPILATION_COLUMNS: tuple[Column[BackendCompilationView], ...] = (
    Column("id", lambda view: view.id),
    *(Column(name, partial(_cell, at)) for at, name in enumerate(("frame", "graph", "backend took", "returned"))),
    Column("ran", lambda view: view.execution_count),
)


def backend_sentence(report: Report) -> str:
    """Return the backend summary of a run in one sentence: graphs, executions, and the first problem."""
    names, rows = backends_called(report), backend_rows(report)
    if not names:
        return _no_graph_words(report)
    graphs = sum(len(row.invocations) for row in rows)
    quoted = fmt.word_list([f"`{name}`" for name in names])
    received = f"{quoted} received {fmt.count(graphs, 'graph')}"
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
    ran = fmt.count(executions, "execution") if _has_executions(rows) else f"executions {NOT_RECORDED}"
    invocations = sum(len(row.invocations) for row in rows)
    return ", ".join([fmt.count(len(report.calls), "call"), fmt.count(invocations, "invocation"), ran])


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
        yield f"  [{table.compilation}] reported {table.title!r}: {fmt.count(len(table.rows) + table.left_out, 'row')}"
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


def _has_executions(rows: Sequence[BackendRow]) -> bool:
    return any(row.ran for row in rows)


def _execution_words(rows: Sequence[BackendRow], graphs: int, calls: Sequence[Call]) -> str:
    pronoun = fmt.agree(graphs, "it", "them")
    if not _has_executions(rows):
        return f"executions {NOT_RECORDED}"
    times = sum(row.ran.calls for row in rows if row.ran)
    if not times:
        return f"no call ran {pronoun}"
    return f"executed {fmt.count(times, 'time')} in {fmt.count(len(calls), 'call')}" if calls else ""


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
        return f"the {fmt.number(quiet)} after the first compiled nothing"
    return f"{fmt.count(quiet, 'call')} compiled nothing"


def _row_lines(row: BackendRow) -> Iterator[str]:
    for invocation in row.invocations:
        yield f"  [{row.compilation.id}] {_invocation_words(row.compilation, invocation)}"
    if row.ran:
        measured = f" and {fmt.count(row.ran.measured, 'time')} beside them" if row.ran.measured else ""
        yield f"    ran {fmt.count(row.ran.calls, 'time')} in calls{measured}, {fmt.duration_s(row.ran.seconds)} in all"
    for cell in row.cells[:MOST_LINES]:
        if cell.use:
            yield f"    call {fmt.number(cell.call)}: {cell.use}" + (f", since {cell.because}" if cell.because else "")


def _invocation_words(compilation: Compilation, invocation: Invocation) -> str:
    ops = Counter(node.op for node in invocation.nodes)
    more = f" and {fmt.number(invocation.left_out)} more" if invocation.left_out else ""
    kinds = ", ".join(f"{fmt.number(occurrences)} {op}" for op, occurrences in ops.items())
    inputs = f" with {', '.join(invocation.inputs)}" if invocation.inputs else ""
    returned = f"; returned {invocation.returned}" if invocation.returned else ""
    took = fmt.duration_s(invocation.seconds)
    nodes = f"{fmt.count(len(invocation.nodes), 'node')}{more} ({kinds})"
    return f"`{invocation.backend}` received {nodes}{inputs}{returned}, in {took}"


def tried_lines(backends: Sequence[BackendFact]) -> Iterator[str]:
    """Yield the last stage and the purpose of each backend that was tried on `x.sin() + 1`, and a sum."""
    width = max(len(backend.name) for backend in backends)
    for backend in backends:
        tags = f" ({', '.join(backend.tags)})" if backend.tags else ""
        place = f", {backend.place}" if backend.place else ""
        yield f"{backend.name:<{width}}  " + (
            f"runs, up to {backend.stops}" if backend.runs else f"cannot run here: {backend.reason}"
        )
        yield f"{'':<{width}}  {backend.does or 'no description in torch'}{tags}{place}"
    ran = fmt.number(sum(backend.runs for backend in backends))
    yield f"{ran} of {fmt.count(len(backends), 'backend')} run `x.sin() + 1` here."

"""Number of graphs passed to a backend and of their executions, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from core.analysis.backend.strip import (
    BackendProblem,
    BackendRow,
    backend_problems,
    backend_rows,
    backends_called,
    requested_backend,
)
from core.base.words import NOT_RECORDED, agree, count, duration_s, number
from core.report import Call, Compilation, Invocation, Report

INDUCTOR = "inductor"
MOST_PROBLEM_CHARS = 200
MOST_LINES = 50


def backend_sentence(report: Report) -> str:
    """Return the backend summary of a run: graphs compiled by the backend, their executions, and the seconds taken."""
    names, rows = backends_called(report), backend_rows(report)
    if not names:
        return _no_graph_words(report)
    graphs = sum(len(row.invocations) for row in rows)
    received = f"{_name_list(names)} {agree(len(names), 'was', 'were')} given {count(graphs, 'graph')}"
    problems = backend_problems(report)
    if problems and problems[0].execution is None:
        return f"{received}, and {_problem_words(problems[0])}."
    ran = _execution_words(rows, graphs, report.calls)
    summary = "; ".join(filter(None, [received, ran, _reuse_words(rows, report.calls) if ran else ""]))
    return f"{summary}; {_problem_words(problems[0])}." if problems else f"{summary}."


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
        yield f"  [{problem.compilation}] `{problem.backend}` {_problem_words(problem)}{place}"
    for table in report.told_tables[:MOST_LINES]:
        yield f"  [{table.compilation}] told {table.title!r}: {count(len(table.rows) + table.left_out, 'row')}"
    for text in report.told_texts[:MOST_LINES]:
        yield f"  [{text.compilation}] told {text.title!r}"


def _no_graph_words(report: Report) -> str:
    backend = requested_backend(report)
    if not backend:
        return "No call of a backend is recorded: a log from elsewhere does not tell of them."
    if backend == INDUCTOR:
        return "The backend was `inductor`."
    return f"`{backend}` was given no graph."


def _name_list(names: Sequence[str]) -> str:
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def _problem_words(problem: BackendProblem) -> str:
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
        return f"how often that ran is {NOT_RECORDED}"
    times = sum(row.ran.calls for row in rows if row.ran)
    if not times:
        return f"no call ran {pronoun}"
    return f"{count(len(calls), 'call')} ran {pronoun} {count(times, 'time')}" if calls else ""


def _reuse_words(rows: Sequence[BackendRow], calls: Sequence[Call]) -> str:
    """Return which calls compiled nothing, in words; empty for a run with fewer than two calls."""
    compiling = {row.compilation.call for row in rows}
    compiled = [call.index for call in calls if call.index in compiling or call.compilations]
    quiet = len(calls) - len(compiled)
    if len(calls) < 2:
        return ""
    if not quiet:
        return "each of them compiled"
    if len(calls) == 2:
        return f"the {'second' if compiled == [calls[0].index] else 'first'} compiled nothing"
    if compiled == [calls[0].index]:
        return f"the {number(quiet)} after the first compiled nothing"
    return f"{number(quiet)} of them compiled nothing"


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
    return f"`{invocation.backend}` was given {nodes}{inputs}{returned}, in {took}"

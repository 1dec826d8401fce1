"""Backend invocations of each call: which call compiled, which reused compiled code, and which guard decided."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis.dynamo.recompiles import CallUse, call_uses, failed_guard, recompile_edge
from core.base.words import count
from core.report import Compilation, Execution, Executions, Guard, Invocation, Report


@dataclass(frozen=True, slots=True)
class StripCell:
    """Relation of a call to a compilation: compiled it, reused it, its `executions`, and the reason.

    `because` is the reason as prose with code in backticks. `guard` is the guard that decided: for reused code the
    guard that another call failed, otherwise the failed guard of the compilation `failed`, which could not be reused.
    """

    call: int
    use: CallUse
    executions: tuple[Execution, ...] = ()
    because: str = ""
    guard: Guard | None = None
    failed: str = ""


@dataclass(frozen=True, slots=True)
class BackendRow:
    """A compilation that called a backend, one cell per call of the run, and the total executions of its result.

    `ran` is None if executions were not recorded.
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
    """Return the backend that the job names; empty for an imported log."""
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

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
        """The calls of a backend, in order."""
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


def asked_backend(report: Report) -> str:
    """The backend that the job names; empty for a log from elsewhere."""
    asked = (report.setting.job or {}).get("compile")
    name = asked.get("backend") if isinstance(asked, dict) else ""
    return name if isinstance(name, str) else ""


def backends_called(report: Report) -> tuple[str, ...]:
    """The backends that are recorded to have been called, each once."""
    every = (made.backend for found in report.compilations for made in found.invocations)
    return tuple(dict.fromkeys(every))


def backend_rows(report: Report) -> tuple[BackendRow, ...]:
    """The strip, a row for each compilation that a backend other than `inductor` was called for."""
    uses = call_uses(report)
    ran = {found.compilation: found for found in report.ran}
    executions: dict[tuple[str, int | None], list[Execution]] = {}
    for execution in report.executions:
        executions.setdefault((execution.compilation, execution.call), []).append(execution)
    return tuple(
        BackendRow(
            found,
            tuple(
                _cell(report, found, call.index, use, tuple(executions.get((found.id, call.index), ())))
                for call, use in zip(report.calls, uses.get(found.id, ()), strict=False)
            ),
            ran.get(found.id),
        )
        for found in report.compilations
        if found.invocations
    )


def _cell(
    report: Report, compilation: Compilation, call: int, use: CallUse, executions: tuple[Execution, ...]
) -> StripCell:
    """Return the cell of one call; a recorded execution proves use where Dynamo's cache order doesn't."""
    use = "used" if executions and use in ("", "unknown") else use
    if use in ("compiled", "failed"):
        return _made(report, compilation, call, use, executions)
    if use != "used":
        return StripCell(call, use, executions)
    failed = next((reason for reason in report.recompiles if reason.failed == compilation.id), None)
    if failed is None:
        held = count(len(compilation.guards), "guard") if compilation.guards else "guards"
        return StripCell(call, use, executions, f"its {held} held")
    other = "another call" if failed.call is None else f"call {failed.call}"
    because = f"the guard held that {other} failed: `{_first_line(failed.reason)}`"
    return StripCell(call, use, executions, because, failed_guard(failed, compilation.guards))


def _made(
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
    made = [(found.id, one) for found in report.compilations for one in found.invocations]
    names = {compilation: one.backend for compilation, one in reversed(made)}
    at_once = (BackendProblem(where, one.backend, one.problem, one.place) for where, one in made if one.problem)
    later = (
        BackendProblem(one.compilation, names.get(one.compilation, ""), one.problem, execution=one)
        for one in report.executions
        if one.problem
    )
    return (*at_once, *later)

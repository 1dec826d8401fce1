"""Contents of a run by page: counts for the menu, and the reason for each page that is empty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.analysis import target_words, verdict
from core.analysis.backend import requested_backend
from core.report import Compilation, Report
from core.views.markdown import LONGEST_NAME, one_line

INDUCTOR, ACCELERATOR = "inductor", "accelerator"
NO_RECORD = "The run recorded nothing"
NO_CALL = "No call was recorded"
NOT_RUN = "The code was generated for a device that is not here, and not run"
ENDED = "The run ended before it was measured"


@dataclass(frozen=True, slots=True)
class PageContent:
    """A page's content in a run: the number of its rows, and the reason if it is empty, in plain text."""

    count: int | None = None
    why_empty: str = ""


def page_contents(report: Report | None, *, live: bool) -> dict[str, PageContent]:
    """Return the content of each page that shows a run, by the page's name; `report` is None if it recorded nothing.

    A live run has its counts so far; no page of it counts as empty, since more will be recorded.
    """
    if report is None:
        return {} if live else dict.fromkeys(WHY_EMPTY, PageContent(why_empty=NO_RECORD))
    counts = _counts(report)
    reasons = {} if live else {name: why(report) for name, why in WHY_EMPTY.items()}
    return {name: PageContent(counts.get(name), reasons.get(name, "")) for name in WHY_EMPTY}


def _counts(report: Report) -> dict[str, int]:
    """Return the numbers of the verdict, so that the menu and the header agree."""
    summary = verdict(report)
    return {
        "compilations": len(report.compilations),
        "graph_breaks": summary.breaks,
        "recompiles": summary.recompiles,
        "kernels": summary.work.kernels or 0,
    }


def _unless(present: Callable[[Report], object], reason: str) -> Callable[[Report], str]:
    return lambda report: "" if present(report) else reason


def _unless_any(present: Callable[[Compilation], object], reason: str) -> Callable[[Report], str]:
    return lambda report: "" if any(map(present, report.compilations)) else reason


def _unless_inductor(present: Callable[[Compilation], object], reason: str) -> Callable[[Report], str]:
    """Return a check of all compilations; the reason is the backend if the run requested another one than Inductor."""

    def why_empty(report: Report) -> str:
        if any(map(present, report.compilations)):
            return ""
        return _unlike_backend(report, INDUCTOR) or reason

    return why_empty


def _unlike_backend(report: Report, backend: str) -> str:
    used = requested_backend(report)
    return f"The backend was {one_line(used, LONGEST_NAME)}" if used not in ("", backend) else ""


def _no_invocations(report: Report) -> str:
    if any(compilation.invocations for compilation in report.compilations):
        return ""
    if requested_backend(report) == INDUCTOR:
        return "The backend was inductor"
    return "The backend was given no graph" if requested_backend(report) else "No call of a backend was recorded"


def _no_pipelines(report: Report) -> str:
    if any(compilation.pipelines for compilation in report.compilations):
        return ""
    return _unlike_backend(report, ACCELERATOR) or "The accelerator was given no graph"


def _not_measured(report: Report, reason: str) -> str:
    """Return the reason why a run lacks a measurement: `reason`, unless it could not be measured at all."""
    if target_words(report):
        return NOT_RUN
    if not report.calls:
        return NO_CALL
    return ENDED if report.error is not None else reason


def _no_speed(report: Report) -> str:
    return "" if report.timing else _not_measured(report, 'This run was not measured: tick "measure"')


def _no_memory(report: Report) -> str:
    """Return why memory is missing; a run with kernels always has Inductor's memory plan."""
    if report.memory or any(compilation.kernels for compilation in report.compilations):
        return ""
    return _not_measured(report, 'Memory was not measured: tick "measure memory"')


def _no_numerics(report: Report) -> str:
    if report.call_numerics or report.graph_numerics:
        return ""
    return _not_measured(report, 'Results were not compared with float64: choose "compare with float64"')


def _has_backward(compilation: Compilation) -> bool:
    return bool(compilation.partitions) or any(graph.stage == "aot_backward_graph" for graph in compilation.graphs)


_no_kernels = _unless_inductor(lambda compilation: compilation.kernels, "Inductor generated no kernels")
_no_graphs = _unless_any(lambda compilation: compilation.graphs, "Dynamo captured no graph")
# The reason why a run has nothing for a page, by the page's name; empty if it has something.
WHY_EMPTY: dict[str, Callable[[Report], str]] = {
    "targets": _no_kernels,
    "compilations": _unless(lambda report: report.compilations, "torch.compile captured no frame"),
    "bytecode": _unless_any(lambda compilation: compilation.bytecode, "No bytecode was recorded"),
    "graph_breaks": _unless(lambda report: report.graph_breaks, "This run has no graph breaks"),
    "recompiles": _unless(lambda report: report.recompiles, "No frame was recompiled"),
    "guards": _unless_any(lambda compilation: compilation.guards, "No guards were recorded"),
    "dynamic_shapes": _unless_any(lambda compilation: compilation.symbols, "All sizes are static"),
    "fx_graph": _no_graphs,
    "passes": _no_graphs,
    "partition": _unless_any(_has_backward, "No backward was traced: only training has one"),
    "fusion": _unless_inductor(lambda compilation: compilation.schedules, "Fusion was not recorded"),
    "kernels": _no_kernels,
    "compile_time": _unless(lambda report: report.phases, "No compile times were recorded"),
    "speedup": _no_speed,
    "memory": _no_memory,
    "numerics": _no_numerics,
    "backend": _no_invocations,
    "accelerator": _no_pipelines,
    "aotinductor": _unless(lambda report: report.exports, "The model was not packaged"),
}

__all__ = ["PageContent", "page_contents"]

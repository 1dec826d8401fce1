"""Contents of the shown run by page: counts for the menu, and the reason for each page that is empty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from core import verdict
from core.analysis import target_words
from core.analysis.backend import asked_backend
from core.report import Compilation, Report
from pages import menu
from pages.look.text import LONGEST_NAME, one_line
from pages.session.shown import Shown

INDUCTOR, ACCELERATOR = "inductor", "accelerator"
NO_RECORD = "The run recorded nothing"
NO_CALL = "No call was recorded"
NOT_RUN = "The code was generated for a device that is not here, and not run"
ENDED = "The run ended before it was measured"


@dataclass(frozen=True, slots=True)
class Content:
    """A page's content in a run: the number of its items, and the reason if it is empty, in plain text."""

    count: int | None = None
    why_empty: str = ""


def contents(here: Shown | None) -> dict[str, Content]:
    """Return the content of each page that shows a run, by the page's name.

    A live run has its counts so far; no page of it counts as empty, since more will be recorded.
    """
    if here is None or here.reading:
        return {}
    if here.report is None or here.is_no_trace:
        return {} if here.going else dict.fromkeys(WHY_EMPTY, Content(why_empty=NO_RECORD))
    report = here.report
    counts = _counts(report)
    reasons = {} if here.going else {name: why(report) for name, why in WHY_EMPTY.items()}
    return {name: Content(counts.get(name), reasons.get(name, "")) for name in WHY_EMPTY}


def entry_content(entry: menu.MenuEntry, by_page: Mapping[str, Content]) -> Content:
    """Return the content of an entry of the menu: its first pane's count, and a reason if all its panes are empty."""
    panes = [by_page.get(pane.name, Content()) for pane in entry.panes]
    return Content(panes[0].count, panes[0].why_empty if all(pane.why_empty for pane in panes) else "")


def _counts(report: Report) -> dict[str, int]:
    """Return the numbers of the verdict, so that the menu and the header agree."""
    summary = verdict(report)
    return {
        menu.COMPILATIONS.name: len(report.compilations),
        menu.GRAPH_BREAKS.name: summary.breaks,
        menu.RECOMPILES.name: summary.recompiles,
        menu.KERNELS.name: summary.work.kernels or 0,
    }


def _unless(present: Callable[[Report], object], reason: str) -> Callable[[Report], str]:
    return lambda report: "" if present(report) else reason


def _unless_any(present: Callable[[Compilation], object], reason: str) -> Callable[[Report], str]:
    return lambda report: "" if any(map(present, report.compilations)) else reason


def _unless_inductor(present: Callable[[Compilation], object], reason: str) -> Callable[[Report], str]:
    """Return the same, with the backend as the reason if the run asked for another one than Inductor."""

    def why_empty(report: Report) -> str:
        if any(map(present, report.compilations)):
            return ""
        return _other_backend(report, INDUCTOR) or reason

    return why_empty


def _other_backend(report: Report, backend: str) -> str:
    used = asked_backend(report)
    return f"The backend was {one_line(used, LONGEST_NAME)}" if used not in ("", backend) else ""


def _no_invocations(report: Report) -> str:
    if any(compilation.invocations for compilation in report.compilations):
        return ""
    if asked_backend(report) == INDUCTOR:
        return "The backend was inductor"
    return "The backend was given no graph" if asked_backend(report) else "No call of a backend was recorded"


def _no_pipelines(report: Report) -> str:
    if any(compilation.pipelines for compilation in report.compilations):
        return ""
    return _other_backend(report, ACCELERATOR) or "The accelerator was given no graph"


def _not_measured(report: Report, reason: str) -> str:
    """Return why a run lacks a measurement: `reason`, unless the run could not be measured at all."""
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
# Why a run has nothing for a page; the text is empty if the run has something.
WHY_EMPTY: dict[str, Callable[[Report], str]] = {
    menu.TARGETS.name: _no_kernels,
    menu.COMPILATIONS.name: _unless(lambda report: report.compilations, "torch.compile captured no frame"),
    menu.BYTECODE.name: _unless_any(lambda compilation: compilation.bytecode, "No bytecode was recorded"),
    menu.GRAPH_BREAKS.name: _unless(lambda report: report.graph_breaks, "This run has no graph breaks"),
    menu.RECOMPILES.name: _unless(lambda report: report.recompiles, "No frame was recompiled"),
    menu.GUARDS.name: _unless_any(lambda compilation: compilation.guards, "No guards were recorded"),
    menu.DYNAMIC_SHAPES.name: _unless_any(lambda compilation: compilation.symbols, "All sizes are static"),
    menu.FX_GRAPH.name: _no_graphs,
    menu.PASSES.name: _no_graphs,
    menu.PARTITION.name: _unless_any(_has_backward, "No backward was traced: only training has one"),
    menu.FUSION.name: _unless_inductor(lambda compilation: compilation.schedules, "Fusion was not recorded"),
    menu.KERNELS.name: _no_kernels,
    menu.COMPILE_TIME.name: _unless(lambda report: report.phases, "No compile times were recorded"),
    menu.SPEEDUP.name: _no_speed,
    menu.MEMORY.name: _no_memory,
    menu.NUMERICS.name: _no_numerics,
    menu.BACKEND.name: _no_invocations,
    menu.ACCELERATOR.name: _no_pipelines,
    menu.AOTINDUCTOR.name: _unless(lambda report: report.exports, "The model was not packaged"),
}

"""The current view of a page: a run with its report, and one compilation; the referenced texts are read here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core import CompileJob, DecodeError, Run, RunSide, decoded, load_text, open_graph
from core.report import Compilation, FxGraph, FxNode, Payload, Report
from pages.session import server
from pages.session.cache import cached
from pages.session.shown import ShownRun, open_shown


@dataclass(frozen=True, slots=True)
class RunView:
    """A run that has a report."""

    shown: ShownRun
    report: Report

    @property
    def run(self) -> Run:
        """The run's directory."""
        return self.shown.run

    @property
    def job(self) -> CompileJob | None:
        """The run's job; None for a log from elsewhere."""
        return self.shown.job

    @property
    def going(self) -> bool:
        """True while more will be recorded, so that no result derived from it is cached."""
        return self.shown.going

    @property
    def side(self) -> RunSide:
        """The run as a side of a comparison."""
        return RunSide(self.report, self.text, lambda compilation, graph: self.of(compilation).nodes(graph))

    def of(self, compilation: Compilation) -> View:
        """Return the view of one of the run's compilations."""
        return View(self.shown, self.report, compilation)

    def text(self, payload: Payload) -> str:
        """Return a payload of the run's log as text."""
        return _text(self.run.id, payload.offset, payload.length)

    def json(self, payload: Payload) -> dict[str, Any]:
        """Return a payload of the run's log that is a JSON object; empty if it is none."""
        try:
            value = decoded(self.text(payload))
        except DecodeError:
            return {}
        return value if isinstance(value, dict) else {}


@dataclass(frozen=True, slots=True)
class View(RunView):
    """A compilation of a run."""

    compilation: Compilation

    def nodes(self, graph: FxGraph) -> tuple[FxNode, ...]:
        """Return the nodes of one of its graphs."""
        return _nodes(self.run.id, self.compilation.id, graph.id, self, graph)


def open_view(run_id: str) -> RunView | None:
    """Return a run by its id; None if there is none, or it has no report."""
    shown = open_shown(run_id)
    return RunView(shown, shown.report) if shown is not None and shown.report is not None else None


@cached("Reading the graph")
def _nodes(run_id: str, compile_id: str, graph_id: str, _view: View, _graph: FxGraph) -> tuple[FxNode, ...]:
    return open_graph(_view.run, _view.compilation, _graph)


@cached()
def _text(run_id: str, offset: int, length: int) -> str:
    log = server.runner().store.open(run_id).log_path()
    return load_text(log, Payload(offset, length)) if log else ""

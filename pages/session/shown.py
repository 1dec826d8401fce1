"""The shown run with its report, and one compilation.

`RunView` and `View` read texts and graphs from the log. Parsed data is cached for all sessions.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import streamlit as st

from core import (
    CompileboardError,
    CompileJob,
    GrowingReport,
    Progress,
    Run,
    RunSide,
    Status,
    StoreError,
    is_compiled,
    is_stored,
    load_text,
    open_graph,
    open_report,
    progress,
    start_reading,
)
from core.report import Compilation, FxGraph, FxNode, Payload, Report
from core.views import header
from core.views.fx_graph import GraphStages
from core.views.progress import Fetch
from core.views.selection import SelectedOp, is_op
from pages import menu
from pages.session import server, url
from pages.session.server import cached
from pages.session.url import set_state, state_of

LARGE_LOG_BYTES = 8_000_000
# Key of the run that the header has drawn as live.
GOING = "going"
# Number of cached live runs; the data of each takes as much memory as its log.
MOST_GOING = 4  #: cached running runs


@dataclass(frozen=True)
class ShownRun:
    """The run that the page shows: its directory, its status, and its report.

    The report of a live run has the records so far. `problem` is the reason if the log cannot be read. `reading`
    is True while another process reads a large log. `fetch` restores the files from a remote archive; None if the
    files are on this machine.
    """

    run: Run
    status: Status
    report: Report | None
    problem: str = ""
    reading: bool = False
    fetch: Fetch | None = None

    @cached_property
    def job(self) -> CompileJob | None:
        """The run's job; None for an imported log, and for a damaged run."""
        return (
            _read_job(run_id=self.run.id, job_ns=_mtime_ns(self.run.path / "job.json"))
            if self.status.kind == "run" and self.status.state != "damaged"
            else None
        )

    @property
    def going(self) -> bool:
        """True while more will be recorded."""
        return self.status.live

    @property
    def is_followed(self) -> bool:
        """True for a log that another process is still writing, and that is copied to the store."""
        return self.going and self.status.kind == "log"

    @property
    def stands(self) -> bool:
        """True if the run has ended, or its verdict is final: everything is compiled and compared."""
        return not self.going or (self.report is not None and is_compiled(self.report.steps))

    @property
    def progress(self) -> Progress:
        """The finished steps, the current step, and the remaining steps."""
        return progress(self.report, self.job)

    @property
    def moment(self) -> int:
        """Number of records so far, without phase events; it changes when the page has new data to show."""
        kinds = self.report.kinds if self.report is not None else {}
        return sum(kinds.values()) - kinds.get("chromium_event", 0)

    @property
    def is_no_trace(self) -> bool:
        """True for an opened file without any record."""
        return self.status.kind == "log" and not self.going and self.report is not None and not self.report.kinds


def shown_run() -> ShownRun | None:
    """Return the run in the URL, or None; rerun the page if the run ended below an older header."""
    run_id = st.session_state.get(url.RUN) or st.query_params.get(url.RUN)
    shown = open_shown(str(run_id)) if run_id else None
    if shown is not None and not shown.going and state_of(GOING) == shown.run.id:
        st.rerun()
    return shown


def header_run() -> ShownRun | None:
    """Return the run in the URL, None without one; store the id of a live run for `shown_run`."""
    set_state(GOING, None)
    shown = shown_run()
    set_state(GOING, shown.run.id if shown is not None and shown.going else None)
    return shown


def open_shown(run_id: str) -> ShownRun | None:
    """Return a run by its id, with its report so far; None if there is no such run."""
    try:
        run = server.open_run(run_id)
    except StoreError:
        return None
    status = _status(run)
    if status.state == "damaged":
        return ShownRun(run, status, None)
    log = run.log_path()
    if log is None:
        return ShownRun(run, status, None, fetch=_fetch_of(run))
    if status.live:
        return _live_run(run, status, log)
    try:
        stat = log.stat()
    except FileNotFoundError:
        # The run is being deleted.
        return None
    if stat.st_size > LARGE_LOG_BYTES and not is_stored(run) and _reading(run.id, stat.st_mtime_ns).poll() is None:
        return ShownRun(run, status, None, reading=True)
    try:
        return ShownRun(run, status, _report(run_id=run.id, mtime_ns=stat.st_mtime_ns))
    except CompileboardError as error:
        return ShownRun(run, status, None, str(error))


def _fetch_of(run: Run) -> Fetch | None:
    """Return the fetch of a run's files from the archive; None if the files are here."""
    if not Fetch.is_needed(run):
        return None
    if (fetch := _fetching(run.path.name)).is_over:
        # It came back and was removed again, or its archive did not answer a while ago.
        _fetching.clear(run.path.name)
        fetch = _fetching(run.path.name)
    return fetch


@st.cache_resource(max_entries=64, show_spinner=False)
def _fetching(run_id: str) -> Fetch:
    runner = server.the_runner()
    return Fetch(runner.index, runner.store.open(run_id))


def _live_run(run: Run, status: Status, log: Path) -> ShownRun:
    """Return a run that is being written.

    For a followed log that is not yet read to its end, another process outlines the log, and the run has no report.
    """
    is_followed = status.kind == "log"
    growing = _going(run.id, str(log), is_followed)
    report = growing.look()
    if not (is_followed and growing.is_behind):
        return ShownRun(run, status, report)
    _outlining(run.id, log.stat().st_size.bit_length())
    return ShownRun(run, status, None, reading=True)


def _status(run: Run) -> Status:
    """Return a run's status; reads its files again if they are newer, or while the run is live."""
    status_ns, job_ns = _mtime_ns(run.path / "status.json"), _mtime_ns(run.path / "job.json")
    # By name, since Streamlit inspects the function's signature for each positional argument of each call.
    status = _read_status(run_id=run.id, status_ns=status_ns, job_ns=job_ns)
    return run.standing() if status.live else status


@st.cache_resource(max_entries=512, show_spinner=False)
def _read_status(run_id: str, status_ns: int, job_ns: int) -> Status:
    return server.runner().store.open(run_id).standing()


@st.cache_resource(max_entries=512, show_spinner=False)
def _read_job(run_id: str, job_ns: int) -> CompileJob | None:
    return server.runner().store.open(run_id).job()


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@st.cache_resource(max_entries=16, show_spinner=False)
def _reading(run_id: str, mtime_ns: int) -> subprocess.Popen[bytes]:
    return start_reading(server.runner().store.open(run_id))


@st.cache_resource(max_entries=16, show_spinner=False)
def _outlining(run_id: str, size_bits: int) -> subprocess.Popen[bytes]:
    """Start a process that outlines a log, again for each doubling of its size."""
    return start_reading(server.runner().store.open(run_id))


@st.cache_resource(max_entries=16, show_spinner="Reading the log")
def _report(run_id: str, mtime_ns: int) -> Report:
    run = server.runner().store.open(run_id)
    for is_followed in (False, True):
        _going.clear(run_id, str(run.log_path()), is_followed)
    return open_report(run)


@st.cache_resource(max_entries=MOST_GOING, show_spinner=False)
def _going(run_id: str, log: str, is_followed: bool) -> GrowingReport:
    return GrowingReport(Path(log), appended=is_followed)


def shown_compilation(report: Report) -> Compilation | None:
    """Return the picked compilation, otherwise the heaviest."""
    return report.compilation(str(st.session_state.get(url.COMPILATION))) or header.first_compilation(report)


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
        """The run's job; None for an imported log."""
        return self.shown.job

    @property
    def going(self) -> bool:
        """True while the run is live; results that depend on a live run are not cached."""
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


@dataclass(frozen=True, slots=True)
class View(RunView):
    """A compilation of a run."""

    compilation: Compilation

    def nodes(self, graph: FxGraph) -> tuple[FxNode, ...]:
        """Return the nodes of one of the compilation's graphs."""
        return _nodes(self.run.id, self.compilation.id, graph.id, self, graph)


def open_view(run_id: str) -> RunView | None:
    """Return a run by its id; None if there is no such run, or it has no report."""
    shown = open_shown(run_id)
    return RunView(shown, shown.report) if shown is not None and shown.report is not None else None


@cached("Reading the graph")
def _nodes(run_id: str, compile_id: str, graph_id: str, _view: View, _graph: FxGraph) -> tuple[FxNode, ...]:
    return open_graph(_view.run, _view.compilation, _graph)


@cached()
def _text(run_id: str, offset: int, length: int) -> str:
    log = server.runner().store.open(run_id).log_path()
    return load_text(log, Payload(offset, length)) if log else ""


# Page → the parameter by which it chooses what it shows of several.
CHOICES = {
    menu.FX_GRAPH.name: url.GRAPH,
    menu.PASSES.name: url.CHAPTER,
    menu.PARTITION.name: url.JOINT,
    menu.COMPARE.name: url.ASPECT,
}


def selected_op(shown: ShownRun | None, page: str) -> SelectedOp | None:
    """Return the selected op, with the page's part of it; None without one in the shown compilation.

    A link from the menu has no op: the one that was selected last is written to the URL again. What the URL selects
    becomes an item of the page if it is no op.
    """
    selected = url.asked(url.SELECT) or ""
    if selected and not is_op(selected):
        url.put(url.SELECT, None)
        url.put(url.ITEM, selected)
        selected = ""
    set_state(url.PART, selected or None)
    set_state(url.SAME, None)
    compilation = shown_compilation(shown.report) if shown is not None and shown.report is not None else None
    if shown is None or shown.report is None or compilation is None:
        return None
    view = View(shown, shown.report, compilation)
    last: tuple[str, str, str, str] | None = state_of(url.OP)
    if not selected and last is not None and last[:2] == (shown.run.id, compilation.id):
        selected = last[2]
        url.put(url.SELECT, selected)
        url.put(url.OF, last[3])
    if not selected:
        return None
    choice = url.peek(CHOICES[page]) if page in CHOICES else None
    first = GraphStages(compilation.graphs).first.id if page == menu.FX_GRAPH.name and compilation.graphs else ""
    known = _op(shown.run.id, compilation.id, selected, url.asked(url.OF) or choice or first, view)
    if known is None:
        return None
    set_state(url.OP, (shown.run.id, compilation.id, selected, known.op.id.graph))
    url.put(url.OF, known.op.id.graph)
    op = _on_page(shown.run.id, str(known.op.id), page, choice, known, view)
    set_state(url.PART, op.part.item or None)
    set_state(url.SAME, op.op)
    return op


@cached()
def _op(run_id: str, compile_id: str, selected: str, graph: str, _view: View) -> SelectedOp | None:
    return SelectedOp.find(_view.side, _view.compilation, selected, graph)


@cached()
def _on_page(run_id: str, op_id: str, page: str, choice: str | None, _op: SelectedOp, _view: View) -> SelectedOp:
    return _op.on(page, _view.run, _view.side, _view.compilation, choice)

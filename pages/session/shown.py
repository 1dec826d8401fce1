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
from core.views.fx_graph import NODE_MAP, SameOp
from core.views.progress import Fetch
from pages.session import server, url
from pages.session.server import cached
from pages.session.url import set_state, state_of

LARGE_LOG_BYTES = 8_000_000
# Key of the run that the header has drawn as live.
GOING = "going"
# Number of cached live runs; the data of each takes as much memory as its log.
MOST_GOING = 4  #: cached running runs
# Ids of what stands for an op: an FX node, a scheduler node, a launch, a kernel.
OF_OPS = ("n:", "s:", "g:", "k:")
# State: the run, the compilation, the id of the op that was selected last, and whether its graph is an early one.
OP = "selected-op"


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
        """True if the verdict is final: the run has ended, or everything is compiled and compared.

        Measured numbers may still be missing.
        """
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
    """Return the run in the URL; None if there is none.

    If the run has ended since the header was drawn, rerun the page, so that the header shows the end.
    """
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


def selected_op(view: View, graph: FxGraph | None = None) -> SameOp | None:
    """Return the op that the URL selects, or that was selected last in this compilation, and remember it.

    A page calls it before its drawing, to select the op there, and after it, to remember a new selection.

    `graph` is the graph of the page's FX nodes, by default the lowered one. None if nothing was selected, or the
    visitor has cleared the selection (`forget_op`).
    """
    selected = url.selected() or ""
    last: tuple[str, str, str, bool] | None = state_of(OP)
    if last is not None and last[:2] != (view.run.id, view.compilation.id):
        last = None
    same = None if last is None else _same_op(*last, view)
    if selected.startswith(OF_OPS) and (same is None or selected not in same.ids):
        last = view.run.id, view.compilation.id, selected, graph is not None and graph.early
        same = _same_op(*last, view)
    set_state(OP, last)
    return same


def forget_op() -> None:
    """Forget the op that was selected last: the visitor has cleared the selection."""
    set_state(OP, None)


@cached()
def _same_op(run_id: str, compile_id: str, selected: str, is_early: bool, _view: View) -> SameOp:
    files = (file for file in _view.report.debug_files if (file.compilation, file.name) == (compile_id, NODE_MAP))
    return SameOp.of(_view.compilation, selected, is_early, [_view.text(file.text) for file in files])

"""What the pages of one session share: the runner of this server, the run that is looked at, its report and its graphs.

The URL says what is shown (`run`, `compilation`, `graph`, `select`); session state only mirrors it.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from core import (
    CompileboardError,
    CompileJob,
    DecodeError,
    LocalEngine,
    Run,
    Runner,
    Status,
    Store,
    StoreError,
    decoded,
    is_stored,
    limits_of,
    load_text,
    open_graph,
    open_report,
    start_reading,
)
from core.report import Compilation, FxGraph, FxNode, Payload, Report
from pages.gate.rules import code_allowed
from pages.gate.visitor import may_bring_code, require_gate, who

LARGE_LOG_BYTES = 8_000_000
KNOWN_S = 5.0
RUN, COMPILATION, GRAPH, SELECT = "run", "compilation", "graph", "select"


@dataclass(frozen=True, slots=True)
class Shown:
    """The run that the page shows: its directory, where it stands, and its report once there is one.

    `reading` says that a large log is being read by another process just now.
    """

    run: Run
    status: Status
    report: Report | None
    problem: str = ""
    reading: bool = False

    @property
    def job(self) -> CompileJob | None:
        """The run's job; None for a log from elsewhere, and for a damaged run."""
        return (
            _read_job(self.run.id, _mtime_ns(self.run.path / "job.json"))
            if self.status.kind == "run" and self.status.state != "damaged"
            else None
        )

    @property
    def is_no_trace(self) -> bool:
        """Whether it is an opened file without a single record."""
        return self.status.kind == "log" and self.report is not None and not self.report.kinds


def runner() -> Runner:
    """The one runner of this server; a page that a server shows past the gate ends here."""
    require_gate()
    return the_runner()


@st.cache_resource
def the_runner() -> Runner:
    """The same, for threads that belong to no visitor."""
    store = Store()
    limits = limits_of(os.environ, code_allowed())
    return Runner(store, LocalEngine(store.cache_dir), code_allowed=may_bring_code, limits=limits)


@st.cache_resource
def _environment() -> Future[dict[str, Any]]:
    """Asks torch what it can do and has the precompiled header built, while the page is already there."""

    def ask() -> dict[str, Any]:
        engine = the_runner().engine
        found = engine.environment()
        if isinstance(engine, LocalEngine) and found.get("compiler"):
            engine.warm_up()
        return found

    return ThreadPoolExecutor(1).submit(ask)


def environment() -> dict[str, Any] | None:
    """Versions, devices and backends of torch here; None while torch is still starting, `problem` if it cannot."""
    future = _environment()
    if not future.done():
        return None
    try:
        return future.result()
    except CompileboardError as error:
        return {"problem": str(error)}


def listed() -> list[tuple[Run, Status]]:
    """The runs that this visitor is shown, newest first, as they stand."""
    visitor = who()
    return [(run, status) for run, status in runner().store.list() if visitor.sees(status.by)]


def named() -> list[tuple[Run, Status]]:
    """The same for a menu of names, whose states may be some seconds old; and the run that is looked at, whoever has made it."""
    store, visitor = runner().store, who()
    known = _known(store.runs_dir.stat().st_mtime_ns, int(time.monotonic() / KNOWN_S))
    kept = [(run, status) for run, status in known if visitor.sees(status.by)]
    ids = {run.id for run, _ in kept}
    for run_id in (
        {st.query_params.get(RUN), st.session_state.get(RUN), st.session_state.get(f"url-{RUN}")} - ids - {None}
    ):
        try:
            run = store.open(str(run_id))
        except StoreError:
            continue
        kept.append((run, run.standing()))
    return sorted(kept, key=lambda pair: pair[1].created_s, reverse=True)


@st.cache_resource(max_entries=2, show_spinner=False)
def _known(mtime_ns: int, moment: int) -> list[tuple[Run, Status]]:
    """One look at the store for all sessions: its directory is newer once a run has come or gone."""
    return runner().store.list()


def shown() -> Shown | None:
    """The run that the URL names; None if it names none."""
    run_id = st.session_state.get(RUN) or st.query_params.get(RUN)
    return open_shown(str(run_id)) if run_id else None


def open_shown(run_id: str) -> Shown | None:
    """A run by its id, with its report if it has ended; None if there is no such run."""
    try:
        run = runner().store.open(run_id)
    except StoreError:
        return None
    status = _standing(run)
    if status.state == "damaged":
        return Shown(run, status, None)
    log = run.log_path()
    if log is None or status.live:
        return Shown(run, status, None)
    mtime_ns = log.stat().st_mtime_ns
    if log.stat().st_size > LARGE_LOG_BYTES and not is_stored(run) and _reading(run.id, mtime_ns).poll() is None:
        return Shown(run, status, None, reading=True)
    try:
        return Shown(run, status, _report(run.id, mtime_ns))
    except CompileboardError as error:
        return Shown(run, status, None, str(error))


def _standing(run: Run) -> Status:
    """Where a run stands; its files are read again once they are newer, or while it goes."""
    status = _read_status(run.id, _mtime_ns(run.path / "status.json"), _mtime_ns(run.path / "job.json"))
    return run.standing() if status.live else status


@st.cache_resource(max_entries=512, show_spinner=False)
def _read_status(run_id: str, status_ns: int, job_ns: int) -> Status:
    return runner().store.open(run_id).standing()


@st.cache_resource(max_entries=512, show_spinner=False)
def _read_job(run_id: str, job_ns: int) -> CompileJob | None:
    return runner().store.open(run_id).job()


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def show(run_id: str) -> None:
    """Go to the overview of a run."""
    st.session_state.pop(COMPILATION, None)
    st.switch_page("run/overview.py", query_params={RUN: run_id})


@st.cache_resource(max_entries=16, show_spinner=False)
def _reading(run_id: str, mtime_ns: int) -> subprocess.Popen[bytes]:
    return start_reading(runner().store.open(run_id))


@st.cache_resource(max_entries=16, show_spinner="Reading the log")
def _report(run_id: str, mtime_ns: int) -> Report:
    return open_report(runner().store.open(run_id))


def compilation(report: Report) -> Compilation | None:
    """The compilation that the URL names, else the first that has graphs."""
    wanted = report.compilation(str(st.session_state.get(COMPILATION) or st.query_params.get(COMPILATION, "")))
    if wanted is not None:
        return wanted
    return next((item for item in report.compilations if item.graphs), next(iter(report.compilations), None))


@st.cache_resource(max_entries=64, show_spinner="Reading the graph")
def _nodes(run_id: str, compile_id: str, graph_id: str, _item: Compilation, _graph: FxGraph) -> tuple[FxNode, ...]:
    return open_graph(runner().store.open(run_id), _item, _graph)


def nodes(here: Shown, item: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
    """The nodes of a graph of the shown run."""
    return _nodes(here.run.id, item.id, graph.id, item, graph)


@st.cache_resource(max_entries=128, show_spinner=False)
def _text(run_id: str, offset: int, length: int) -> str:
    log = runner().store.open(run_id).log_path()
    return load_text(log, Payload(offset, length)) if log else ""


def text(here: Shown, payload: Payload) -> str:
    """A payload of the shown run's log."""
    return _text(here.run.id, payload.offset, payload.length)


def from_url(name: str, valid: Collection[str], default: str | None) -> None:
    """Before a widget of this key is drawn: what the URL says counts if it is new, else what the session holds.

    `bind="query-params"` would put the widget's labels into the URL; and since a widget forgets its value when the page
    changes, the last value is remembered beside it.
    """
    asked, remembered = st.query_params.get(name), st.session_state.get(f"url-{name}")
    if asked in valid and asked != remembered:
        st.session_state[name] = asked
    elif st.session_state.get(name) not in valid:
        st.session_state[name] = remembered if remembered in valid else default


def to_url(*names: str) -> None:
    """After the widgets: the URL says what they hold, also after the menu has emptied it, in one step of its history."""
    held = {name: st.session_state.get(name) for name in names}
    for name, value in held.items():
        st.session_state[f"url-{name}"] = value
    if any(st.query_params.get(name) != value for name, value in held.items()):
        st.query_params.update({name: value for name, value in held.items() if value is not None})


def selected() -> str | None:
    """What the URL says is selected."""
    return st.query_params.get(SELECT)


def select(item: str | None) -> None:
    """Put a selection into the URL, so that a reload or a colleague sees it."""
    if item and st.query_params.get(SELECT) != item:
        st.query_params[SELECT] = item
    elif not item:
        st.query_params.pop(SELECT, None)


def fresh_row(rows: Sequence[int], key: str) -> int | None:
    """The row of a table that was picked just now; a table goes on telling of an older pick in every run."""
    picked, before = list(rows), st.session_state.get(f"{key}-rows")
    st.session_state[f"{key}-rows"] = picked
    return picked[0] if picked and picked != before else None


def link(**more: str) -> dict[str, str]:
    """Query parameters that keep the shown run on another page, with more of them."""
    kept = {name: str(st.query_params[name]) for name in (RUN, COMPILATION) if name in st.query_params}
    if st.session_state.get(RUN):
        kept[RUN] = str(st.session_state[RUN])
    return {**kept, **more}


def json_payload(here: Shown, payload: Payload) -> dict[str, Any]:
    """A payload of the shown run's log that is a JSON object; empty if it is none."""
    try:
        found = decoded(text(here, payload))
    except DecodeError:
        return {}
    return found if isinstance(found, dict) else {}

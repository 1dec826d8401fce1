"""Runs that are listed for this visitor, and navigation to a run.

Verdicts of many runs for a list, cached for all sessions and computed a few at a time.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import streamlit as st

from core import CompileboardError, CompileJob, Run, Status, StoreError, Verdict, open_verdict
from core.base import words as fmt
from pages import menu
from pages.gate.visitor import who
from pages.look.text import LONGEST_LINE, one_line
from pages.session import server, url
from pages.session.navigate import go_to

KNOWN_S = 5.0
MOST_JOBS = 2_000
MOST_VERDICTS = 5_000
# Limits for one drawing of a page; a larger log is parsed when its run is opened.
MADE_WITHIN_S = 0.3
LARGEST_LOG_BYTES = 4_000_000


def last_took_s(job: CompileJob) -> float | None:
    """Return the seconds of the newest finished run of the same model; None if there is none."""
    title = job.title()
    done = (status for _, status in listed_runs() if status.state == "done" and status.title == title)
    found = next((status for status in done if status.started_s and status.ended_s), None)
    return found.ended_s - found.started_s if found and found.started_s and found.ended_s else None


def listed_runs() -> list[tuple[Run, Status]]:
    """Return the runs that are listed for this visitor, newest first, with current states."""
    visitor = who()
    return [(run, status) for run, status in server.runner().store.list() if visitor.sees(run, status.by)]


def named_runs() -> list[tuple[Run, Status]]:
    """Return the listed runs for a menu of names, with states that may be some seconds old.

    The shown run is included, no matter which visitor made it.
    """
    store, visitor = server.runner().store, who()
    known = _known(store.runs_dir.stat().st_mtime_ns, int(time.monotonic() / KNOWN_S))
    kept = [(run, status) for run, status in known if visitor.sees(run, status.by)]
    asked = {st.query_params.get(url.RUN), st.session_state.get(url.RUN), st.session_state.get(f"url-{url.RUN}")}
    shown = []
    for run_id in asked - {run.id for run, _ in kept} - {None}:
        try:
            run = server.open_run(str(run_id))
        except StoreError:
            continue
        shown.append((run, run.standing()))
    # A rank stands for its run.
    paths = {run.path for run, _ in shown}
    kept = [*(pair for pair in kept if pair[0].path not in paths or pair[0].id in asked), *shown]
    return sorted(kept, key=lambda pair: pair[1].created_s, reverse=True)


def newest_of(fingerprint: str) -> tuple[Run, Status] | None:
    """Return the newest listed run with a job's fingerprint, with its current state; None if there is none."""
    run = next((run for run, status in named_runs() if status.fingerprint == fingerprint), None)
    return (run, run.standing()) if run is not None else None


@st.cache_resource(max_entries=2, show_spinner=False)
def _known(mtime_ns: int, moment: int) -> list[tuple[Run, Status]]:
    """Return all runs with their status, cached for all sessions by the store's modification time."""
    return server.runner().store.list()


def show_run(run_id: str, page: menu.Page = menu.OVERVIEW) -> None:
    """Go to a run, by default to its overview."""
    st.session_state.pop(url.COMPILATION, None)
    go_to(page, {url.RUN: run_id})


def run_label(run: Run, status: Status) -> str:
    """Return a run's label in one line: its name, its settings, and its time."""
    return one_line(f"{called(run, status)} · {run_detail(run, status)}", LONGEST_LINE)


def run_detail(run: Run, status: Status) -> str:
    """Return a run's settings and its time, to distinguish runs of the same name."""
    made = time.localtime(status.created_s)
    today = made[:3] == time.localtime()[:3]
    at = time.strftime("%H:%M:%S" if today else "%Y-%m-%d %H:%M:%S", made)
    return " · ".join([*made_for(run), *ranks_words(run, status), at])


def ranks_words(run: Run, status: Status) -> tuple[str, ...]:
    """Return the number of a run's ranks, such as `8 ranks`; empty for a run with one log."""
    ranks = run.ranks() if status.kind == "log" else ()
    return (fmt.count(len(ranks), "rank"),) if len(ranks) > 1 else ()


def called(run: Run, status: Status) -> str:
    """Return the owner's name for the run, otherwise its title."""
    return run.name() or status.title or run.id


def made_for(run: Run) -> tuple[str, ...]:
    """Return the settings that differ from a default job, and the device of a recorded run."""
    return _made_for(run.path)


@lru_cache(maxsize=MOST_JOBS)
def _made_for(path: Path) -> tuple[str, ...]:
    """Return a run's settings, cached by path since a job never changes."""
    try:
        run = Run(path.name, path)
        job, recorded = run.job(), run.written_status().recorded
    except CompileboardError:
        return ()
    return (*(job.differences() if job is not None else ()), *([recorded] if recorded else ()))


def is_cell(run: Run) -> bool:
    """Return True if a sweep made the run."""
    return _is_cell(run.path)


@lru_cache(maxsize=MOST_JOBS)
def _is_cell(path: Path) -> bool:
    try:
        job = Run(path.name, path).job()
    except CompileboardError:
        return False
    return job is not None and bool(job.sweep)


def verdicts(runs: Iterable[tuple[Run, Status]]) -> tuple[dict[str, Verdict], bool]:
    """Return the known verdicts by run id, and True if some are still missing."""
    known, waiting = _known_verdicts(), False
    found: dict[str, Verdict] = {}
    end_s = time.monotonic() + MADE_WITHIN_S
    for run, status in runs:
        log = None if status.live or status.state == "damaged" else run.log_path()
        if log is None:
            continue
        size = log.stat()
        key = run.id, size.st_mtime_ns
        if key not in known:
            late = time.monotonic() > end_s
            made = _opened(run, stored_alone=late or size.st_size > LARGEST_LOG_BYTES)
            waiting = waiting or (made is None and late and size.st_size <= LARGEST_LOG_BYTES)
            if made is None:
                continue
            known[key] = made
        found[run.id] = known[key]
    while len(known) > MOST_VERDICTS:
        known.pop(next(iter(known)))
    return found, waiting


def _opened(run: Run, stored_alone: bool) -> Verdict | None:
    """Return a run's verdict; None if its log cannot be read, or the run was just deleted."""
    try:
        return open_verdict(run, stored_alone)
    except (CompileboardError, OSError):
        return None


@st.cache_resource
def _known_verdicts() -> dict[tuple[str, int], Verdict]:
    """Return the cache of verdicts, by run id and modification time of the log."""
    return {}

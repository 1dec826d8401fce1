"""Verdicts of many runs, for a list: cached for all sessions, and made a few at a time."""

from __future__ import annotations

import time
from collections.abc import Iterable

import streamlit as st

from core import CompileboardError, Run, Status, Verdict, open_verdict

MOST_VERDICTS = 5_000
# Limits for one drawing of a page; the report of a larger log is made when it is opened.
MADE_WITHIN_S = 0.3
LARGEST_LOG_BYTES = 4_000_000


def verdicts(runs: Iterable[tuple[Run, Status]]) -> tuple[dict[str, Verdict], bool]:
    """Return the known verdicts by run id, and True if some are still missing."""
    known, waiting = _known(), False
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
def _known() -> dict[tuple[str, int], Verdict]:
    """Return the cache of verdicts, by a run's id and the time when its log was last written."""
    return {}

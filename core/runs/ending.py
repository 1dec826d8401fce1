"""End of a run whose supervisor was killed before it could write how the run ended."""

from __future__ import annotations

import time
from dataclasses import replace

from core.base.words import limit_s
from core.runs.status import State, Status
from core.runs.store import Run
from core.runs.tools import read_task

SILENT = "its supervisor did not answer, and was killed"


def ended_for(run: Run, status: Status, is_cancelled: bool) -> Status:
    """Return the status of a live run that has ended: cancelled, beyond its time limit, or interrupted."""
    state, reason = _end_of(run, status, is_cancelled)
    return replace(status, state=state, reason=reason, ended_s=time.time(), handle="")


def _end_of(run: Run, status: Status, is_cancelled: bool) -> tuple[State, str]:
    if is_cancelled:
        return "cancelled", f"cancelled by the user; {SILENT}"
    limits = read_task(run) or run.job()
    if limits and status.started_s and time.time() - status.started_s > limits.time_limit_s:
        return "timed out", f"not done after {limit_s(limits.time_limit_s)}; {SILENT}"
    return "interrupted", "its supervisor was killed"

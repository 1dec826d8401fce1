"""End of a run that nobody has left to write it: its supervisor was killed, or its node is lost."""

from __future__ import annotations

import time
from dataclasses import replace

from core.base.words import limit_s
from core.runs.status import State, Status
from core.runs.store import Run
from core.runs.tools import read_task

SILENT = "its supervisor did not answer, and was killed"


def ended_for(run: Run, status: Status, is_cancelled: bool) -> Status:
    """Return the status of a live run whose supervisor was killed: cancelled, beyond its time limit, or interrupted."""
    if is_cancelled:
        return ended_as(status, "cancelled", SILENT, is_cancelled=True)
    limit = overdue_limit_s(run, status)
    if limit is not None:
        return ended_as(status, "timed out", f"not done after {limit_s(limit)}; {SILENT}")
    return ended_as(status, "interrupted", "its supervisor was killed")


def ended_as(status: Status, state: State, reason: str, is_cancelled: bool = False) -> Status:
    """Return the status of a live run that has ended now, as cancelled if its end was requested."""
    if is_cancelled:
        state, reason = "cancelled", f"cancelled by the user; {reason}"
    return replace(status, state=state, reason=reason, ended_s=time.time(), handle="")


def overdue_limit_s(run: Run, status: Status, grace_s: float = 0.0) -> float | None:
    """Return the time limit that a started run has exceeded by so many seconds; None if it has not."""
    limits = read_task(run) or run.job()
    if limits is None or not status.started_s or time.time() - status.started_s <= limits.time_limit_s + grace_s:
        return None
    return limits.time_limit_s

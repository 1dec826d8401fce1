"""Where a run stands: its state, and the processes that see to it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Annotated, Literal

import psutil
from msgspec import Meta

Ended = Literal["done", "failed", "cancelled", "timed out", "out of memory", "crashed", "interrupted", "damaged"]
State = Literal["queued", "running", Ended]
LIVE: tuple[State, ...] = ("queued", "running")
# Of a process, and of the year 9999: what calendars and the system take.
Pid = Annotated[int, Meta(gt=0, lt=2**31)]
Seconds = Annotated[float, Meta(ge=0, lt=253_402_300_800)]


@dataclass(frozen=True, slots=True)
class Status:
    """Where a run stands. Times are seconds since the epoch; `reason` says in words why it ended as it did.

    `pid` is its keeper, or who queued it; `watcher_pid` the fork server, which ends what a dead keeper leaves.
    `by` is the visitor whose run it is, nothing for the server's owner. `recorded` says where and when a run of the
    gallery was recorded.
    """

    state: State
    created_s: Seconds
    kind: Literal["run", "log"] = "run"
    started_s: Seconds | None = None
    ended_s: Seconds | None = None
    reason: str = ""
    exit_code: int | None = None
    signal: str | None = None
    pid: Pid | None = None
    pid_created_s: Seconds | None = None
    watcher_pid: Pid | None = None
    watcher_created_s: Seconds | None = None
    peak_memory_bytes: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    fingerprint: str = ""
    title: str = ""
    by: str = ""
    recorded: str = ""

    @property
    def live(self) -> bool:
        """Whether the run is still waiting or working."""
        return self.state in LIVE


def keeper_of(status: Status) -> psutil.Process | None:
    """The keeper of a running run, None if there is none, or no longer."""
    return _process(status.pid, status.pid_created_s) if status.state == "running" else None


def is_seen_to(status: Status) -> bool:
    """Whether its keeper is there, or who queued it, or the fork server, which ends what a dead keeper leaves and tells
    of it.
    """
    keeper = _process(status.pid, status.pid_created_s)
    return (keeper or _process(status.watcher_pid, status.watcher_created_s)) is not None


def _process(pid: int | None, created_s: float | None) -> psutil.Process | None:
    """The process that had an id at that time, if it is still there."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid) if pid is not None else None
        if process and abs(process.create_time() - (created_s or 0)) < 2 and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None

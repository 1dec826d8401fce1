"""Where a run stands: its state, and the processes that see to it."""

from __future__ import annotations

import contextlib
import os
import uuid
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal

import psutil
from msgspec import Meta

Ended = Literal["done", "failed", "cancelled", "timed out", "out of memory", "crashed", "interrupted", "damaged"]
State = Literal["queued", "running", Ended]
LIVE: tuple[State, ...] = ("queued", "running")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Later than any clock, in seconds since the epoch.
CLOCKS_END_S = 2**36 - 2**32
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

    @property
    def took_s(self) -> float | None:
        """Seconds from its start to its end, none where the clock was set back between; None if it has not ended."""
        if self.started_s is None or self.ended_s is None:
            return None
        return max(0.0, self.ended_s - self.started_s)


def process_made_s(process: psutil.Process) -> float:
    """When a process was made, by which it is told from a later one of its id; raises psutil's errors.

    On Linux by a clock that nobody sets: seconds since the machine was started, after a time that only this start has.
    That of the day would tell every live process from itself once the clock was set.
    """
    boot, since_boot_s = _boot(), _since_boot_s(process.pid)
    return process.create_time() if boot is None or since_boot_s is None else boot + since_boot_s


@lru_cache(maxsize=1)
def _boot() -> float | None:
    """A time after all that clocks tell, of this start of the machine alone; None where the system does not tell."""
    try:
        return float(CLOCKS_END_S + uuid.UUID(BOOT_ID.read_text().strip()).int % CLOCKS_END_S)
    except (OSError, ValueError):
        return None


def _since_boot_s(pid: int) -> float | None:
    """The field `starttime` of proc_pid_stat(5), which stands 20 fields behind the name in parentheses."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


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
        # A status of an earlier version holds the time of the day.
        times = (process_made_s(process), process.create_time()) if process else ()
        same = any(abs(time_s - (created_s or 0)) < 2 for time_s in times)
        if process and same and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None

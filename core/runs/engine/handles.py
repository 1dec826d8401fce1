"""Handles of this machine: the processes that own a run or a sweep, as text for this engine only.

`local:PID@CREATED_S`, or `local:PID@CREATED_S+PID@CREATED_S` if a second process ends the first one's orphans: the
supervisor of a run and its fork server. A server owns the runs that it has queued, and the sweeps that it executes.
"""

from __future__ import annotations

import contextlib
import os
import re
import uuid
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated

import psutil
from msgspec import Meta

from core.base.decoder import decoded_as
from core.runs.status import Seconds, Status

SCHEME = "local:"
# A handle of any engine: its name, a colon, and a text for that engine only.
HANDLE = re.compile(r"([a-z][a-z0-9-]*):.", re.DOTALL)
PROCESSES = re.compile(r"local:(\d{1,10})@(\d{1,12}\.\d\d)(?:\+(\d{1,10})@(\d{1,12}\.\d\d))?")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Later than any clock, in seconds since the epoch.
CLOCKS_END_S = 2**36 - 2**32
# A process id in the system's range.
Pid = Annotated[int, Meta(gt=0, lt=2**31)]


@dataclass(frozen=True, slots=True)
class _Pids:
    """The owner in the format of an earlier version: fields of a status or a sweep."""

    pid: Pid | None = None
    pid_created_s: Seconds | None = None
    watcher_pid: Pid | None = None
    watcher_created_s: Seconds | None = None


class LocalLiveness:
    """Liveness by the process table of this machine.

    A handle of another engine counts as alive: only that engine knows, and a live run must not be deleted.
    """

    def local_handle(self) -> str:
        """Return the handle of this process."""
        return process_handle(psutil.Process())

    def is_alive(self, handle: str) -> bool:
        """Return True if one of the handle's processes still runs."""
        return bool(engine_of(handle)) or _has_owner(handle)


LOCAL = LocalLiveness()


def process_handle(*owners: psutil.Process) -> str:
    """Return the handle of a process and of the process that ends its orphans; raises psutil's errors."""
    return SCHEME + "+".join(f"{owner.pid}@{start_time_s(owner):.2f}" for owner in owners)


def handle_of_pids(data: bytes) -> str:
    """Return the handle for a stored status or sweep that has process ids instead; raises DecodeError."""
    old = decoded_as(data, _Pids)
    if old.pid is None:
        return ""
    pairs = ((old.pid, old.pid_created_s), (old.watcher_pid, old.watcher_created_s))
    return SCHEME + "+".join(f"{pid}@{made_s or 0:.2f}" for pid, made_s in pairs if pid is not None)


def engine_of(handle: str) -> str:
    """Return the name of a handle's engine if it is not this one; empty otherwise."""
    match = HANDLE.match(handle)
    return "" if match is None or handle.startswith(SCHEME) else match[1]


def supervisor_of(status: Status) -> psutil.Process | None:
    """Return the live supervisor of a running run, never the server that queued it; None if there is none."""
    match = PROCESSES.fullmatch(status.handle) if status.state == "running" else None
    return _process(int(match[1]), float(match[2])) if match else None


def start_time_s(process: psutil.Process) -> float:
    """Return a process's start time, which separates it from later processes with its id.

    Raises psutil's errors. On Linux, this is seconds since boot, plus a number derived from the boot id. The time of
    day would change for every live process when the clock is set.
    """
    boot, since_boot_s = _boot(), _since_boot_s(process.pid)
    return process.create_time() if boot is None or since_boot_s is None else boot + since_boot_s


@lru_cache(maxsize=1)
def _boot() -> float | None:
    """Return a number derived from the boot id and larger than any clock time.

    None if there is no boot id.
    """
    try:
        return float(CLOCKS_END_S + uuid.UUID(BOOT_ID.read_text().strip()).int % CLOCKS_END_S)
    except (OSError, ValueError):
        return None


def _since_boot_s(pid: int) -> float | None:
    """Return the field `starttime` of proc_pid_stat(5) in seconds; None if it cannot be read.

    It is field 20 after the name in parentheses.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _has_owner(handle: str) -> bool:
    """Return True if one of the handle's processes is alive."""
    match = PROCESSES.fullmatch(handle)
    owners = (match.group(1, 2), match.group(3, 4)) if match else ()
    return any(pid and _process(int(pid), float(made_s)) for pid, made_s in owners)


def _process(pid: int, created_s: float) -> psutil.Process | None:
    """Return the process with an id and a start time; None if it has ended."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        # A status of an earlier version has the time of day.
        times = (start_time_s(process), process.create_time())
        same = any(abs(time_s - created_s) < 2 for time_s in times)
        if same and process.status() != psutil.STATUS_ZOMBIE:
            return process
    return None

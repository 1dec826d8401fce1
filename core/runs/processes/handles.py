"""Processes of this machine: handles, parent-death signals, process trees, orphans, control groups.

A handle is `local:PID@CREATED_S`, or `local:PID@CREATED_S+PID@CREATED_S` if the second process ends the
orphans of the first: a run's handle names its supervisor and its fork server. A server owns the runs that it
has queued, and the sweeps that it executes.

A fork server's environment has a mark that all its descendants inherit. The mark also finds processes without
a living parent.

Each run gets a Linux control group below this process's own group (cgroup v2), if this process may create
one. No process can leave the group, even if it detaches, and all its processes are killed at once. A limit
applies only if its controller is delegated (a systemd service with `Delegate=memory pids`). Without a group,
a run's remaining processes are found only by process trees and marks.
"""

import contextlib
import ctypes
import os
import re
import signal
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Annotated

import psutil
from msgspec import Meta

from core.base.decoder import decoded_as
from core.runs.status import Seconds, Status

MARK = "COMPILEBOARD_FORK_SERVER"
# Set by the starting process to its own id: if it died early, the fork server's parent is another process.
PARENT = "COMPILEBOARD_FORK_SERVER_PARENT"
POLL_S = 0.01
# A process that waits for disk or network can't be killed before the operation ends.
MAX_END_S = 5.0  #: limit: seconds of waiting for an ended process
PREFIX = "compileboard-"
KILL, MEMBERS = "cgroup.kill", "cgroup.procs"
MEMORY, PROCESSES = "memory.max", "pids.max"


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(option, value)


def follow_parent(parent: int, number: signal.Signals) -> None:
    """Have Linux send a signal to this process when `parent` ends.

    If `parent` has already ended, the signal is sent at once. Outside Linux, it is sent only in this case.
    """
    pr_set_pdeathsig = 1
    _prctl(pr_set_pdeathsig, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def become_subreaper() -> None:
    """Adopt every descendant whose parent ends; does nothing outside Linux."""
    pr_set_child_subreaper = 36
    _prctl(pr_set_child_subreaper, 1)


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that are still running."""
    running = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                running.append(process)
    return running


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """Return the running descendants of a process."""
    with contextlib.suppress(psutil.Error):
        return alive(process.children(recursive=True))
    return []


def end_descendants(process: psutil.Process) -> None:
    """Kill all descendants of a process."""
    end(lambda: descendants(process))


def end_tree(process: psutil.Process) -> None:
    """Kill all descendants of a process, then the process, so that no descendant is reparented first."""
    end_descendants(process)
    end(lambda: alive([process]))


def end(find: Callable[[], list[psutil.Process]]) -> None:
    """Kill the processes that `find` returns, until it returns none or `MAX_END_S` seconds have passed.

    The search is repeated because a fork bomb creates more processes meanwhile.
    """
    deadline = time.monotonic() + MAX_END_S
    while (processes := find()) and time.monotonic() < deadline:
        for process in processes:
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(POLL_S)


def resume(pid: int) -> None:
    """Resume a process if it was stopped."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_STOPPED:
            process.send_signal(signal.SIGCONT)


def end_with_mark(mark: str, patience_s: float) -> None:
    """Resume all processes with a mark, and kill those that have not ended after `patience_s`."""
    processes = _with_mark(mark)
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGCONT)
    psutil.wait_procs(processes, patience_s)
    end(lambda: _with_mark(mark))


def _with_mark(mark: str) -> list[psutil.Process]:
    """Return every process with a mark; other users' processes can't be read and are left out."""
    processes = []
    for process in alive(psutil.process_iter()):
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                processes.append(process)
    return processes


def group_of(supervisor_pid: int) -> str:
    """Return the name of a run's control group; must be called in a process with its fork server's mark."""
    return f"{os.environ.get(MARK, '')}-{supervisor_pid}"


def groups_of(mark: str) -> str:
    """Return the glob pattern of the control groups of a fork server's runs."""
    return f"{mark}-*"


def enter(name: str, limits: Mapping[str, int]) -> None:
    """Move this process into a new control group with limits, for its later children, too; if permitted."""
    parent = _own_group()
    if parent is None:
        return
    folder = parent / f"{PREFIX}{name}"
    with contextlib.suppress(OSError):
        folder.mkdir(exist_ok=True)
        for limit, most in limits.items():
            if (folder / limit).exists():
                (folder / limit).write_text(str(most))
        if (folder / KILL).exists():
            (folder / MEMBERS).write_text(str(os.getpid()))


def ran_out_of_memory(name: str) -> bool:
    """Return True if the system has killed a process of a group because of its memory limit."""
    parent = _own_group()
    with contextlib.suppress(OSError):
        events = (parent / f"{PREFIX}{name}" / "memory.events").read_text().split() if parent else []
        return int(dict(zip(events[::2], events[1::2], strict=True)).get("oom_kill", 0)) > 0
    return False


def end_groups(names: str) -> None:
    """Kill all processes in the groups that match a name or a pattern, and remove the groups."""
    parent = _own_group()
    deadline = time.monotonic() + MAX_END_S
    while parent and (groups := list(parent.glob(f"{PREFIX}{names}"))) and time.monotonic() < deadline:
        for folder in groups:
            with contextlib.suppress(OSError):
                (folder / KILL).write_text("1")
            _remove(folder)
        time.sleep(POLL_S)


def _remove(folder: Path) -> None:
    """Remove a group and the groups that the run created in it; a group with processes remains."""
    for inner, _, _ in os.walk(folder, topdown=False):
        with contextlib.suppress(OSError):
            os.rmdir(inner)


@cache
def _own_group() -> Path | None:
    """Return the control group of this process; None if the system has no version 2 groups."""
    with contextlib.suppress(OSError, StopIteration):
        mounts = (line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines())
        mounted = next(fields[4] for fields in mounts if fields[fields.index("-") + 1] == "cgroup2")
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        group = next(line.removeprefix("0::") for line in groups if line.startswith("0::"))
        return Path(mounted) / group.lstrip("/")
    return None


SCHEME = "local:"
# A handle of any engine: its name, a colon, and a text for that engine only.
HANDLE = re.compile(r"([a-z][a-z0-9-]*):.", re.DOTALL)
LOCAL_HANDLE = re.compile(r"local:(\d{1,10})@(\d{1,12}\.\d\d)(?:\+(\d{1,10})@(\d{1,12}\.\d\d))?")
BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# Later than any clock, in seconds since the epoch.
CLOCKS_END_S = 2**36 - 2**32
# A process id in the system's range.
Pid = Annotated[int, Meta(gt=0, lt=2**31)]


@dataclass(frozen=True, slots=True)
class _Pids:
    """Process ids of an owner, as earlier versions stored them in a status or a sweep."""

    pid: Pid | None = None
    pid_created_s: Seconds | None = None
    watcher_pid: Pid | None = None
    watcher_created_s: Seconds | None = None


class LocalLiveness:
    """Liveness by the process table of this machine.

    A handle of another engine counts as alive: only that engine can check it, and a live run must not be deleted.
    """

    def local_handle(self) -> str:
        """Return the handle of this process."""
        return process_handle(psutil.Process())

    def is_alive(self, handle: str) -> bool:
        """Return True if a process of the handle still runs, or if the handle is another engine's."""
        return bool(engine_of(handle)) or _has_owner(handle)


LOCAL = LocalLiveness()


def process_handle(*owners: psutil.Process) -> str:
    """Return the handle of a process and of the process that ends its orphans; raises psutil's errors."""
    return SCHEME + "+".join(f"{owner.pid}@{start_time_s(owner):.2f}" for owner in owners)


def handle_of_pids(data: bytes) -> str:
    """Return the handle for a status or sweep that was stored with process ids; empty without ids.

    Raises DecodeError.
    """
    old = decoded_as(data, _Pids)
    if old.pid is None:
        return ""
    pairs = ((old.pid, old.pid_created_s), (old.watcher_pid, old.watcher_created_s))
    return SCHEME + "+".join(f"{pid}@{made_s or 0:.2f}" for pid, made_s in pairs if pid is not None)


def engine_of(handle: str) -> str:
    """Return the name of a handle's engine; empty for the local engine and for an invalid handle."""
    match = HANDLE.match(handle)
    return "" if match is None or handle.startswith(SCHEME) else match[1]


def supervisor_of(status: Status) -> psutil.Process | None:
    """Return the live supervisor of a running run, never the server that queued it; None if there is none."""
    match = LOCAL_HANDLE.fullmatch(status.handle) if status.state == "running" else None
    return _process(int(match[1]), float(match[2])) if match else None


def start_time_s(process: psutil.Process) -> float:
    """Return a process's start time, which distinguishes it from later processes with the same id.

    Raises psutil's errors. On Linux, the start time is in seconds since boot, plus a number derived from the boot id. A
    time of day would change for every live process when the clock is set.
    """
    boot, since_boot_s = _boot(), _since_boot_s(process.pid)
    return process.create_time() if boot is None or since_boot_s is None else boot + since_boot_s


@lru_cache(maxsize=1)
def _boot() -> float | None:
    """Return a number from the boot id that is larger than any clock time; None if there is no boot id."""
    try:
        return float(CLOCKS_END_S + uuid.UUID(BOOT_ID.read_text().strip()).int % CLOCKS_END_S)
    except (OSError, ValueError):
        return None


def _since_boot_s(pid: int) -> float | None:
    """Return `starttime` of proc_pid_stat(5), field 20 after the name, in seconds; None if unreadable."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        return int(fields[19]) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError):
        return None


def _has_owner(handle: str) -> bool:
    """Return True if one of the handle's processes is alive."""
    match = LOCAL_HANDLE.fullmatch(handle)
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


# A page's share of a process, without files: Linux, documented in proc_pid_smaps(5).
SHARE = re.compile(rb"^Pss_Anon:\s+(\d+) kB$", re.MULTILINE)
# The exact count takes some milliseconds a process: it is made when the upper bound has grown so much, and beyond the
# limit once in so many seconds.
GROWTH, AGAIN_S = 1.1, 1.0


class ProcessMemory:
    """Memory of processes: `peak_bytes` is the largest total that `exceeds` has measured so far.

    Memory that forked processes share is counted once. Inductor forks a compile worker for each CPU. Each worker shares
    all pages of its parent, so the sum of their resident sizes can be ten times the memory in use.
    """

    def __init__(self) -> None:
        self.peak_bytes = 0
        self._largest_bound = 0.0
        self._counted_s = 0.0

    def exceeds(self, processes: Iterable[psutil.Process], limit_bytes: int) -> bool:
        """Return True if the processes take more memory than the limit.

        An exact count takes milliseconds. It is made only if the upper bound has grown by 10 %, or exceeds the limit
        and the last count is over a second old. Otherwise, return False.
        """
        bounds = {process: resident for process in processes if (resident := _resident(process))}
        bound, now = sum(bounds.values()), time.monotonic()
        is_due = bound > limit_bytes and now > self._counted_s + AGAIN_S
        if bound <= self._largest_bound * GROWTH and not is_due:
            return False
        self._largest_bound = max(bound, self._largest_bound)
        self._counted_s = now
        used = sum(_share(process, resident) for process, resident in bounds.items())
        self.peak_bytes = max(self.peak_bytes, used)
        return used > limit_bytes


def _resident(process: psutil.Process) -> int:
    """Return the resident bytes of a process without those of files; 0 if it has ended."""
    with contextlib.suppress(psutil.Error):
        memory = process.memory_info()
        return int(memory.rss - getattr(memory, "shared", 0))
    return 0


def _share(process: psutil.Process, resident: int) -> int:
    """Return the process's share (PSS) of anonymous memory; `resident` if the system doesn't report it."""
    with contextlib.suppress(OSError), open(f"/proc/{process.pid}/smaps_rollup", "rb") as file:
        if match := SHARE.search(file.read()):
            return int(match[1]) * 1024
    return resident

"""Processes of this machine: signals on a parent's death, the end of process trees, and marks that find orphans.

A fork server's environment has a mark that all its descendants inherit. The mark also finds processes without a living
parent.

Linux control groups, one per run, if this process may create them.

No process of a run can leave its group, even if it detaches, and all of them end at once.

A group is created below the group of this process, in version 2. Only limits with delegated controllers apply (a
systemd service with `Delegate=memory pids`). If no group can be created, a run's remaining processes are found only by
process trees and marks: see `core.runs.engine.processes`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path

import psutil

MARK = "COMPILEBOARD_FORK_SERVER"
# Set by the starting process to its own id: if it died early, the fork server's parent is another process.
PARENT = "COMPILEBOARD_FORK_SERVER_PARENT"
POLL_S = 0.01
# A process that waits for disk or network can't be killed before the operation ends.
MAX_END_S = 5.0
PREFIX = "compileboard-"
KILL, MEMBERS = "cgroup.kill", "cgroup.procs"
MEMORY, PROCESSES = "memory.max", "pids.max"


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(option, value)


def follow_parent(parent: int, number: signal.Signals) -> None:
    """Have Linux send a signal to this process when `parent` ends, or now if it has.

    Do nothing on other systems.
    """
    pr_set_pdeathsig = 1
    _prctl(pr_set_pdeathsig, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def become_subreaper() -> None:
    """Adopt every descendant whose parent ends."""
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
    """Kill a process after all its descendants, so that none of them is reparented before."""
    end_descendants(process)
    end(lambda: alive([process]))


def end(find: Callable[[], list[psutil.Process]]) -> None:
    """Kill the processes that `find` returns, until it returns none: a fork bomb creates more meanwhile."""
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
    """End every process with a mark: each has `patience_s` to end by itself (stopped ones are resumed) or is killed."""
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
    """Return the pattern for all groups of a fork server's runs."""
    return f"{mark}-*"


def enter(name: str, limits: Mapping[str, int]) -> None:
    """Move this process and its descendants into a new group, with the limits that have controllers.

    Does nothing if no group can be created.
    """
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
    """Return True if the system has killed a process of a group at its memory limit."""
    parent = _own_group()
    with contextlib.suppress(OSError):
        events = (parent / f"{PREFIX}{name}" / "memory.events").read_text().split() if parent else []
        return int(dict(zip(events[::2], events[1::2], strict=True)).get("oom_kill", 0)) > 0
    return False


def end_groups(names: str) -> None:
    """Kill all processes in the group of a name, or in the groups of a pattern, and remove the groups."""
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
    """Return the group of this process; None if the system has no version 2 groups."""
    with contextlib.suppress(OSError, StopIteration):
        mounts = (line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines())
        mounted = next(fields[4] for fields in mounts if fields[fields.index("-") + 1] == "cgroup2")
        groups = Path("/proc/self/cgroup").read_text().splitlines()
        group = next(line.removeprefix("0::") for line in groups if line.startswith("0::"))
        return Path(mounted) / group.lstrip("/")
    return None

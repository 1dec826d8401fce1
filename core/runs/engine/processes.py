"""Processes of this machine: signals on a parent's death, the end of whole families, and marks that find orphans.

A fork server is started with a mark in its environment, which all its descendants inherit: it also finds those whose
parents are all dead.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Callable, Iterable

import psutil

MARK = "COMPILEBOARD_FORK_SERVER"
# The process that starts a fork server writes its own id here: a parent that dies early is no parent any more.
PARENT = "COMPILEBOARD_FORK_SERVER_PARENT"
POLL_S = 0.01
# A process that waits for the disk or the network cannot be killed before it has its answer.
MAX_END_S = 5.0


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(option, value)


def follow_parent(parent: int, number: signal.Signals) -> None:
    """Ask Linux to send a signal to this process when `parent` ends, or send it at once if it has; nothing on other
    systems.
    """
    pr_set_pdeathsig = 1
    _prctl(pr_set_pdeathsig, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def become_subreaper() -> None:
    """Adopt every descendant whose own parent ends."""
    pr_set_child_subreaper = 36
    _prctl(pr_set_child_subreaper, 1)


def alive(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    """Return the processes that still run."""
    running = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                running.append(process)
    return running


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """Return the descendants of a process that still run."""
    with contextlib.suppress(psutil.Error):
        return alive(process.children(recursive=True))
    return []


def end_descendants(process: psutil.Process) -> None:
    """Kill all descendants of a process."""
    end(lambda: descendants(process))


def end_tree(process: psutil.Process) -> None:
    """Kill a process after all its descendants: as long as it is there, none of them gets away."""
    end_descendants(process)
    end(lambda: alive([process]))


def end(find: Callable[[], list[psutil.Process]]) -> None:
    """Kill the processes that `find` returns, until it returns none: a fork bomb breeds while it is being killed."""
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
    """End every process with a mark: each has `patience_s` to end by itself, stopped ones too, and is then killed."""
    processes = _with_mark(mark)
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGCONT)
    psutil.wait_procs(processes, patience_s)
    end(lambda: _with_mark(mark))


def _with_mark(mark: str) -> list[psutil.Process]:
    """Return every process with a mark; those of other users cannot be read, and have none."""
    processes = []
    for process in alive(psutil.process_iter()):
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                processes.append(process)
    return processes

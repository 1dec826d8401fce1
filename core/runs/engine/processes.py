"""Processes of this machine: what follows a parent's death, the end of whole families, and marks that find what was
left.

A fork server is started with a mark in its environment, which all that comes of it inherits: so that also those are
found whose parents are all dead.
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
# Who starts a fork server says so: a parent that dies while Python starts is no parent any more when it is asked for.
PARENT = "COMPILEBOARD_FORK_SERVER_PARENT"
POLL_S = 0.01
# A process that waits for the disk or the network cannot be killed before it has its answer.
MAX_END_S = 5.0


def _prctl(option: int, value: int) -> None:
    libc = ctypes.CDLL(None)
    if hasattr(libc, "prctl"):
        libc.prctl(option, value)


def follow_parent(parent: int, number: signal.Signals) -> None:
    """Ask Linux to send a signal to this process when `parent` ends, or send it at once if it has; elsewhere
    nothing.
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
    """Those that still run."""
    found = []
    for process in processes:
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def descendants(process: psutil.Process) -> list[psutil.Process]:
    """All that came of a process and still runs."""
    with contextlib.suppress(psutil.Error):
        return alive(process.children(recursive=True))
    return []


def end_descendants(process: psutil.Process) -> None:
    """Kill all that came of a process."""
    end(lambda: descendants(process))


def end_tree(process: psutil.Process) -> None:
    """Kill a process after all that came of it: as long as it is there, none of them gets away."""
    end_descendants(process)
    end(lambda: alive([process]))


def end(find: Callable[[], list[psutil.Process]]) -> None:
    """Kill what is found, and again until nothing is: a fork bomb breeds while it is being killed."""
    deadline = time.monotonic() + MAX_END_S
    while (found := find()) and time.monotonic() < deadline:
        for process in found:
            with contextlib.suppress(psutil.Error):
                process.kill()
        time.sleep(POLL_S)


def resume(pid: int) -> None:
    """Let a process go on if it was stopped."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_STOPPED:
            process.send_signal(signal.SIGCONT)


def end_marked(mark: str, patience_s: float) -> None:
    """End every process with a mark: each may go by itself for a while, stopped ones too, and is then killed."""
    found = _marked(mark)
    for process in found:
        with contextlib.suppress(psutil.Error):
            process.send_signal(signal.SIGCONT)
    psutil.wait_procs(found, patience_s)
    end(lambda: _marked(mark))


def _marked(mark: str) -> list[psutil.Process]:
    """Every process with a mark; those of other users cannot be read, and have none."""
    found = []
    for process in alive(psutil.process_iter()):
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get(MARK) == mark:
                found.append(process)
    return found

"""Device locks of this machine, shared by all processes over one home; a lock ends with the process that has it."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from core.base.files import OWNER_ALONE, in_words
from core.runs.engine.lanes import CPU
from core.runs.engine.protocol import Assignment
from core.runs.store import Run

HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class Turns:
    """Locks in the home of the runs, a file a device: a measured run has its device to itself, all others share it.

    A run that is measured on an accelerator shares the CPUs, on which nothing is measured meanwhile. Within one server
    the lanes see to that. Where the system has no locks, every device is free.
    """

    def __init__(self) -> None:
        self._files: dict[Path, list[int]] = {}

    def take(self, assignment: Assignment) -> bool:
        """Lock what an assignment needs, unless another process has it; raises StoreError."""
        locks: list[int] = []
        folder = assignment.run.path.parents[1] / "turns"
        with in_words(folder):
            folder.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
            for device, mode in _needs(assignment).items():
                name = device.replace(":", "-")
                locks.append(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
                if not _try_lock(locks[-1], mode):
                    _close(locks)
                    return False
        self._files[assignment.run.path] = locks
        return True

    def give_back(self, run: Run) -> None:
        """Release the locks of a run, if it has any."""
        _close(self._files.pop(run.path, []))


def _needs(assignment: Assignment) -> dict[str, int]:
    """Return the mode of each device's lock that an assignment needs."""
    # FileLock is exclusive only, and its shared locks are SQLite databases: flock(2) has both modes in one empty file.
    mode = fcntl.LOCK_EX if assignment.measures else fcntl.LOCK_SH
    return {CPU: fcntl.LOCK_SH, assignment.device: mode}


def _try_lock(file: int, mode: int) -> bool:
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in HELD
    return True


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)

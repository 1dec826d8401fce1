"""Whose turn it is on a device, over all processes that share a home: locks of the system, which end with the
process that holds them.
"""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from core.base.files import OWNER_ALONE, in_words
from core.runs.engine.lanes import CPU
from core.runs.engine.local import Assignment
from core.runs.store import Run

HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class Turns:
    """Locks in a folder, a file a device: what is measured has one to itself, and everything else shares it.

    What is measured on an accelerator shares the CPUs, which nothing is measured on meanwhile. Within one process the
    lanes see to that. Where the system has no locks, it is always one's turn.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: dict[str, list[int]] = {}

    def take(self, assignment: Assignment) -> bool:
        """Take what an assignment needs, if no other process has it."""
        taken: list[int] = []
        with in_words(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
            for device, mode in _needs(assignment).items():
                name = device.replace(":", "-")
                taken.append(os.open(self._folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
                if not _locked(taken[-1], mode):
                    _close(taken)
                    return False
        self._held[assignment.run.id] = taken
        return True

    def give_back(self, run: Run) -> None:
        """Let go of what was taken for a run, if anything was."""
        _close(self._held.pop(run.id, []))


def _needs(assignment: Assignment) -> dict[str, int]:
    """Which locks, and how."""
    own = fcntl.LOCK_EX if assignment.measures else fcntl.LOCK_SH
    return {CPU: fcntl.LOCK_SH, assignment.device: own}


def _locked(file: int, mode: int) -> bool:
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in HELD
    return True


def _close(files: list[int]) -> None:
    for file in files:
        os.close(file)

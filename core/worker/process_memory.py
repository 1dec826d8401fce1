"""Memory of a run's processes; memory shared by forked processes is counted once.

Inductor forks a compile worker for each CPU. Each worker shares all pages of its parent, so the sum of their
resident sizes can be ten times the memory in use.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable

import psutil

# A page's share of a process, without files: Linux, documented in proc_pid_smaps(5).
SHARE = re.compile(rb"^Pss_Anon:\s+(\d+) kB$", re.MULTILINE)
# The exact count takes some milliseconds a process: it is made when the upper bound has grown so much, and beyond the
# limit once in so many seconds.
GROWTH, AGAIN_S = 1.1, 1.0


class ProcessMemory:
    """Memory of processes: `peak_bytes` is the largest total that `exceeds` has measured so far."""

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

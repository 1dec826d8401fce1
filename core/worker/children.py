"""Children of the fork server: supervisors, each with its deadline, and helpers.

A supervisor ends its run at its limits, and this process ends supervisors: one that is stopped is continued, one that
is late is killed with all its descendants, and descendants of a dead supervisor are adopted by this process and killed.
"""

from __future__ import annotations

import contextlib
import math
import os
import signal
import time

import psutil

from core.runs.engine.groups import end_groups, group_of
from core.runs.engine.processes import alive, descendants, end, end_descendants, end_tree

# A keeper ends its run at the limit itself; so much later it is taken not to do so.
MARGIN_S = 10.0
# What a keeper may take to end its run when this process ends.
PATIENCE_S = 2.0
POLL_S = 0.02


class Children:
    """Forked processes whose end has not been reported."""

    def __init__(self, margin_s: float = MARGIN_S) -> None:
        self._margin_s = margin_s
        self._deadlines: dict[int, float] = {}
        self._unreported: set[int] = set()

    def add(self, pid: int, limit_s: float = math.inf, reported: bool = True) -> None:
        """Register a process that should end by itself within its limit."""
        self._deadlines[pid] = time.monotonic() + limit_s + self._margin_s
        if not reported:
            self._unreported.add(pid)

    def ended(self) -> list[int]:
        """Return the pids to report that have ended since the last call; none of their descendants is alive."""
        now = time.monotonic()
        for pid in [pid for pid, deadline in self._deadlines.items() if now > deadline]:
            self._deadlines[pid] = math.inf
            self._kill(pid)
        reaped = self._reaped()
        if reaped:
            end(self._strangers)
        ended = [pid for pid in reaped if pid in self._deadlines]
        for pid in ended:
            end_groups(group_of(pid))
        reported = [pid for pid in ended if pid not in self._unreported]
        for pid in ended:
            del self._deadlines[pid]
            self._unreported.discard(pid)
        return reported

    def end(self) -> None:
        """End all children; each may first end by itself, as a supervisor that reports how its run ended."""
        for pid in self._deadlines:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGUSR1)
                os.kill(pid, signal.SIGCONT)
        deadline = time.monotonic() + PATIENCE_S
        while self._deadlines and time.monotonic() < deadline:
            self.ended()
            time.sleep(POLL_S)
        for pid in list(self._deadlines):
            self._kill(pid)
        end_descendants(psutil.Process())

    def _kill(self, pid: int) -> None:
        with contextlib.suppress(psutil.Error):
            end_tree(psutil.Process(pid))

    def _reaped(self) -> list[int]:
        """Return the children that have ended; stopped ones are continued."""
        reaped: list[int] = []
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return reaped
            if pid == 0:
                return reaped
            if not os.WIFSTOPPED(status):
                reaped.append(pid)
            elif pid in self._deadlines:
                os.kill(pid, signal.SIGCONT)

    def _strangers(self) -> list[psutil.Process]:
        """Return children that this process has not forked, with their descendants: a killed supervisor left them."""
        strangers = [child for child in alive(psutil.Process().children()) if child.pid not in self._deadlines]
        return [*strangers, *(process for stranger in strangers for process in descendants(stranger))]

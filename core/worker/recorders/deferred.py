"""Deferred recording between the steps of a run, so that no call waits for it."""

from __future__ import annotations

from collections.abc import Callable

from core.report.records import Emit
from core.worker.recorders.stacks import Sources


class DeferredRecords:
    """Deferred records: the files named so far, and tasks that emit a record when called."""

    def __init__(self, emit: Emit) -> None:
        self.sources = Sources(emit)
        self._tasks: list[Callable[[], None]] = []

    def add(self, task: Callable[[], None]) -> None:
        """Add a task for later."""
        self._tasks.append(task)

    def record(self) -> None:
        """Call the tasks in order, then record the files."""
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task()
        self.sources.record()

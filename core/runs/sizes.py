"""Bytes on disk of a run and of its kernel tool results, and what a visitor and all use of a store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from core.base.errors import StoreError
from core.runs.store import Run


@dataclass(frozen=True, slots=True)
class Usage:
    """Usage of a store by one visitor, and by all. Kernel tool results count for the visitor who requested them."""

    live_runs: int = 0
    runs: int = 0
    visitor_bytes: int = 0
    queue: int = 0
    store_bytes: int = 0
    live_tools: int = 0
    answers: int = 0
    tool_queue: int = 0


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A kernel tool result, finished or in progress: its requester, its bytes on disk, and when it was executed."""

    by: str
    live: bool
    size_bytes: int
    started_s: float | None = None
    took_s: float | None = None


def tool_uses(run: Run) -> Iterator[ToolUse]:
    """Yield the tool results of a run; an unreadable one counts only for the run's owner."""
    for tool in run.tools():
        with suppress(StoreError):
            status = tool.status()
            yield ToolUse(status.by, status.live, bytes_of(tool), status.started_s, status.took_s)


def bytes_of(run: Run) -> int:
    """Return a run's bytes on disk; files that disappear meanwhile count as 0."""
    return sum(_file_sizes(run))


def bytes_within(run: Run, most_files: int) -> int | None:
    """Return a run's bytes on disk; None for a directory with more files than are counted."""
    sizes = list(islice(_file_sizes(run), most_files + 1))
    return sum(sizes) if len(sizes) <= most_files else None


def _file_sizes(run: Run) -> Iterator[int]:
    for directory, _, names in os.walk(run.path):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(directory, name)).st_size

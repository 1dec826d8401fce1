"""Removal of files left by interrupted writes, found by name, once they are too old to be in use."""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.base.files import regular, remove
from core.base.run_id import RUN_ID

NOBODYS_S = 3600.0
# Names of runs that are being made or deleted, of tasks of tools, and of files that are being written.
UNFINISHED = re.compile(rf"\.(?:{RUN_ID.pattern}|[0-9a-f]{{16}}|[\w.-]{{1,200}}\.[0-9]{{1,10}})\.[0-9a-f]{{8}}")


def tidy(runs_dir: Path) -> None:
    """Remove files that no process has written to for an hour and no reader will ever find."""
    _remove_old(_abandoned(runs_dir))


def tidy_sweeps(sweeps_dir: Path) -> None:
    """Remove such files of sweeps, and of the rows of their tables."""
    sweeps = _entries_of(sweeps_dir)
    within = (path for sweep in sweeps for directory in (sweep, sweep / "rows") for path in _entries_of(directory))
    _remove_old(path for path in (*sweeps, *within) if UNFINISHED.fullmatch(path.name))


def _remove_old(paths: Iterable[Path]) -> None:
    oldest = time.time() - NOBODYS_S
    for path in paths:
        with contextlib.suppress(OSError):
            if _written_s(path) < oldest:
                remove(path)


def _abandoned(runs_dir: Path) -> Iterator[Path]:
    for path in _entries_of(runs_dir):
        if UNFINISHED.fullmatch(path.name) or (RUN_ID.fullmatch(path.name) and _is_empty(path)):
            yield path
            continue
        tools = path / "tools"
        for directory in (path, path / "graphs", tools, *_entries_of(tools)):
            yield from (entry for entry in _entries_of(directory) if UNFINISHED.fullmatch(entry.name))


def _entries_of(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def _is_empty(run: Path) -> bool:
    """Return True if a directory never became a run: it has no status, and no log with content."""
    logs = (regular(path) for path in (run / "trace").glob("*.log"))
    return not (run / "status.json").exists() and not any(log and log.st_size for log in logs)


def _written_s(path: Path) -> float:
    """Return the time of the last write to a path or anything below it."""
    return max(entry.lstat().st_mtime for entry in (path, *path.rglob("*")))

"""Rows of a sweep by the status of its runs; rows of finished runs are cached, so that 200 can be read at once."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import CompileboardError, DecodeError, StoreError
from core.base.files import read, write_atomically
from core.report import SCHEMA, Report
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import open_report
from core.sweep.model import Sweep, labels
from core.sweep.read import row_of
from core.sweep.row import SweepRow
from core.sweep.store import ROWS, SweepStore
from core.sweep.table import runs_of

# Raised with every change of a row's content, so that no older version's rows are shown.
VERSION = 3
MAX_ROW_BYTES = 4_000_000
MOST_ROWS = 4_000


def rows(store: SweepStore, sweep: Sweep) -> tuple[SweepRow, ...]:
    """Return the current table; a cell whose run was deleted waits again. Raises StoreError if the sweep is gone."""
    folder = store.path(sweep.id) / ROWS
    return tuple(row(store, folder, at, run) for at, run in zip(labels(sweep), runs_of(sweep), strict=True))


def row(store: SweepStore, folder: Path, at: tuple[str, ...], run_id: str) -> SweepRow:
    """Return the row of a cell."""
    try:
        run = store.runs.open(run_id) if run_id else None
    except StoreError:
        run = None
    if run is None:
        return SweepRow(at)
    stored = folder / f"{run_id}-{SCHEMA}.{VERSION}.json"
    with contextlib.suppress(OSError, DecodeError):
        return replace(_read_row(stored, stored.stat().st_mtime_ns), at=at)
    return _make_row(run, at, stored)


@lru_cache(maxsize=MOST_ROWS)
def _read_row(stored: Path, mtime_ns: int) -> SweepRow:
    """Return a cached row; the cache key has the file's modification time."""
    return decoded_as(read(stored, MAX_ROW_BYTES), SweepRow)


def _make_row(run: Run, at: tuple[str, ...], stored: Path) -> SweepRow:
    """Return the row from the run's status and report; stores it once the run has ended."""
    status = run.standing()
    if status.live:
        elapsed_s = time.time() - status.started_s if status.started_s else None
        return replace(row_of(at, run.id, status), took_s=elapsed_s)
    result = row_of(at, run.id, status, _report(run, status))
    if status.state == "damaged":
        return result
    with contextlib.suppress(OSError):
        write_atomically(stored, msgspec.json.encode(result))
    return result


def _report(run: Run, status: Status) -> Report | None:
    """Return the run's report; None if the run has recorded nothing readable."""
    if status.state == "damaged":
        return None
    with contextlib.suppress(CompileboardError):
        return open_report(run)
    return None

"""The report of a run: stored beside its log, and made again when the log is newer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from core.errors import ReportError, StoreError
from core.parsers import build_report
from core.report import Report, from_json, to_json
from core.store import Run, write_atomically


def is_stored(run: Run) -> bool:
    """Whether the stored report is as new as the log, so that opening it takes milliseconds."""
    log = run.log_path()
    return log is not None and run.report_path.exists() and run.report_path.stat().st_mtime_ns >= log.stat().st_mtime_ns


def start_reading(run: Run) -> subprocess.Popen[bytes]:
    """Make and store the report of a large log in a process of its own, so that nobody waits for it."""
    environment = {**os.environ, "COMPILEBOARD_HOME": str(run.path.parent.parent)}
    return subprocess.Popen(
        [sys.executable, "-m", "core", "report", run.id],
        cwd=Path(__file__).parent.parent,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def open_report(run: Run) -> Report:
    """The report of a run; raises StoreError before there is a log."""
    log = run.log_path()
    if log is None:
        raise StoreError(f"run {run.id} has recorded nothing: {run.status().reason or 'it has not started'}")
    stored = run.report_path
    if is_stored(run):
        try:
            return from_json(stored.read_bytes())
        except ReportError:
            stored.unlink()
    report = build_report(log)
    if not run.status().live:
        write_atomically(stored, to_json(report))
    return report

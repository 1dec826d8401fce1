"""The report of a run: stored beside its log, and made again when the log is newer."""

from __future__ import annotations

from core.errors import ReportError, StoreError
from core.parsers import build_report
from core.report import Report, from_json, to_json
from core.store import Run, write_atomically


def open_report(run: Run) -> Report:
    """The report of a run; raises StoreError before there is a log."""
    log = run.log_path()
    if log is None:
        raise StoreError(f"run {run.id} has recorded nothing: {run.status().reason or 'it has not started'}")
    stored = run.report_path
    if stored.exists() and stored.stat().st_mtime_ns >= log.stat().st_mtime_ns:
        try:
            return from_json(stored.read_bytes())
        except ReportError:
            stored.unlink()
    report = build_report(log)
    if not run.status().live:
        write_atomically(stored, to_json(report))
    return report

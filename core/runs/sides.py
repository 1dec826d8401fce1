"""Two runs, or logs from elsewhere, as the sides of a comparison."""

from __future__ import annotations

from pathlib import Path

from core.analysis.comparison import RunSide
from core.base.errors import TraceError
from core.runs.store import Run, Store
from core.runs.stored import open_graph, open_report
from core.trace import NO_RECORD
from core.trace.parsers import build_report, load_graph, load_text


def side_of_run(run: Run) -> RunSide:
    """Return a stored run as a side; raises StoreError before there is a log."""
    report, log = open_report(run), run.log_path()
    return RunSide(
        report,
        lambda payload: load_text(log, payload) if log else "",
        lambda compilation, graph: open_graph(run, compilation, graph),
    )


def side_of_log(log: Path) -> RunSide:
    """Return a TORCH_TRACE log as a side; raises TraceError."""
    return RunSide(
        build_report(log),
        lambda payload: load_text(log, payload),
        lambda compilation, graph: load_graph(log, compilation, graph),
    )


def log_at(what: str) -> Path | None:
    """Return the log at a path, or the largest in a directory; None if there is neither. Raises TraceError."""
    path = Path(what)
    if path.is_dir():
        logs = sorted(path.glob("*.log"), key=lambda log: log.stat().st_size)
        if not logs:
            raise TraceError(f"{path} holds no .log file")
        return logs[-1]
    return path if path.is_file() else None


def side_of(what: str) -> RunSide:
    """Return the side of a log or a directory of logs, otherwise that of a run by its id; raises StoreError,
    TraceError.
    """
    log = log_at(what)
    side = side_of_log(log) if log is not None else side_of_run(Store().open(what))
    if not side.report.kinds:
        raise TraceError(NO_RECORD)
    return side

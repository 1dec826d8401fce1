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
    """A stored run; raises StoreError before there is a log."""
    report, log = open_report(run), run.log_path()
    return RunSide(
        report,
        lambda payload: load_text(log, payload) if log else "",
        lambda compilation, graph: open_graph(run, compilation, graph),
    )


def side_of_log(log: Path) -> RunSide:
    """A TORCH_TRACE log; raises TraceError."""
    return RunSide(
        build_report(log),
        lambda payload: load_text(log, payload),
        lambda compilation, graph: load_graph(log, compilation, graph),
    )


def log_at(what: str) -> Path | None:
    """The log of that path, or the largest in that directory; None where there is neither. Raises TraceError."""
    path = Path(what)
    if path.is_dir():
        logs = sorted(path.glob("*.log"), key=lambda log: log.stat().st_size)
        if not logs:
            raise TraceError(f"{path} holds no .log file")
        return logs[-1]
    return path if path.is_file() else None


def side_of(what: str) -> RunSide:
    """A log by its path, or that of a directory of logs, else a run by its id; raises StoreError, TraceError."""
    log = log_at(what)
    found = side_of_log(log) if log is not None else side_of_run(Store().open(what))
    if not found.report.kinds:
        raise TraceError(NO_RECORD)
    return found

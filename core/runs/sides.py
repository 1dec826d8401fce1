"""Two runs, or imported logs, as the sides of a comparison.

Runs with which a run can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from core.analysis.comparison import RunSide
from core.base.errors import TraceError
from core.base.files import largest
from core.job import CompileJob
from core.job.model import REPAIRED
from core.runs.status import Status
from core.runs.store import Run, Store
from core.runs.stored import open_graph, open_report
from core.trace import NO_RECORD
from core.trace.parsers import build_report, load_graph, load_text

MOST = 50


def side_of_run(run: Run) -> RunSide:
    """Return a stored run as a side; raises StoreError if it has no log yet."""
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
        log = largest(path, "*.log")
        if log is None:
            raise TraceError(f"{path} holds no .log file")
        return log
    return path if path.is_file() else None


def side_of(what: str) -> RunSide:
    """Return the side of a log or a directory of logs, otherwise of a run by its id.

    Raises StoreError, TraceError.
    """
    log = log_at(what)
    side = side_of_log(log) if log is not None else side_of_run(Store().open(what))
    if not side.report.kinds:
        raise TraceError(NO_RECORD)
    return side


@dataclass(frozen=True, slots=True)
class Comparable:
    """A run of the same model; `job` is None for an imported log."""

    run: Run
    status: Status
    job: CompileJob | None


def comparable_runs(
    listed: Sequence[tuple[Run, Status]], run: Run, title: str, job: CompileJob | None
) -> tuple[Comparable, ...]:
    """Return the first ended runs of the same model among `listed`, in the order of `Store.list`.

    The run's fixes and their origin come first, then the newest. Imported logs, which have no job, are matched by
    title.
    """
    ended = [
        (candidate, status)
        for candidate, status in listed
        if not status.live
        and status.state != "damaged"
        and candidate.id != run.id
        and _may_be(candidate, status, title, job)
    ]
    candidates = [Comparable(candidate, status, candidate.job()) for candidate, status in ended[:MOST]]
    fit = [comparable for comparable in candidates if _is_similar(comparable, run, title, job)]
    return tuple(sorted(fit, key=lambda comparable: not _is_related(comparable, run, job)))


def _may_be(candidate: Run, status: Status, title: str, job: CompileJob | None) -> bool:
    """Return True if a run's job should be read: equal title, with or without fixes, or the origin of a fix."""
    return _plain(status.title) == _plain(title) or (job is not None and job.repairs_of == candidate.id)


def _plain(title: str) -> str:
    return title.removesuffix(REPAIRED)


def _is_similar(comparable: Comparable, run: Run, title: str, job: CompileJob | None) -> bool:
    if _is_related(comparable, run, job):
        return True
    if job is None or comparable.job is None:
        return comparable.status.title == title
    return comparable.job.model == job.model


def _is_related(comparable: Comparable, run: Run, job: CompileJob | None) -> bool:
    """Return True if one of two runs tests a fix of the other."""
    return bool(
        (job is not None and job.repairs_of == comparable.run.id)
        or (comparable.job is not None and comparable.job.repairs_of == run.id)
    )


def likeliest(candidates: Sequence[Comparable], job: CompileJob | None) -> Comparable:
    """Return the newest run for another target, otherwise the newest."""
    target = job.target if job else ""
    return next(
        (comparable for comparable in candidates if comparable.job and comparable.job.target != target), candidates[0]
    )

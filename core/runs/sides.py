"""Two runs, or imported logs, as the sides of a comparison.

Runs with which a run can be compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.analysis.comparison import RunSide
from core.base.errors import TraceError
from core.base.words import number, ranges_words
from core.job import CompileJob
from core.job.model import REPAIRED
from core.runs.inputs import opened_input
from core.runs.rank_logs import RankLogs
from core.runs.status import Status
from core.runs.store import Run, Store
from core.runs.stored import open_graph, open_report
from core.trace import NO_RECORD
from core.trace.parsers import build_report, load_graph, load_text

MOST = 50
WITH_RANK = re.compile(r"(.+)@(\d{1,6})")


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


@dataclass(frozen=True, slots=True)
class OpenedLog:
    """A log outside the store: its file, its rank among `ranks` (None without ranks), and its origin."""

    path: Path
    rank: int | None = None
    ranks: tuple[int, ...] = ()
    origin: str = ""

    @property
    def words(self) -> str:
        """The rank that is read and the files that are not, as sentences; empty for a single log."""
        rank = f"Rank {self.rank} of {number(len(self.ranks))} (--rank N)." if len(self.ranks) > 1 else ""
        return " ".join(filter(None, (rank, self.origin)))


@contextmanager
def opened_log(what: str, rank: int | None = None) -> Iterator[OpenedLog | None]:
    """Open a log, or one rank's log in a directory or an archive: `rank`, or the one in `PATH@3`, or the lowest.

    None if there is no such path. Raises TraceError, StoreError.
    """
    path, named = _path_and_rank(what)
    if not path.exists():
        yield None
        return
    with opened_input(path) as logs:
        yield _chosen(path, logs, named if rank is None else rank)


def _path_and_rank(what: str) -> tuple[Path, int | None]:
    match = WITH_RANK.fullmatch(what)
    if match is None or Path(what).exists():
        return Path(what), None
    return Path(match[1]), int(match[2])


def _chosen(path: Path, logs: RankLogs, rank: int | None) -> OpenedLog:
    ranks = tuple(logs.ranks)
    if rank is not None and rank not in logs.ranks:
        known = f"its ranks are {ranges_words(ranks)}" if ranks else "its log is not split by ranks"
        raise TraceError(f"{path} has no rank {rank}; {known}")
    shown = rank if rank is not None else next(iter(ranks), None)
    return OpenedLog(logs.single if shown is None else logs.ranks[shown], shown, ranks, logs.origin)


@contextmanager
def opened_side(what: str) -> Iterator[RunSide]:
    """Open the side of a log, a directory or an archive of logs, otherwise of a run by its id; `@3` names a rank.

    Raises StoreError, TraceError.
    """
    with opened_log(what) as log:
        side = side_of_log(log.path) if log is not None else side_of_run(Store().open(what))
        if not side.report.kinds:
            raise TraceError(NO_RECORD)
        yield side


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
        and candidate.path != run.path
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

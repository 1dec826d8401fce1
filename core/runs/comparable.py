"""Runs with which a run can be compared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.job import CompileJob
from core.job.model import REPAIRED
from core.runs.status import Status
from core.runs.store import Run

MOST = 50


@dataclass(frozen=True, slots=True)
class Comparable:
    """A run of the same model; `job` is None for an imported log."""

    run: Run
    status: Status
    job: CompileJob | None


def comparable_runs(
    listed: Sequence[tuple[Run, Status]], run: Run, title: str, job: CompileJob | None
) -> tuple[Comparable, ...]:
    """The first ended runs of the same model among those that are listed, as `Store.list` does it: first what was
    repaired, or repairs it, then the newest.

    Logs from elsewhere, which have no job, are known by their titles alone.
    """
    ended = [
        (other, status)
        for other, status in listed
        if not status.live and status.state != "damaged" and other.id != run.id and _may_be(other, status, title, job)
    ]
    found = [Comparable(other, status, other.job()) for other, status in ended[:MOST]]
    fit = [item for item in found if _is_alike(item, run, title, job)]
    return tuple(sorted(fit, key=lambda item: not _is_related(item, run, job)))


def _may_be(other: Run, status: Status, title: str, job: CompileJob | None) -> bool:
    """Return True if a run's job is worth reading: equal title, repaired or not, or the origin of a repair."""
    return _plain(status.title) == _plain(title) or (job is not None and job.repairs_of == other.id)


def _plain(title: str) -> str:
    return title.removesuffix(REPAIRED)


def _is_alike(item: Comparable, run: Run, title: str, job: CompileJob | None) -> bool:
    if _is_related(item, run, job):
        return True
    if job is None or item.job is None:
        return item.status.title == title
    return item.job.model == job.model


def _is_related(item: Comparable, run: Run, job: CompileJob | None) -> bool:
    """Return True if one of two runs tries a repair of the other."""
    return bool(
        (job is not None and job.repairs_of == item.run.id) or (item.job is not None and item.job.repairs_of == run.id)
    )


def likeliest(found: Sequence[Comparable], job: CompileJob | None) -> Comparable:
    """Return the newest run for another target, otherwise the newest."""
    target = job.target if job else ""
    return next((item for item in found if item.job and item.job.target != target), found[0])

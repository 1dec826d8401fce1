"""Which runs a run can be held against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.job import CompileJob
from core.status import Status
from core.store import Run

MOST = 50


@dataclass(frozen=True, slots=True)
class Comparable:
    """A run of the same model; `job` is None for a log from elsewhere."""

    run: Run
    status: Status
    job: CompileJob | None


def comparable_runs(
    listed: Sequence[tuple[Run, Status]], run: Run, title: str, job: CompileJob | None
) -> tuple[Comparable, ...]:
    """The first ended runs of the same model among those that are listed, as `Store.list` does it, newest first.

    Logs from elsewhere, which have no job, are known by their titles alone.
    """
    ended = [
        (other, status)
        for other, status in listed
        if status.title == title and not status.live and status.state != "damaged" and other.id != run.id
    ]
    found = (Comparable(other, status, other.job()) for other, status in ended[:MOST])
    return tuple(item for item in found if job is None or item.job is None or item.job.model == job.model)


def likeliest(found: Sequence[Comparable], job: CompileJob | None) -> Comparable:
    """The newest run for another target, else the newest."""
    target = job.target if job else ""
    return next((item for item in found if item.job and item.job.target != target), found[0])

"""Which runs the shown one can be compared with."""

from __future__ import annotations

from core import CompileJob, Run, Status
from core.report import Compilation, Report
from pages.look.text import one_line
from pages.session import server
from pages.session.runs import run_label
from pages.session.shown import Shown

MOST_RUNS = 50


def other_runs(here: Shown) -> dict[str, str]:
    """Ended runs of the same model, newest first, each with its label."""
    job = here.run.job()
    stored = [(run, status) for run, status in server.runner().store.list() if status.title == here.status.title]
    ended = [
        (run, status)
        for run, status in stored
        if not status.live and status.state != "damaged" and run.id != here.run.id
    ]
    return {run.id: _long_label(run, status) for run, status in ended[:MOST_RUNS] if _same_model(job, run.job())}


def _same_model(one: CompileJob | None, other: CompileJob | None) -> bool:
    """Whether two jobs name the same model; logs from elsewhere, which have no job, are known by their titles alone."""
    return one is None or other is None or one.model == other.model


def _long_label(run: Run, status: Status) -> str:
    """A run in the list of right sides: what it was made for and when, and the end of its id, since a choice is known
    by its label.
    """
    job = run.job()
    return one_line(" · ".join([run_label(run, status), *(job.differences() if job else []), run.id[-4:]]), 140)


def default_other(here: Shown, others: dict[str, str]) -> str:
    """The newest run for another target, else the newest."""
    target = (job.target if (job := here.run.job()) else "") or ""
    jobs = {run_id: server.runner().store.open(run_id).job() for run_id in others}
    return next((run_id for run_id, job in jobs.items() if job and job.target != target), next(iter(others)))


def opposite(there: Report, item: Compilation) -> Compilation | None:
    """The compilation of the other run that stands opposite to the chosen one."""
    same = there.compilation(item.id)
    if same is not None and same.kernels:
        return same
    return next((found for found in there.compilations if found.kernels), None)

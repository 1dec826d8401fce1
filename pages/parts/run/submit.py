"""A job becomes a run, and the page goes there."""

from __future__ import annotations

from core import CompileJob, Run
from pages.gate.visitor import may_bring_code
from pages.session import doors, server
from pages.session.attempt import attempt, passed_over
from pages.session.runs import show_run
from pages.session.shown import Shown
from pages.session.view import RunView


def job_again(of: Shown | RunView) -> CompileJob | None:
    """The job of a run that this visitor may run once more; None for a log from elsewhere, and for code that may not
    run here.
    """
    job = of.job
    return job if job is not None and (job.model.kind == "sample" or may_bring_code()) else None


def submit(job: CompileJob) -> None:
    """Queue a job and go to its run, or say what is wrong with it."""
    run = attempt(lambda: doors.submit(job))
    if run is not None:
        show_run(run.id)


def stored_run(job: CompileJob) -> Run | None:
    """A finished run of the very same job; None without one, and for a job that is not right."""
    return attempt(lambda: server.runner().stored(job), passed_over)


def run_of(job: CompileJob) -> Run | None:
    """A finished run of the very same job, else a new one; None where that is refused, and the page says why."""
    fitted = server.runner().limits.fitted(job)
    return stored_run(fitted) or attempt(lambda: doors.submit(fitted))


def submit_or_open(job: CompileJob) -> None:
    """A finished run of the very same job is shown at once; else it is made."""
    job = server.runner().limits.fitted(job)
    stored = stored_run(job)
    if stored is not None:
        show_run(stored.id)
    submit(job)

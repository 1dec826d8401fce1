"""A job becomes a run, and the page goes there."""

from __future__ import annotations

from core import CompileJob, Run
from pages.session import doors, server
from pages.session.attempt import attempt, passed_over
from pages.session.runs import show_run


def submit(job: CompileJob) -> None:
    """Queue a job and go to its run, or say what is wrong with it."""
    run = attempt(lambda: doors.submit(job))
    if run is not None:
        show_run(run.id)


def stored_run(job: CompileJob) -> Run | None:
    """A finished run of the very same job; None without one, and for a job that is not right."""
    return attempt(lambda: server.runner().stored(job), passed_over)


def submit_or_open(job: CompileJob) -> None:
    """A finished run of the very same job is shown at once; else it is made."""
    job = server.runner().limits.fitted(job)
    stored = stored_run(job)
    if stored is not None:
        show_run(stored.id)
    submit(job)

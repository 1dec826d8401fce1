"""Submission of a job: start a new run or find an existing one, and go to its page."""

from __future__ import annotations

from core import CompileJob, Environment, Recording, Run, recordings
from core.views.job_form import JobForm
from pages import menu
from pages.gate.visitor import may_bring_code
from pages.session import actions, server
from pages.session.actions import attempt, passed_over
from pages.session.runs import newest_of, show_run
from pages.session.shown import RunView, ShownRun


def job_to_change(of: ShownRun | RunView) -> CompileJob | None:
    """Return the job of a run as the start of a changed job, possibly for another device.

    None for an imported log, for a script, which is run as it is, and for code that may not run here.
    """
    job = job_to_edit(of)
    return None if job is None or job.model.is_script else job


def job_to_edit(of: ShownRun | RunView) -> CompileJob | None:
    """Return the job of a run to fill the form; None for an imported log, and for code that may not run here."""
    job = of.job
    return job if job is not None and (job.model.kind == "sample" or may_bring_code()) else None


def job_again(of: ShownRun | RunView) -> CompileJob | None:
    """Return the job of a run if this visitor may run it again and its device is available here; otherwise None."""
    job = job_to_change(of)
    return None if job is None or missing_device(job) else job


def missing_device(job: CompileJob) -> str:
    """Return the kind of device that a job needs and this machine does not have; empty if there is none."""
    kind = job.device.partition(":")[0]
    if kind == "cpu":
        return ""
    here = server.environment() or Environment()
    return "" if kind in {name.partition(":")[0] for name in here.devices} else kind


def needs_device(of: ShownRun | RunView) -> str:
    """Return a text if a run cannot be repeated because its device is missing here; otherwise empty."""
    job = job_to_change(of)
    kind = missing_device(job) if job is not None else ""
    return JobForm.missing_device(kind) if kind else ""


def recorded_as(job: CompileJob) -> Recording | None:
    """Return the recorded run of the same job; None if there is none."""
    return next((one for one in recordings() if one.job == job), None)


def open_recorded(recording: Recording) -> None:
    """Open the run of a recording: the stored one if it was opened before, otherwise store it."""
    opened = newest_of(recording.fingerprint)
    run = opened.run if opened else attempt(lambda: actions.open_recording(recording.name))
    if run is not None:
        show_run(run.id)


def submit(job: CompileJob, page: menu.Page = menu.OVERVIEW) -> None:
    """Queue a job and go to a page of its run, or show why it was refused."""
    run = attempt(lambda: actions.submit(job))
    if run is not None:
        show_run(run.id, page)


def stored_run(job: CompileJob) -> Run | None:
    """Return a finished run of the same job that this visitor may open; None if there is none."""
    run = attempt(lambda: server.runner().stored(job), passed_over)
    return attempt(lambda: server.open_run(run.id), passed_over) if run is not None else None


def run_of(job: CompileJob) -> Run | None:
    """Return a finished run of the same job, otherwise a new one; None if it is refused, and the page shows why."""
    fitted = server.runner().limits.fitted(job)
    return stored_run(fitted) or attempt(lambda: actions.submit(fitted))


def submit_or_open(job: CompileJob, page: menu.Page = menu.OVERVIEW) -> None:
    """Go to a page of a finished run of the same job, or submit the job if there is none."""
    job = server.runner().limits.fitted(job)
    stored = stored_run(job)
    if stored is not None:
        show_run(stored.id, page)
    submit(job, page)

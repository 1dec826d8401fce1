"""A job becomes a run, and the page goes there."""

from __future__ import annotations

from core import CompileJob, Environment, Recording, Run, recordings
from pages.gate.visitor import may_bring_code
from pages.session import doors, server
from pages.session.attempt import attempt, passed_over
from pages.session.runs import newest_of, show_run
from pages.session.shown import Shown
from pages.session.view import RunView


def job_to_change(of: Shown | RunView) -> CompileJob | None:
    """The job of a run as the beginning of another, for another device too; None for a log from elsewhere, and for code
    that may not run here.
    """
    job = of.job
    return job if job is not None and (job.model.kind == "sample" or may_bring_code()) else None


def job_again(of: Shown | RunView) -> CompileJob | None:
    """The job of a run that this visitor may run once more; None also where its device is not here."""
    job = job_to_change(of)
    return None if job is None or missing_device(job) else job


def missing_device(job: CompileJob) -> str:
    """The kind of device that a job needs and this machine does not have; empty where it has it."""
    kind = job.device.partition(":")[0]
    if kind == "cpu":
        return ""
    here = server.environment() or Environment()
    return "" if kind in {name.partition(":")[0] for name in here.devices} else kind


def needs_device(of: Shown | RunView) -> str:
    """Return why a run cannot be made again here if a device is missing; else empty."""
    job = job_to_change(of)
    kind = missing_device(job) if job is not None else ""
    return f"Running this again needs a {kind.upper()} device, which is not here." if kind else ""


def recorded_as(job: CompileJob) -> Recording | None:
    """The recorded run of the very same job; None if the gallery has none."""
    return next((one for one in recordings() if one.job == job), None)


def open_recorded(one: Recording) -> None:
    """The run that was opened from a recording before, else a new one."""
    opened = newest_of(one.fingerprint)
    run = opened[0] if opened else attempt(lambda: doors.open_recording(one.name))
    if run is not None:
        show_run(run.id)


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

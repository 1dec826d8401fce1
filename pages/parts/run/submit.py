"""Submission of a job: start a new run or open an existing run, and buttons for the shown run's job.

Buttons run the job again: to measure it, to record more, to replace unreliable times, or for another device.
One button fills the form with the job. Nothing is drawn where the job may not run again here, as for an imported log.
"""

from collections.abc import Callable
from dataclasses import replace

import streamlit as st

from core import TARGETS, CompileJob, Environment, Recording, Run, measured_again, recordings
from core.views.capture import CaptureView
from core.views.job_form import JobForm
from core.views.numerics import NumericsView
from core.views.overview import OutcomeView, OverviewView
from pages import menu
from pages.gate.visitor import may_bring_code
from pages.look.palette import MAX_LINE_CHARS
from pages.parts.sweep.sweeps import ask_preset
from pages.session import actions, server, url
from pages.session.actions import attempt, passed_over, refused
from pages.session.runs import newest_of, show_run
from pages.session.shown import RunView, ShownRun
from pages.session.url import pressed


def job_to_change(of: ShownRun | RunView) -> CompileJob | None:
    """Return the job of a run, also for another device, as the start of a changed job; or None."""
    job = job_to_edit(of)
    return None if job is None or job.model.is_script else job


def job_to_edit(of: ShownRun | RunView) -> CompileJob | None:
    """Return the job of a run to fill the form; None for a log, and for code that may not run here."""
    job = of.job
    return job if job is not None and (job.model.kind == "sample" or may_bring_code()) else None


def job_again(of: ShownRun | RunView) -> CompileJob | None:
    """Return the job of a run; None if this visitor may not run it again here, or has no such device."""
    job = job_to_change(of)
    return None if job is None or missing_device(job) else job


def job_on_device(of: ShownRun | RunView) -> CompileJob | None:
    """Return the job of a run; None as for `job_again`, and for a job with a target."""
    job = job_again(of)
    return None if job is None or job.target else job


def job_here(of: RunView, command: str) -> CompileJob | None:
    """Return the job of a run as it can run here, or None after a command for a terminal."""
    job = job_to_change(of)
    if job is None:
        st.caption(JobForm.in_a_terminal)
        st.code(command, language=None)
        st.page_link(menu.NEW_RUN.script, label=JobForm.own_model, icon=menu.NEW_RUN.icon)
        return None
    kind = missing_device(job)
    if kind or job.target:
        st.caption(JobForm.on_this_machine(kind))
        return replace(job, target="", device="cpu" if kind else job.device)
    return job


def missing_device(job: CompileJob) -> str:
    """Return the kind of device that a job needs and this machine lacks; empty if nothing is missing."""
    kind = job.device.partition(":")[0]
    if kind == "cpu":
        return ""
    here = server.environment() or Environment()
    return "" if kind in {name.partition(":")[0] for name in here.devices} else kind


def needs_device(of: ShownRun | RunView) -> str:
    """Return a sentence if a run cannot be repeated because its device is missing here; otherwise empty."""
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


def submit(job: CompileJob, page: menu.Page = menu.OVERVIEW, say: Callable[[str], object] = refused) -> None:
    """Queue a job and go to a page of its run, or pass the reason for a refusal to `say`."""
    run = attempt(lambda: actions.submit(job), say)
    if run is not None:
        show_run(run.id, page)


def stored_run(job: CompileJob) -> Run | None:
    """Return a finished run of the same job that this visitor may open; None if there is none."""
    run = attempt(lambda: server.runner().stored(job), passed_over)
    return attempt(lambda: server.open_run(run.id), passed_over) if run is not None else None


def run_of(job: CompileJob) -> Run | None:
    """Return a finished run of the same job, otherwise a new run; None after a refusal."""
    fitted = server.runner().limits.fitted(job)
    return stored_run(fitted) or attempt(lambda: actions.submit(fitted))


def submit_or_open(job: CompileJob, page: menu.Page = menu.OVERVIEW) -> None:
    """Go to a page of a finished run of the same job, or submit the job if there is none."""
    job = server.runner().limits.fitted(job)
    stored = stored_run(job)
    if stored is not None:
        show_run(stored.id, page)
    submit(job, page)


HELP = JobForm.again_help


def measure_now(of: RunView) -> None:
    """Offer to measure a run that was not measured."""
    job = job_on_device(of)
    if job is None or job.measure:
        return
    if pressed("Measure now", key="measure-now", icon=":material/speed:", help=HELP["measure"]):
        submit_or_open(replace(job, measure=True))


def measure_again(*sides: RunView, label: str = "Measure again") -> None:
    """Offer to measure each ended run with unreliable times again."""
    for at, of in enumerate(sides):
        if not of.going and OverviewView(of.report).is_doubtful:
            side = f" ({('left', 'right')[at]})" if len(sides) > 1 else ""
            _again(of, label + side, f"measure-again-{at}")


def time_kernels(of: RunView) -> None:
    """Offer to time the kernels of a run without kernel times."""
    measure_now(of)
    measure_again(of, label="Time the kernels")


def _again(of: ShownRun | RunView, label: str, key: str) -> None:
    job = job_on_device(of)
    if job is not None and pressed(label, key=key, icon=":material/replay:", help=HELP["again"]):
        submit(measured_again(job))


def measure_picked(of: ShownRun) -> None:
    """Offer to measure a run of a list again, even if its times are reliable."""
    if not of.going:
        _again(of, "Measure again", f"measure-again-{of.run.id}")


def find_cause(shown: ShownRun, ending: OutcomeView) -> None:
    """Offer to look for the part of torch.compile at fault: by torch's bisector, or by a ladder of runs."""
    job = job_again(shown)
    if job is None or not pressed(
        "Find out where", key="find-where", icon=":material/troubleshoot:", type="primary", help=HELP["where"]
    ):
        return
    bisecting = ending.bisecting(job)
    if bisecting is not None:
        submit_or_open(bisecting)
    else:
        ask_preset(job, "ladder")


def edit_and_run_again(shown: ShownRun) -> None:
    """Offer to edit the run's job; draw nothing for an imported log and for code that may not run here."""
    if job_to_edit(shown) is not None:
        query = {url.AGAIN: shown.run.id}
        st.page_link(menu.NEW_RUN.script, label="Edit and run again", icon=":material/edit:", query_params=query)


def measure_memory(of: RunView) -> None:
    """Offer to measure the memory of a run without it."""
    job, icon = job_on_device(of), menu.MEMORY.icon
    if job and not job.memory and pressed("Measure memory", key="measure-memory", icon=icon, help=HELP["memory"]):
        submit_or_open(replace(job, memory=True))


def record_profile(of: RunView) -> None:
    """Offer to record a profile of the calls of a run."""
    job, icon = job_on_device(of), menu.TIMELINE.icon
    if job and pressed("Record a profile", key="record-profile", icon=icon, help=HELP["profile"]):
        submit_or_open(replace(job, profile=True), menu.TIMELINE)


def capture_now(of: RunView) -> None:
    """Offer to capture a run's model in other ways, unless it has."""
    job = CaptureView.capturing(job_again(of))
    if job is not None and pressed("Run other captures", key="capture-now", icon=menu.CAPTURES.icon):
        submit_or_open(job, menu.CAPTURES)


def neighbours_now(of: RunView) -> None:
    """Offer to run the model of a run on other compilers and runtimes."""
    job = job_here(of, JobForm.neighbours_command)
    help_ = HELP["neighbours"]
    if job is not None and pressed("Try the neighbours", key="neighbours-now", icon=menu.NEIGHBOURS.icon, help=help_):
        submit_or_open(replace(job, neighbours=True), menu.NEIGHBOURS)


def numerics_now(of: RunView, label: str) -> None:
    """Offer to compare all results and nodes of a run with float64, unless it does."""
    job = job_on_device(of)
    if job is None or job.numerics == "nodes":
        return
    if pressed(label, key="numerics-now", icon=":material/exposure:", help=HELP["numerics"]):
        submit_or_open(replace(job, numerics="nodes"), menu.NUMERICS)


def bits_now(of: RunView, numerics: NumericsView) -> None:
    """Offer to compare a run of Inductor bit by bit with another configuration."""
    job = job_again(of)
    if job is None or not numerics.compares_bits(job):
        return
    with st.popover("Compare bit by bit…", icon=":material/compare:", help=HELP["bits"]):
        typed = st.text_input(
            "Other configuration", numerics.bits_typed(job), key="bits-other", max_chars=MAX_LINE_CHARS
        )
        if pressed("Compare", key="bits-now", type="primary"):
            changed = attempt(lambda: numerics.with_bits(job, typed))
            if changed is not None:
                submit_or_open(changed)


def debug_files_now(of: RunView) -> None:
    """Offer to record the debug files of a run without them."""
    job = job_again(of)
    if job is not None and not job.debug_files and pressed("Run with debug files", key="debug-files-now"):
        submit_or_open(replace(job, debug_files=True, measure=False))


def retarget(of: ShownRun | RunView) -> None:
    """Offer to run the job for each other target, or on this machine's device."""
    job = job_to_change(of)
    if job is None:
        return
    with st.popover("Generate for…", icon=":material/memory:", help=HELP["target"]):
        if (job.target or missing_device(job)) and pressed(
            "this machine's device", key="retarget-here", type="tertiary"
        ):
            submit_or_open(replace(job, target="", device="cpu" if missing_device(job) else job.device))
        for key, target in TARGETS.items():
            if key != job.target and pressed(target.title, key=f"retarget-{key}", type="tertiary"):
                submit_or_open(replace(job, target=key, device="cpu"))

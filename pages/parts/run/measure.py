"""Buttons that run the same job again, to add missing measurements or replace unreliable ones.

Link from a run back to the form, filled with the run's model and options.

Button that runs the same job again and measures its memory.

Button that runs the same job again and records a profile.

Button that runs the same job again and compares it with float64.

Button that runs the same job again, and its model on other compilers and runtimes.

Buttons that run the same job for another device or cross-compilation target.
"""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core import TARGETS, measured_again
from core.views.capture import CaptureView
from core.views.job_form import JobForm
from core.views.numerics import NumericsView
from core.views.overview import OutcomeView, OverviewView
from pages import menu
from pages.look.palette import MAX_LINE_CHARS
from pages.parts.run.submit import job_again, job_to_change, job_to_edit, missing_device, submit, submit_or_open
from pages.parts.sweep.ask import climb_ladder
from pages.session import url
from pages.session.actions import attempt
from pages.session.shown import RunView, ShownRun
from pages.session.url import pressed

HELP = JobForm.again_help
HERE = "this machine's device"


def measure_now(of: RunView) -> None:
    """Offer to measure a run that was not measured.

    Draw nothing for an imported log, for a device that is missing here, and for code that may not run here.
    """
    job = job_again(of)
    if job is None or job.measure or job.target:
        return
    if pressed("Measure now", key="measure-now", icon=":material/speed:", help=HELP["measure"]):
        submit_or_open(replace(job, measure=True))


def measure_again(*sides: RunView, label: str = "Measure again") -> None:
    """Offer to measure each run with unreliable times again.

    Draw nothing for a live run, and for a run that may not run again.
    """
    for at, of in enumerate(sides):
        if not of.going and OverviewView(of.report).is_doubtful:
            side = f" ({('left', 'right')[at]})" if len(sides) > 1 else ""
            _again(of, label + side, f"measure-again-{at}")


def _again(of: ShownRun | RunView, label: str, key: str) -> None:
    job = job_again(of)
    if job is None or job.target:
        return
    if pressed(label, key=key, icon=":material/replay:", help=HELP["again"]):
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
        climb_ladder(job)


def edit_and_run_again(shown: ShownRun) -> None:
    """Offer to edit the run's job; draw nothing for an imported log and for code that may not run here."""
    if job_to_edit(shown) is None:
        return
    st.page_link(
        menu.NEW_RUN.script,
        label="Edit and run again",
        icon=":material/edit:",
        query_params={url.AGAIN: shown.run.id},
    )


def measure_memory(of: RunView) -> None:
    """Offer to measure the memory of a run.

    Draw nothing for a run with measured memory, an imported log, a target, and code that may not run here.
    """
    job = job_again(of)
    if job is None or job.memory or job.target:
        return
    if pressed("Measure memory", key="measure-memory", icon=menu.MEMORY.icon, help=HELP["memory"]):
        submit_or_open(replace(job, memory=True))


def record_profile(of: RunView) -> None:
    """Offer to record a profile of the calls of a run.

    Draw nothing for an imported log, a script, a target, and code that may not run here.
    """
    job = job_again(of)
    if job is None or job.target or job.model.is_script:
        return
    if pressed("Record a profile", key="record-profile", icon=menu.TIMELINE.icon, help=HELP["profile"]):
        submit_or_open(replace(job, profile=True), menu.TIMELINE)


def capture_now(of: RunView) -> None:
    """Offer to capture a run's model in other ways; nothing for an imported log, a script, and code not run here."""
    job = CaptureView.capturing(job_again(of))
    if job is not None and pressed("Capture in other ways", key="capture-now", icon=menu.CAPTURES.icon):
        submit_or_open(job, menu.CAPTURES)


def neighbours_now(of: RunView) -> None:
    """Offer to run the model of a run on other compilers and runtimes.

    Draw nothing for an imported log, a script, a target, and code that may not run here.
    """
    job = job_again(of)
    if job is None or job.target or job.model.is_script:
        return
    if pressed("Try the neighbours", key="neighbours-now", icon=menu.NEIGHBOURS.icon, help=HELP["neighbours"]):
        submit_or_open(replace(job, neighbours=True), menu.NEIGHBOURS)


def numerics_now(of: RunView, label: str) -> None:
    """Offer to compare all results and nodes of a run with float64.

    Draw nothing for an imported log, for a target, and for code that may not run here.
    """
    job = job_again(of)
    if job is None or job.target or job.numerics == "nodes":
        return
    if pressed(label, key="numerics-now", icon=":material/exposure:", help=HELP["numerics"]):
        submit_or_open(replace(job, numerics="nodes"))


def bits_now(of: RunView, numerics: NumericsView) -> None:
    """Offer to compare a run bit by bit with another configuration.

    Draw nothing for an imported log, for a target, for other backends, and for code that may not run here.
    """
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
    """Offer to record the debug files of a run; nothing if it has them, or if it may not run here."""
    job = job_again(of)
    if job is not None and not job.debug_files and pressed("Run with debug files", key="debug-files-now"):
        submit_or_open(replace(job, debug_files=True, measure=False))


def retarget(of: ShownRun | RunView) -> None:
    """Offer the shown run's job for each other target; nothing for an imported log or code that may not run here."""
    job = job_to_change(of)
    if job is None:
        return
    with st.popover("Generate for…", icon=":material/memory:", help=HELP["target"]):
        if (job.target or missing_device(job)) and pressed(HERE, key="retarget-here", type="tertiary"):
            submit_or_open(replace(job, target="", device="cpu" if missing_device(job) else job.device))
        for key, target in TARGETS.items():
            if key != job.target and pressed(target.title, key=f"retarget-{key}", type="tertiary"):
                submit_or_open(replace(job, target=key, device="cpu"))

"""The same job again: with measurements that were missing or unreliable."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core import measured_again
from core.views.overview import OverviewView
from pages.parts.run.submit import job_again, submit, submit_or_open
from pages.session.shown import ShownRun
from pages.session.view import RunView

AGAIN = (
    "The same job as a run of its own, beside this one. Compiled objects come from the cache, so most of its time is "
    "measuring; do nothing else with the machine meanwhile."
)


def measure_now(of: RunView) -> None:
    """Offer to measure a run that was not measured.

    Nothing for a log from elsewhere, for a device that is not here, and for code that may not run here.
    """
    job = job_again(of)
    if job is None or job.measure or job.target:
        return
    if st.button("Measure now", key="measure-now", icon=":material/speed:", help="The same job, measured"):
        submit_or_open(replace(job, measure=True))


def measure_again(*sides: RunView, label: str = "Measure again") -> None:
    """Offer to measure runs with unreliable times again, one by one.

    Nothing for a live run, and for a run that may not run again.
    """
    for at, of in enumerate(sides):
        if not of.going and OverviewView(of.report).is_doubtful:
            side = f" ({('left', 'right')[at]})" if len(sides) > 1 else ""
            _again(of, label + side, f"measure-again-{at}")


def _again(of: ShownRun | RunView, label: str, key: str) -> None:
    job = job_again(of)
    if job is None or job.target:
        return
    if st.button(label, key=key, icon=":material/replay:", help=AGAIN):
        submit(measured_again(job))


def measure_picked(of: ShownRun) -> None:
    """Offer to measure a run of a list again, whatever its times are."""
    if not of.going:
        _again(of, "Measure again", "measure-again-picked")

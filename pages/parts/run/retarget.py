"""The same job for another device, present here or not."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from core import TARGETS
from pages.parts.run.submit import job_to_change, missing_device, submit_or_open
from pages.session.shown import ShownRun
from pages.session.view import RunView

HERE = "the device of this machine"
HELP = (
    "Code is generated and compiled down to machine code for the device; the model itself runs eagerly on this CPU. "
    "Nothing is run or timed on the device, which need not be here."
)


def retarget(of: ShownRun | RunView) -> None:
    """Offer the shown run's job for each other target; nothing for a log from elsewhere or code that may
    not run here.
    """
    job = job_to_change(of)
    if job is None:
        return
    with st.popover("Generate for…", icon=":material/memory:", help=HELP):
        if (job.target or missing_device(job)) and st.button(HERE, key="retarget-here", type="tertiary"):
            submit_or_open(replace(job, target="", device="cpu" if missing_device(job) else job.device))
        for key, target in TARGETS.items():
            if key != job.target and st.button(target.title, key=f"retarget-{key}", type="tertiary"):
                submit_or_open(replace(job, target=key, device="cpu"))

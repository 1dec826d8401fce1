"""What-if runs: the shown run's job with one changed option, compared with the shown run."""

from __future__ import annotations

from functools import partial

import streamlit as st

from core import CompileJob, Environment
from core.views.job_form import JobForm
from core.views.sweep import WhatIfMenu
from pages.gate.visitor import may_bring_code
from pages.look.sizes import MAX_CHARS
from pages.parts.run.submit import job_again, run_of
from pages.session import server, url
from pages.session.actions import attempt
from pages.session.presses import pressed
from pages.session.shown import RunView, ShownRun

TYPED = "another field"


def what_if(of: ShownRun | RunView) -> None:
    """Offer to change one option; draw nothing for an imported log and for code that may not run here."""
    job = job_again(of)
    if job is None:
        return
    with st.popover("What if…", icon=":material/alt_route:", help=WhatIfMenu.help):
        label = st.selectbox("Option", [*MENU, TYPED], key="what-if-option")
        right_job = _typed(job) if label == TYPED else _chosen(job, label)
        if pressed("Run and compare", type="primary", key="what-if-run", disabled=right_job is None) and right_job:
            _compare_with(right_job)


def _chosen(job: CompileJob, label: str) -> CompileJob | None:
    choices = MENU[label](job)
    word = st.selectbox("Instead", list(choices), key=f"what-if-{label}")
    return choices.get(word or "")


def _typed(job: CompileJob) -> CompileJob | None:
    """Draw a field for options in the form of sweep axes; return the changed job.

    None if nothing valid is typed, or if the job stays the same.
    """
    menu = _menu(job)
    text = st.text_area(
        "Fields",
        key="what-if-fields",
        placeholder=menu.fields_example,
        help=menu.fields_help,
        height=84,
        max_chars=MAX_CHARS,
        label_visibility="collapsed",
    )
    return attempt(lambda: menu.changed_job(text))


def _compare_with(job: CompileJob) -> None:
    """Show a run of the job on the right: a finished run of the same job, or a new one."""
    run = run_of(job)
    if run is not None:
        url.put(url.OTHER, run.id)
        st.rerun()


def _menu(job: CompileJob) -> WhatIfMenu:
    return WhatIfMenu(job, lambda: _backends(job))


def _backends(job: CompileJob) -> list[str]:
    return JobForm(server.environment() or Environment(), job, server.runner().limits, may_bring_code()).backends


def _choices(label: str, job: CompileJob) -> dict[str, CompileJob]:
    return _menu(job).choices(label)


# The jobs that an option makes of a job, by the option's label.
MENU = {label: partial(_choices, label) for label in WhatIfMenu.labels}

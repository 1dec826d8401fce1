"""Start of the page Sweep: the model to vary, and the list of sweeps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core import MOST_NAME_CHARS, CompileJob, Model, Sweep, samples
from core.base import words as fmt
from core.views.sweep import sweep_rows
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_LINE, plain
from pages.session import actions, server
from pages.session.actions import attempt, toasted
from pages.session.state import held
from pages.session.sweeps import listed_sweeps, show_sweep
from pages.session.tables import opened_or_ticked

SHOWN = "the shown run"


def asked_of(job: CompileJob | None) -> CompileJob:
    """Return the job to vary: the shown run's if it has one, otherwise a sample's."""
    names = [item.name for item in samples()]
    offered = [*([SHOWN] if job else []), *names]
    titles = {item.name: item.title for item in samples()}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Ask of")
        chosen = st.selectbox(
            "Model",
            offered,
            format_func=lambda name: titles.get(name, f"the shown run: {job.title() if job else ''}"),
            label_visibility="collapsed",
            key="sweep-of",
            width=360,
        )
        if chosen == SHOWN and job is not None:
            st.caption(plain(" · ".join([job.device, *job.differences()]), LONGEST_LINE))
    return job if job is not None and chosen == SHOWN else CompileJob(Model("sample", str(chosen)))


def sweeps_so_far() -> None:
    """Draw one row per sweep with a button to open it; a ticked sweep can be renamed, ticked sweeps can be deleted."""
    sweeps = listed_sweeps()
    st.header("Sweeps so far", anchor=False)
    if not sweeps:
        st.caption("No sweeps yet. Start one with a question above.")
        return
    frame = pd.DataFrame(sweep_rows(sweeps, server.sweeps().store.name, time.time()))
    opened, ticked = opened_or_ticked(frame, sweeps, "sweeps-table", "sweep", height=SHORT)
    if opened is not None:
        show_sweep(opened.id)
    if len(ticked) == 1:
        _rename(ticked[0])
    if ticked:
        _delete(ticked)


def _rename(sweep: Sweep) -> None:
    key = f"name-{sweep.id}"
    st.text_input(
        "Name",
        server.sweeps().store.name(sweep.id),
        key=key,
        placeholder=sweep.title,
        max_chars=MOST_NAME_CHARS,
        width=300,
        on_change=lambda: attempt(lambda: actions.rename_sweep(sweep.id, held(key)), toasted),
    )


def _delete(ticked: Sequence[Sweep]) -> None:
    """Delete sweeps, and on request their runs."""
    with st.popover(f"Delete {fmt.count(len(ticked), 'sweep')}", icon=":material/delete:"):
        with_runs = st.checkbox(f"and the runs of {fmt.agree(len(ticked), 'its', 'their')} cells")
        if st.button("Delete for good", type="primary"):
            for sweep in ticked:
                attempt(partial(actions.delete_sweep, sweep.id, with_runs))
            st.rerun()

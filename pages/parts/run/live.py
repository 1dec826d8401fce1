"""A run that is still going: one polling fragment draws all that depends on it."""

from __future__ import annotations

import time

import streamlit as st

from core import Progress, Run, Status, progress
from core import words as fmt
from pages.components.progress.view import progress_view
from pages.gate.visitor import ANOTHERS, who
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_LINE, LONGEST_NAME, plain
from pages.session import doors, server

POLL_S = 0.5


def live_run(run: Run) -> None:
    """Poll a run until it has ended, then let the page show its report."""
    _polling(run)


@st.fragment(run_every=POLL_S)
def _polling(run: Run) -> None:
    status = run.status()
    if not status.live:
        st.rerun()
    found = progress(run.log_path())
    st.title(_headline(run, status, found), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_counts(status, found))
        st.button(
            "Cancel",
            icon=":material/cancel:",
            key="cancel",
            on_click=doors.cancel,
            args=(run,),
            disabled=not who().owns(status.by),
            help=None if who().owns(status.by) else ANOTHERS,
        )
    progress_view(found, key="live-progress", live=True)
    tail = run.output_tail(4_000)
    if tail:
        st.caption("What the model prints")
        st.code(tail, language=None, height=SHORT)


def _headline(run: Run, status: Status, found: Progress) -> str:
    if status.state == "queued":
        before = server.runner().position(run)
        if before:
            return f"Waiting for {fmt.count(before, 'run')} before it…"
        awaited = server.runner().waits_for(run)
        return f"Starting {awaited}, once…" if awaited else "Starting…"
    now = found.now
    if now:
        step = found.steps[-1] if found.steps else "running"
        return f"{plain(step, LONGEST_NAME)}: {plain(now[-1].name, LONGEST_NAME)}…"
    return f"{plain(found.steps[-1].capitalize(), LONGEST_LINE)}…" if found.steps else "Starting the worker…"


def _counts(status: Status, found: Progress) -> str:
    elapsed = time.time() - (status.started_s or status.created_s)
    parts = [
        fmt.duration_s(round(elapsed, 1)),
        fmt.count(found.compilations, "compilation"),
        fmt.count(found.graphs, "graph"),
        fmt.count(found.kernels, "kernel"),
    ]
    return " · ".join(parts)

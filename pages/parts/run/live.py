"""View of a live run: one polling fragment draws all progress until the verdict is final, then one line."""

from __future__ import annotations

import time

import streamlit as st

from core import Run
from core.views import progress
from pages.components.progress.view import progress_view
from pages.gate.visitor import ANOTHERS, who
from pages.look.palette import SHORT
from pages.look.text import plain
from pages.session import actions, server
from pages.session.shown import RunView, ShownRun, open_shown

POLL_S = 0.25
# A followed log redraws the whole page.
FOLLOW_S = 2.0
LAST_CHARS, LAST_RECORDS = 4_000, 8


@st.fragment(run_every=POLL_S)
def live_run(shown: ShownRun) -> None:
    """Poll a run until its verdict is final or the run has ended without a verdict, then rerun the page.

    Also reruns the page when the run starts, since the header shows its state.
    """
    here = open_shown(shown.run.id)
    if here is None or here.stands or bool(here.progress.steps) != bool(shown.progress.steps):
        st.rerun()
    st.title(live_headline(here), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(_counts(here))
        cancel_button(here)
    progress_view(here.progress, key="live-progress", live=True)
    _logged(here)
    _printed(here.run)


@st.fragment(run_every=2 * POLL_S)
def measured_yet(run: Run) -> None:
    """Show the progress of measuring after the final verdict; rerun the page when the run ends."""
    here = open_shown(run.id)
    if here is None or not here.going:
        st.rerun()
    with st.container(horizontal=True, vertical_alignment="center", key="measuring"):
        st.caption(f":material/timer: {progress.measuring_words(plain(here.progress.words))}")
        cancel_button(here)


def followed_log(shown: ShownRun) -> None:
    """Show how far a followed log is, and a button that stops following; rerun the page when there is more."""
    drawn_s, ranks = time.monotonic(), shown.run.ranks()

    @st.fragment(run_every=FOLLOW_S)
    def polling() -> None:
        here = open_shown(shown.run.id)
        changed = here is None or not here.going or here.moment != shown.moment or here.run.ranks() != ranks
        if here is None or (changed and time.monotonic() - drawn_s > FOLLOW_S / 2):
            st.rerun()
        with st.container(horizontal=True, vertical_alignment="center", key="following"):
            st.caption(f":material/sensors: {plain(progress.followed_words(here.run, here.report, time.time()))}")
            if not here.status.in_process:
                cancel_button(here)

    polling()


def cancel_button(shown: ShownRun) -> None:
    """Draw a button that cancels the run, for visitors who own it."""
    own = who().owns(shown.status.by)
    st.button(
        "Stop following" if shown.is_followed else "Cancel",
        icon=":material/stop_circle:" if shown.is_followed else ":material/cancel:",
        key="cancel",
        on_click=actions.cancel,
        args=(shown.run,),
        disabled=not own,
        help=None if own else ANOTHERS,
    )


def _logged(shown: ShownRun) -> None:
    """Draw the newest messages of torch's log, if the job records it."""
    if shown.report is None or not shown.report.logs:
        return
    st.caption("Torch's log")
    view = RunView(shown, shown.report)
    newest = "\n".join(view.text(part.text) for part in shown.report.logs[-LAST_RECORDS:])
    st.code(newest[-LAST_CHARS:], language=None, height=SHORT)


def _printed(run: Run) -> None:
    tail = run.output_tail(LAST_CHARS)
    if tail:
        st.caption("Output of the model")
        st.code(tail, language=None, height=SHORT)


def live_headline(shown: ShownRun) -> str:
    """Describe what a live run does or waits for."""
    if shown.status.state == "queued":
        return plain(progress.waiting_words(server.runner().waits_for(shown.run)))
    return progress.live_words(plain(shown.progress.words))


def _counts(shown: ShownRun) -> str:
    elapsed_s = max(0.0, time.time() - (shown.status.started_s or shown.status.created_s))
    return progress.count_words(shown.progress, elapsed_s)

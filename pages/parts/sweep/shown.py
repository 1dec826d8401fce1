"""A sweep on its page: progress, answer, charts, table.

The table of a sweep: one row per cell, which opens its run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from core.base import words as fmt
from pages import menu
from pages.gate.visitor import ANOTHERS
from pages.look.sizes import TALL
from pages.parts.sweep.pictures import pictures
from pages.session import actions, url
from pages.session.actions import attempt, toasted
from pages.session.downloads import csv_twin, json_twin
from pages.session.runs import show_run
from pages.session.sweeps import ShownSweep, is_as_shown
from pages.session.tables import in_words, newly_picked

POLL_S = 1.0


def sweep(shown: ShownSweep) -> None:
    """Draw the answer so far as the title, then the progress, the charts, and the table."""
    view = shown.view
    st.title(view.title, anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", key="sweep-bar"):
        _progress(shown)
        _steer(shown)
        st.page_link(menu.SWEEP.script, label="All sweeps", icon=":material/apps:", query_params={url.SWEEP: ""})
        csv_twin(view.sweep.id, lambda: view.csv, key="sweep")
        json_twin(view.sweep.id, lambda: view.data, key="sweep")
    pictures(shown)
    if view.notes:
        st.caption("  \n".join(view.notes))
    frame = in_words(pd.DataFrame(view.table), FORMS)
    opened = newly_picked(frame, view.rows, "sweep-table", height=TALL, column_config=COLUMN_WIDTHS, placeholder="")
    if opened is not None and opened.run:
        show_run(opened.run)
    st.caption(view.caption)


@st.fragment(run_every=POLL_S)
def _going(shown: ShownSweep) -> None:
    """Draw the progress of a running sweep, in red if all ended cells failed; rerun the page when there is new data."""
    if not is_as_shown(shown):
        st.rerun()
    words = shown.view.progress(shown.left_s)
    if shown.view.has_only_failures:
        st.error(words, icon=":material/error:")
        return
    st.progress(shown.view.ended_part, words)


def _progress(shown: ShownSweep) -> None:
    if shown.standing.live:
        _going(shown)
        return
    draw = st.error if shown.view.has_only_failures else st.caption
    draw(shown.view.ending)


def _steer(shown: ShownSweep) -> None:
    """Draw the buttons to cancel a live sweep, to resume a stopped one, and to run failed cells again."""
    if shown.standing.live:
        st.button(
            "Cancel",
            icon=":material/cancel:",
            key="cancel-sweep",
            on_click=lambda: attempt(lambda: actions.cancel_sweep(shown.view.sweep.id), toasted),
            disabled=not shown.own or shown.standing.state == "stopping",
            help=None if shown.own else ANOTHERS,
        )
    if shown.view.can_resume:
        _resume(shown, "Resume", again=False)
    if shown.view.can_retry:
        _resume(shown, "Run failed cells again", again=True)


def _resume(shown: ShownSweep, words: str, *, again: bool) -> None:
    st.button(
        words,
        icon=":material/play_arrow:",
        key=f"resume-sweep-{again}",
        on_click=_go_on,
        args=(shown.view.sweep.id, again),
        disabled=not shown.own,
        help=None if shown.own else ANOTHERS,
    )


def _go_on(sweep_id: str, again: bool) -> None:
    """Resume a sweep and show a refusal, as a button's callback."""
    attempt(lambda: actions.resume_sweep(sweep_id, again), toasted)


def _whole(value: Any) -> str:
    """Return a count as integer text, since pandas turns a column with gaps into floats."""
    return fmt.number(int(value))


FORMS: dict[str, Callable[[Any], str]] = {
    **dict.fromkeys(("eager", "compiled", "first compiled call", "compile time"), fmt.duration_s),
    **dict.fromkeys(("compilations", "graphs", "graph breaks", "recompiles", "kernels"), _whole),
    **dict.fromkeys(("peak, eager", "peak, compiled"), fmt.bytes_),
}

COLUMN_WIDTHS: dict[str, Any] = {
    **dict.fromkeys(("what it does", "sets", "cannot run here", "error"), st.column_config.TextColumn(width=330)),
    **dict.fromkeys(("changed against default", "against float64"), st.column_config.TextColumn(width=260)),
    "eager / compiled": st.column_config.TextColumn(width=190, help="Median, with its 99 % interval"),
    "stops after": st.column_config.TextColumn(help="The last stage of which the log holds a graph, or code"),
}

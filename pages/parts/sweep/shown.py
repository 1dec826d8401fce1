"""A sweep on its page: progress, answer, pictures, table.

The table of a sweep: one row per cell, which opens its run.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.sweep import Axis, SweepRow, as_csv, as_json
from core.sweep.presets import Answer, preset_of, reason
from core.views.speedup import ratio_words
from pages import menu
from pages.gate.visitor import ANOTHERS
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, one_line, plain, prose
from pages.parts.sweep.pictures import pictures, progress_words
from pages.session import actions, url
from pages.session.actions import attempt, toasted
from pages.session.downloads import csv_twin, json_twin
from pages.session.runs import show_run
from pages.session.sweeps import ShownSweep, is_as_shown
from pages.session.tables import in_words, newly_picked

POLL_S = 1.0
# Columns in the order of the table; a column without a value in any cell is left out.
COLUMNS: dict[str, Callable[[SweepRow], Any]] = {
    "eager / compiled": lambda row: ratio_words(row.ratio) if row.ratio and row.clear else _unclear(row),
    "eager": lambda row: row.eager_s,
    "compiled": lambda row: row.compiled_s,
    "first compiled call": lambda row: row.first_compiled_s,
    "compile time": lambda row: row.compile_s,
    "compilations": lambda row: row.compilations,
    "graphs": lambda row: row.graphs,
    "graph breaks": lambda row: row.breaks or None,
    "recompiles": lambda row: row.recompiles or None,
    "kernels": lambda row: row.kernels,
    "results": lambda row: row.outcome,
    "peak, eager": lambda row: row.eager_peak_bytes,
    "peak, compiled": lambda row: row.compiled_peak_bytes,
    "machine": lambda row: one_line(row.disturbed, LONGEST_LINE),
    "error": lambda row: one_line(row.error, LONGEST_TEXT),
}


def sweep(shown: ShownSweep) -> None:
    """Draw the answer so far as the title, then the progress, the pictures, and the table."""
    said = shown.answer
    st.title(prose(_headline(shown), LONGEST_TEXT), anchor=False)
    with st.container(horizontal=True, vertical_alignment="center", key="sweep-bar"):
        _standing(shown)
        _steer(shown)
        st.page_link(menu.SWEEP.script, label="All sweeps", icon=":material/apps:", query_params={url.SWEEP: ""})
        csv_twin(shown.sweep.id, lambda: as_csv(shown.sweep.axes, shown.rows), key="sweep")
        json_twin(shown.sweep.id, lambda: as_json(shown.sweep, shown.rows), key="sweep")
    pictures(shown)
    if said.notes:
        st.caption("  \n".join(prose(note, LONGEST_TEXT) for note in said.notes))
    frame = in_words(table(shown.sweep.axes, shown.rows, said), FORMS)
    opened = newly_picked(frame, shown.rows, "sweep-table", height=TALL, column_config=COLUMN_WIDTHS, placeholder="")
    if opened is not None and opened.run:
        show_run(opened.run)
    settings = " · ".join(shown.sweep.base.differences()) or "torch.compile(model)"
    st.caption(f"{plain(shown.name)} · {plain(settings)}. A click opens the run of a cell.")


def _headline(shown: ShownSweep) -> str:
    """Draw the answer; the failure if no cell is done and some failed; the question before any cell ended."""
    at = shown.standing
    if at.failed and not at.done:
        first = next(row for row in shown.rows if row.settled)
        of = "All" if at.failed == at.total else f"{fmt.number(at.failed)} of"
        return f"{of} {fmt.count(at.total, 'cell')} failed: {reason(first) or first.state}"
    return shown.answer.sentence or preset_of(shown.sweep).question


@st.fragment(run_every=POLL_S)
def _going(shown: ShownSweep) -> None:
    """Draw the progress of a running sweep, in red if all ended cells failed; rerun the page once there is more to
    show.
    """
    if not is_as_shown(shown):
        st.rerun()
    at = shown.standing
    if at.failed and not at.done:
        st.error(plain(progress_words(shown), LONGEST_TEXT), icon=":material/error:")
        return
    st.progress((at.done + at.failed) / at.total, plain(progress_words(shown), LONGEST_TEXT))


def _standing(shown: ShownSweep) -> None:
    at = shown.standing
    if at.live:
        _going(shown)
        return
    words = plain(progress_words(shown), LONGEST_TEXT)
    show = st.error if at.failed and not at.done else st.caption
    why = {"cancelled": "Cancelled. ", "interrupted": "Interrupted: the server that went through it ended. "}
    show(f"{why.get(at.state, '')}{plain(at.reason, LONGEST_TEXT)} {words}.".strip())


def _steer(shown: ShownSweep) -> None:
    """Draw the buttons to cancel a live sweep, to resume a stopped one, and to run failed cells again."""
    at, own = shown.standing, shown.own
    help_ = None if own else ANOTHERS
    if at.live:
        st.button(
            "Cancel",
            icon=":material/cancel:",
            key="cancel-sweep",
            on_click=lambda: attempt(lambda: actions.cancel_sweep(shown.sweep.id), toasted),
            disabled=not own or at.state == "stopping",
            help=help_,
        )
        return
    if at.state != "done":
        _resume(shown, "Resume", again=False)
    elif at.failed:
        _resume(shown, "Failed cells again", again=True)


def _resume(shown: ShownSweep, words: str, *, again: bool) -> None:
    st.button(
        words,
        icon=":material/play_arrow:",
        key=f"resume-sweep-{again}",
        on_click=_go_on,
        args=(shown.sweep.id, again),
        disabled=not shown.own,
        help=None if shown.own else ANOTHERS,
    )


def _go_on(sweep_id: str, again: bool) -> None:
    """Resume a sweep, as a button's callback: shows a refusal itself."""
    attempt(lambda: actions.resume_sweep(sweep_id, again), toasted)


def _whole(value: Any) -> str:
    """Return a count as an integer, since a table with gaps makes it a floating-point number."""
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


def _unclear(row: SweepRow) -> str:
    """Return the text that replaces an unclear ratio; empty if there is none."""
    return row.claim if row.claim and row.eager_s is not None else ""


def table(axes: Sequence[Axis], rows: Sequence[SweepRow], answer: Answer) -> pd.DataFrame:
    """Return the table with one row per cell: its position, state, the preset's columns, and the measurements."""
    named = [one_line(axis.field, LONGEST_LINE) for axis in axes]
    lines = [
        {
            **{name: one_line(label, LONGEST_LINE) for name, label in zip(named, row.at, strict=True)},
            "state": row.state,
            **{name: one_line(cells[place], LONGEST_TEXT) for name, cells in answer.columns.items()},
            **{name: value(row) for name, value in COLUMNS.items()},
        }
        for place, row in enumerate(rows)
    ]
    frame = pd.DataFrame(lines)
    return frame.drop(columns=[name for name in frame if name not in named and not frame[name].map(_says).any()])


def _says(value: Any) -> bool:
    return bool(pd.notna(value)) and value != ""

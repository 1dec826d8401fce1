"""Gallery of runs recorded on devices that this machine may not have."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import RecordedSweep, Recording, recorded_sweeps, recordings, samples
from core.base import words as fmt
from pages.look.sizes import TALL
from pages.look.text import LONGEST_TEXT, one_line
from pages.parts.run.submit import open_recorded
from pages.session import doors
from pages.session.attempt import attempt
from pages.session.sweeps import listed_sweeps, show_sweep
from pages.session.tables import in_words, newly_picked

SPEEDUP = "speedup"
COLUMNS = {
    "model": st.column_config.TextColumn(width=215),
    SPEEDUP: st.column_config.Column(width=80, help="Eager over compiled, where a difference was seen"),
    "shows": st.column_config.TextColumn(width=150),
}


def tab_title() -> str:
    """Return the gallery's title, with its devices; empty if there are no recorded runs."""
    devices = dict.fromkeys(one.device for one in recordings())
    return f"Recorded on {', '.join(devices)}" if devices else ""


def recorded_form() -> None:
    """Draw all recordings; a click opens one as a run, or as a sweep."""
    titles = {one.name: one.title for one in samples()}
    found: tuple[RecordedSweep | Recording, ...] = (*recorded_sweeps(), *recordings())
    st.caption(
        "Runs of the samples on a real device, at sizes that fill it: graphs, kernels, binaries and times are what "
        "torch recorded there. A click opens one."
    )
    where = dict.fromkeys(map(_where, found))
    if len(where) == 1:
        st.caption(f"All of them: {', '.join(where)}.")
    table = pd.DataFrame([_line(one, titles) for one in found])
    if len(where) > 1:
        table["recorded"] = [_where(one) for one in found]
    chosen = newly_picked(in_words(table, {SPEEDUP: fmt.ratio}), found, "recorded", height=TALL, column_config=COLUMNS)
    if isinstance(chosen, Recording):
        open_recorded(chosen)
    elif chosen is not None:
        _open_sweep(chosen)


def _line(recorded: RecordedSweep | Recording, titles: dict[str, str]) -> dict[str, object]:
    first = recorded if isinstance(recorded, Recording) else recorded.cells[0]
    name = first.job.model.value
    return {
        "model": titles.get(name, name),
        SPEEDUP: recorded.speedup if isinstance(recorded, Recording) else None,
        "shows": recorded.kind if isinstance(recorded, Recording) else f"sweep: {recorded.preset}",
        "what torch.compile made of it": one_line(_told(recorded), LONGEST_TEXT),
    }


def _where(recorded: RecordedSweep | Recording) -> str:
    first = recorded if isinstance(recorded, Recording) else recorded.cells[0]
    return first.words.removeprefix("recorded on ")


def _told(recorded: RecordedSweep | Recording) -> str:
    if isinstance(recorded, Recording):
        return recorded.sentence
    return f"{fmt.count(len(recorded.cells), 'run')}, {recorded.axis.field} {', '.join(recorded.axis.named())}"


def _open_sweep(recorded: RecordedSweep) -> None:
    """Open a recorded sweep: the one opened before, else a new one."""
    opened = next((sweep for sweep in listed_sweeps() if sweep.title == recorded.title), None)
    sweep = opened or attempt(lambda: doors.open_recorded_sweep(recorded))
    if sweep is not None:
        show_sweep(sweep.id)

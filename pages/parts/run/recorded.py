"""The gallery of runs that were recorded on devices which need not be here."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import Recording, recordings, samples
from pages.look.sizes import TALL
from pages.look.text import LONGEST_TEXT, one_line
from pages.session import doors
from pages.session.attempt import attempt
from pages.session.runs import newest_of, show_run
from pages.session.tables import newly_picked


def tab_title() -> str:
    """What the gallery is called: by its device; nothing where none was recorded."""
    devices = dict.fromkeys(one.device for one in recordings())
    return f"Recorded on {', '.join(devices)}" if devices else ""


def recorded_form() -> None:
    """All that is recorded; a click opens it as a run."""
    titles = {one.name: one.title for one in samples()}
    found = recordings()
    st.caption(
        "Runs of the samples on a real device, at sizes that fill it: graphs, kernels, binaries and times are what "
        "torch recorded there. A click opens one."
    )
    table = pd.DataFrame([_line(one, titles) for one in found])
    chosen = newly_picked(table, found, "recorded", height=TALL)
    if chosen is not None:
        _open(chosen)


def _line(one: Recording, titles: dict[str, str]) -> dict[str, str]:
    name = one.job.model.value
    return {
        "model": titles.get(name, name),
        "shows": one.kind,
        "what torch.compile made of it": one_line(one.sentence, LONGEST_TEXT),
        "recorded": one.words.removeprefix("recorded on "),
    }


def _open(one: Recording) -> None:
    """The run that was opened from it before, else a new one."""
    opened = newest_of(one.fingerprint)
    run = opened[0] if opened else attempt(lambda: doors.open_recording(one.name))
    if run is not None:
        show_run(run.id)

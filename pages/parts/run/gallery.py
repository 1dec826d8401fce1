"""Cards of the gallery: a picture of the sample's graph, its lesson, and its last result.

Gallery of runs recorded on devices that this machine may not have.
"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import CompileJob, Model, RecordedSweep, Recording, Sample, recorded_sweeps, recordings, samples
from core.base import words as fmt
from core.views import runs as lists
from pages import menu
from pages.look.images import image
from pages.look.sizes import TALL
from pages.look.text import LONGEST_TEXT, one_line, plain
from pages.parts.run.submit import open_recorded, submit
from pages.session import actions, server, url
from pages.session.actions import attempt
from pages.session.presses import pressed
from pages.session.sweeps import listed_sweeps, show_sweep
from pages.session.tables import in_words, newly_picked

SPEEDUP = "speedup"
COLUMNS = {
    "model": st.column_config.TextColumn(width=215),
    SPEEDUP: st.column_config.Column(width=80, help="Eager over compiled, where a difference was seen"),
    "shows": st.column_config.TextColumn(width=150),
}


def card(sample: Sample, last: lists.ListedRun | None) -> None:
    """Draw a sample with its last run, a button that compiles it, and a button that opens its code and options."""
    with st.container(border=True, key=f"card-{sample.name}", gap="small", height="stretch"):
        picture = image(f"samples/{sample.name}.svg")
        if picture is not None:
            st.image(picture, width="stretch", alt=f"The graph of {sample.title}")
        st.caption(sample.group)
        st.markdown(f"**{sample.title}**")
        st.caption(sample.teaches)
        if last is not None:
            label = " · ".join([last.result, *map(plain, last.entry.settings)])
            link = {url.RUN: last.run.id}
            st.page_link(menu.OVERVIEW.script, label=label, icon=":material/history:", query_params=link)
        with st.container(horizontal=True):
            if pressed("Compile", key=f"compile-{sample.name}", icon=":material/play_arrow:"):
                submit(server.runner().limits.fitted(CompileJob(Model("sample", sample.name))))
            if pressed("Code and options", key=f"pick-{sample.name}", type="tertiary"):
                url.put(url.AGAIN, None)
                url.put(url.SAMPLE, sample.name)
                st.rerun()


def tab_title() -> str:
    """Return the gallery's title, with its devices; empty if there are no recorded runs."""
    devices = dict.fromkeys(one.device for one in recordings())
    return f"Recorded on {', '.join(devices)}" if devices else ""


def recorded_form() -> None:
    """Draw all recordings; a click opens a recording as a run or as a sweep."""
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
        "model": titles[name],
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
    """Open a recorded sweep: the stored one if it was opened before, otherwise store it."""
    opened = next((sweep for sweep in listed_sweeps() if sweep.title == recorded.title), None)
    sweep = opened or attempt(lambda: actions.open_recorded_sweep(recorded))
    if sweep is not None:
        show_sweep(sweep.id)

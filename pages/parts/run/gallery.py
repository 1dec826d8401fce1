"""Cards of the gallery: a picture of the sample's graph, its lesson, and its last result.

Gallery of runs recorded on devices that this machine may not have.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
import streamlit as st

from core import CompileJob, Model, RecordedSweep, Recording, Run, Sample, Verdict, recorded_sweeps, recordings, samples
from core.base import words as fmt
from pages import menu
from pages.look.images import image
from pages.look.sizes import TALL
from pages.look.text import LONGEST_TEXT, one_line, plain
from pages.parts.run.submit import open_recorded, submit
from pages.session import actions, server, url
from pages.session.actions import attempt
from pages.session.runs import is_cell, made_for, named_runs, verdicts
from pages.session.sweeps import listed_sweeps, show_sweep
from pages.session.tables import in_words, newly_picked

SPEEDUP = "speedup"
COLUMNS = {
    "model": st.column_config.TextColumn(width=215),
    SPEEDUP: st.column_config.Column(width=80, help="Eager over compiled, where a difference was seen"),
    "shows": st.column_config.TextColumn(width=150),
}


@dataclass(frozen=True, slots=True)
class LastRun:
    """The newest finished run of a sample, and its verdict; None if no verdict is stored yet."""

    run: Run
    verdict: Verdict | None


def last_runs(titles: Iterable[str]) -> dict[str, LastRun]:
    """Return the newest finished run of each title, sweep cells excluded.

    Reads verdicts only: a report is a hundred times as large.
    """
    wanted = set(titles)
    newest = {
        status.title: (run, status)
        for run, status in reversed(named_runs())
        if status.title in wanted and status.state == "done" and not is_cell(run)
    }
    known, _ = verdicts(newest.values())
    return {title: LastRun(run, known.get(run.id)) for title, (run, _) in newest.items()}


def card(sample: Sample, last: LastRun | None) -> None:
    """Draw a sample with its last run, a button that compiles it, and a button that opens its code and options."""
    with st.container(border=True, key=f"card-{sample.name}", gap="small", height="stretch"):
        picture = image(f"samples/{sample.name}.svg")
        if picture is not None:
            st.image(picture, width="stretch", alt=f"The graph of {sample.title}")
        st.caption(sample.group)
        st.markdown(f"**{sample.title}**")
        st.caption(sample.teaches)
        if last is not None:
            label = " · ".join([_result(last.verdict), *map(plain, made_for(last.run))])
            link = {url.RUN: last.run.id}
            st.page_link(menu.OVERVIEW.script, label=label, icon=":material/history:", query_params=link)
        with st.container(horizontal=True):
            if st.button("Compile", key=f"compile-{sample.name}", icon=":material/play_arrow:"):
                submit(server.runner().limits.fitted(CompileJob(Model("sample", sample.name))))
            if st.button("Code and options", key=f"pick-{sample.name}", type="tertiary"):
                url.put(url.AGAIN, None)
                url.put(url.SAMPLE, sample.name)
                st.rerun()


def _result(verdict: Verdict | None) -> str:
    """Return the last result as a short text for the card."""
    if verdict is None:
        return "last run"
    made = verdict.work
    ops = (
        f"{fmt.number(made.ops)} → {fmt.count(made.kernels, 'kernel')}"
        if made.ops is not None and made.kernels is not None
        else ""
    )
    interval = verdict.speed.interval if verdict.speed and verdict.speed.clear else None
    ratio = fmt.ratio(interval.middle) if interval else ""
    return " · ".join(part for part in (ops, ratio) if part) or "last run"


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

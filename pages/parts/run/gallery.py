"""A card of the gallery: a picture of the sample's own graph, its lesson, and its last result."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import streamlit as st

from core import CompileJob, Model, Run, Sample, Verdict
from core.base import words as fmt
from pages import menu
from pages.look.images import image
from pages.look.text import plain
from pages.parts.run.submit import submit
from pages.session import server, url
from pages.session.runs import is_cell, made_for, named_runs
from pages.session.verdicts import verdicts


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
    """Draw a sample with its last run; a click compiles it as it is, or opens its code and options."""
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
    """Return the last result in the few words that fit on a card."""
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

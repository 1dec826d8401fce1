"""A card of the gallery: a picture of the sample's own graph, what it teaches, and its last result."""

from __future__ import annotations

import streamlit as st

from core import CompileJob, Model, Run, Sample, verdict
from core import words as fmt
from pages import menu
from pages.look.images import image
from pages.look.text import plain
from pages.parts.run.submit import submit
from pages.session import server, url
from pages.session.cache import cached
from pages.session.runs import is_cell, made_for, named_runs
from pages.session.shown import open_shown


def last_runs() -> dict[str, Run]:
    """The newest finished run of each title that is no cell of a sweep, from one look at the store."""
    newest_last = reversed(named_runs())
    return {status.title: run for run, status in newest_last if status.state == "done" and not is_cell(run)}


def card(item: Sample, last: Run | None) -> None:
    """One sample with its last run; it can be compiled as it is, or opened with its code and options."""
    with st.container(border=True, key=f"card-{item.name}", gap="small", height="stretch"):
        picture = image(f"samples/{item.name}.svg")
        if picture is not None:
            st.image(picture, width="stretch", alt=f"The graph of {item.title}")
        st.caption(item.group)
        st.markdown(f"**{item.title}**")
        st.caption(item.teaches)
        if last is not None:
            label = " · ".join([_result(last.id), *map(plain, made_for(last))])
            st.page_link(menu.OVERVIEW.script, label=label, icon=":material/history:", query_params={url.RUN: last.id})
        with st.container(horizontal=True):
            if st.button("Compile", key=f"compile-{item.name}", icon=":material/play_arrow:"):
                submit(server.runner().limits.fitted(CompileJob(Model("sample", item.name))))
            if st.button("Code and options", key=f"pick-{item.name}", type="tertiary"):
                url.put(url.AGAIN, None)
                url.put(url.SAMPLE, item.name)
                st.rerun()


@cached()
def _result(run_id: str) -> str:
    """The last result in the few words that fit on a card."""
    here = open_shown(run_id)
    if here is None or here.report is None:
        return "last run"
    found = verdict(here.report)
    made = found.work
    ops = (
        f"{fmt.number(made.ops)} → {fmt.count(made.kernels, 'kernel')}"
        if made.ops is not None and made.kernels is not None
        else ""
    )
    interval = found.speed.interval if found.speed and found.speed.clear else None
    ratio = fmt.ratio(interval.middle) if interval else ""
    return " · ".join(part for part in (ops, ratio) if part) or "last run"

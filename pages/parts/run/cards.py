"""The findings of a run as cards: what it costs, why, and what to try, which is one click away where it can be."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core import CompileJob
from core import words as fmt
from core.analysis.findings import FIRST, Evidence, Finding, Proposal, findings
from core.report import Report
from pages import menu
from pages.look.text import LONGEST_TEXT, prose
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.cache import cached
from pages.session.view import RunView

ICONS = {"wrong": ":material/error:", "cost": ":material/hourglass_empty:", "note": ":material/info:"}
WHERE: dict[Evidence, menu.Page] = {
    "overview": menu.OVERVIEW,
    "graph_breaks": menu.GRAPH_BREAKS,
    "recompiles": menu.RECOMPILES,
    "guards": menu.GUARDS,
    "fusion": menu.FUSION,
    "kernels": menu.KERNELS,
    "compile_time": menu.COMPILE_TIME,
    "speedup": menu.SPEEDUP,
}


def finding_cards(view: RunView) -> None:
    """The three that weigh most, the others folded; a sentence where there is nothing to find."""
    found = _found(view.run.id, view.report.log_bytes, view.report)
    if not found:
        st.caption("Nothing here looks wrong or dear.")
        return
    _row(view, found[:FIRST], 0)
    if len(found) > FIRST:
        with st.expander(fmt.count(len(found) - FIRST, "more finding")):
            for start in range(FIRST, len(found), FIRST):
                _row(view, found[start : start + FIRST], start)


def _row(view: RunView, found: Sequence[Finding], start: int) -> None:
    for place, (column, finding) in enumerate(zip(st.columns(FIRST), found, strict=False)):
        with column:
            _card(view, finding, start + place)


@cached()
def _found(run_id: str, log_bytes: int, _report: Report) -> tuple[Finding, ...]:
    return findings(_report)


def _card(view: RunView, finding: Finding, number: int) -> None:
    with st.container(border=True, key=f"finding-{number}", gap="small", height="stretch"):
        st.markdown(f"{ICONS[finding.weight]} **{prose(finding.title, LONGEST_TEXT)}**")
        st.caption(prose(finding.reason, LONGEST_TEXT))
        st.markdown(f":material/lightbulb: {prose(finding.advice, LONGEST_TEXT)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            _leads(finding)
            if finding.proposal is not None:
                _try(job_again(view), finding.proposal, number)


def _leads(finding: Finding) -> None:
    page = WHERE[finding.page]
    if page is menu.OVERVIEW:
        return
    told = {url.COMPILATION: finding.compilation, url.SELECT: finding.item}
    more = {name: value for name, value in told.items() if value}
    st.page_link(page.script, label=page.title, icon=page.icon, query_params=url.link(**more))


def _try(job: CompileJob | None, proposal: Proposal, number: int) -> None:
    """The same job with what the finding proposes; nothing where it may not be run again."""
    if job is not None and st.button(
        "Try it", key=f"try-{number}", icon=":material/play_arrow:", help=f"`{proposal.words}`"
    ):
        submit_or_open(replace(job, **proposal.job, compile=replace(job.compile, **proposal.compile)))

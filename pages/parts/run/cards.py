"""The findings of a run as cards: the cost, the reason, and the advice, with a button to try it if possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from core.analysis.findings import FIRST, Evidence, Finding, Proposal, findings
from core.base import words as fmt
from core.report import Report
from pages import menu
from pages.look.text import LONGEST_TEXT, code, prose
from pages.parts.run.printed import MOST_OUTPUT_BYTES
from pages.parts.run.submit import job_to_change, missing_device, open_recorded, recorded_as, submit_or_open
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
    """Draw the three most important findings, the others folded; a sentence if a run ended well without any."""
    output = view.run.output_tail(MOST_OUTPUT_BYTES)
    found = _found(view.run.id, view.report.log_bytes, len(output), view.report, output)
    if not found:
        if view.shown.status.state == "done" and view.report.error is None:
            st.caption("No issues found.")
        return
    _cards(view, found[:FIRST], 0)
    if len(found) > FIRST:
        with st.expander(fmt.count(len(found) - FIRST, "more finding")):
            _cards(view, found[FIRST:], FIRST)


def _cards(view: RunView, found: Sequence[Finding], start: int) -> None:
    for place, finding in enumerate(found):
        _card(view, finding, start + place)


@cached()
def _found(run_id: str, log_bytes: int, printed: int, _report: Report, _output: str) -> tuple[Finding, ...]:
    return findings(_report, _output)


def _card(view: RunView, finding: Finding, number: int) -> None:
    with st.container(border=True, key=f"finding-{number}", gap="small"):
        st.markdown(f"{ICONS[finding.weight]} **{prose(finding.title, LONGEST_TEXT)}**")
        st.caption(prose(finding.reason, LONGEST_TEXT))
        st.markdown(f":material/lightbulb: {prose(finding.advice, LONGEST_TEXT)}")
        with st.container(horizontal=True, vertical_alignment="center"):
            _leads(finding)
            if finding.proposal is not None:
                _try(view, finding.proposal, number)


def _leads(finding: Finding) -> None:
    page = WHERE[finding.page]
    if page is menu.OVERVIEW:
        return
    told = {url.COMPILATION: finding.compilation, url.SELECT: finding.item}
    more = {name: value for name, value in told.items() if value}
    st.page_link(page.script, label=page.title, icon=page.icon, query_params=url.link(**more))


def _try(view: RunView, proposal: Proposal, number: int) -> None:
    """Offer the same job with the finding's change, or its recorded run if the device is missing here.

    Nothing if the job may not run again.
    """
    job = job_to_change(view)
    if job is None:
        return
    dynamo = {**(job.conditions.dynamo or {}), **proposal.dynamo} or None
    conditions = replace(job.conditions, dynamo=dynamo)
    proposed = replace(job.with_settings(**proposal.compile), conditions=conditions, **proposal.job)
    missing = missing_device(job)
    recorded = recorded_as(proposed) if missing else None
    if recorded is not None:
        if st.button("Open the recorded run", key=f"try-{number}", icon=":material/history:", help=recorded.words):
            open_recorded(recorded)
    elif missing:
        st.caption(f"{code(proposal.words)} needs a {missing.upper()} device, which is not here.")
    elif st.button("Try it", key=f"try-{number}", icon=":material/play_arrow:", help=f"`{proposal.words}`"):
        submit_or_open(proposed)

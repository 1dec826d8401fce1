"""Findings of a run as cards, and links to the pages with its results."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core.report import Report
from core.views.overview import FindingView, OverviewView
from pages import menu
from pages.parts.run.submit import job_to_change, missing_device, open_recorded, recorded_as, submit_or_open
from pages.session import url
from pages.session.server import cached
from pages.session.shown import RunView
from pages.session.url import pressed

ICONS = {"wrong": ":material/error:", "cost": ":material/hourglass_empty:", "note": ":material/info:"}
# Maximum size of a run's output file, which has the first megabyte of the output, and its end.
MOST_OUTPUT_BYTES = 1_200_000


def overview_view(view: RunView) -> OverviewView:
    """Return the overview of a run, its output included."""
    output = view.run.output_tail(MOST_OUTPUT_BYTES)
    return _overview(view.run.id, view.report.log_bytes, len(output), view.report, output)


@cached()
def _overview(run_id: str, log_bytes: int, output_bytes: int, _report: Report, _output: str) -> OverviewView:
    return OverviewView(_report, _output)


def finding_cards(view: RunView, overview: OverviewView) -> None:
    """Draw the most important findings, the others folded; a sentence if a successful run has none."""
    findings, first = overview.findings, overview.first_findings
    if not findings:
        if view.shown.status.state == "done" and view.report.error is None:
            st.caption(overview.no_findings)
        return
    _cards(view, findings[:first], 0)
    if len(findings) > first:
        with st.expander(overview.more_findings):
            _cards(view, findings[first:], first)


def _cards(view: RunView, findings: Sequence[FindingView], start: int) -> None:
    for number, card in enumerate(findings, start):
        with st.container(border=True, key=f"finding-{number}", gap="small"):
            st.markdown(f"{ICONS[card.finding.weight]} **{card.title}**")
            st.caption(card.reason)
            st.markdown(f":material/lightbulb: {card.advice}")
            with st.container(horizontal=True, vertical_alignment="center"):
                _evidence_link(card)
                if card.change:
                    _try(view, card, number)


def _evidence_link(card: FindingView) -> None:
    page = menu.PAGES[card.finding.page]
    if page is menu.OVERVIEW:
        return
    query = {url.COMPILATION: card.finding.compilation, url.SELECT: card.finding.item}
    link = url.link(**{name: value for name, value in query.items() if value})
    st.page_link(page.script, label=page.title, icon=page.icon, query_params=link)


def _try(view: RunView, card: FindingView, number: int) -> None:
    """Offer the same job with the finding's change, or the recorded run of that job if the device is missing here.

    Nothing if the job may not run again.
    """
    job = job_to_change(view)
    if job is None:
        return
    proposed, missing = card.job(job), missing_device(job)
    recorded = recorded_as(proposed) if missing else None
    if recorded is not None:
        if pressed("Open the recorded run", key=f"try-{number}", icon=":material/history:", help=recorded.words):
            open_recorded(recorded)
    elif missing:
        st.caption(card.missing_device(missing))
    elif pressed("Try it", key=f"try-{number}", icon=":material/play_arrow:", help=f"`{card.change}`"):
        submit_or_open(proposed)


def evidence(overview: OverviewView) -> None:
    """Draw the notes about the run, then one line and link for each page with a result."""
    for note in overview.notes:
        st.info(note, icon=":material/info:")
    if overview.ending:
        st.warning(overview.ending, icon=":material/memory:")
    for line in overview.evidence:
        page = menu.PAGES[line.page]
        st.page_link(page.script, label=line.text, icon=page.icon, query_params=url.link(), width="stretch")


def result_note(report: Report) -> None:
    """Draw the differences from eager, or why results could not be compared; nothing if all are the same."""
    note = OverviewView(report).result_note
    if note is None:
        return
    (st.error if note.differs else st.warning)(f"**{note.title}.** {note.text}", icon=":material/difference:")
    if note.differs:
        st.page_link(
            menu.NUMERICS.script,
            label=note.link,
            icon=menu.NUMERICS.icon,
            query_params=url.link(),
        )

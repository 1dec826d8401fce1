"""Overview page: verdict, findings and evidence of a run; for a live run, its progress."""

from functools import partial

import streamlit as st

from core.views import overview as views
from pages import menu
from pages.parts.comments.comments import all_threads, pinned_parts
from pages.parts.dynamo.boxes import back_link, trials
from pages.parts.graphs.drawn import graph_picture
from pages.parts.run.outcome import (
    evidence_line,
    failure_part,
    finding_card,
    followed_log,
    heavy_compilations,
    live_run,
    measured_yet,
    model_code,
    outcome,
    overview_view,
    report_issue,
    share,
)
from pages.parts.run.submit import edit_and_run_again, find_cause, job_again, measure_again, needs_device, retarget
from pages.parts.sweep.sweeps import preset_menu
from pages.session import url
from pages.session.header import page_title
from pages.session.require import empty, wait_for_files, wait_for_reading
from pages.session.runs import last_took_s
from pages.session.shown import RunView, shown_run
from pages.session.tables import Parts, draw

shown = shown_run()
if shown is None:
    empty("This page shows the verdict on a run.")
    st.stop()
if not shown.stands and not shown.is_followed:
    live_run(shown, last_took_s(shown.job) if shown.job is not None else None)
    st.stop()
if shown.fetch is not None:
    wait_for_files(shown.run, shown.fetch)
    st.stop()
if shown.reading:
    wait_for_reading(shown.run)
    st.stop()

ending = views.OutcomeView(shown.status, shown.report, shown.run)
page_title(ending.title)
if shown.is_followed:
    followed_log(shown)
elif shown.going:
    measured_yet(shown.run)
with st.container(horizontal=True, vertical_alignment="center"):
    if ending.asks_where:
        find_cause(shown, ending)
    if ending.is_fault:
        report_issue(shown)
    edit_and_run_again(shown)
    if shown.report is not None:
        measure_again(RunView(shown, shown.report))
    retarget(shown)
    st.page_link(menu.COMPARE.script, label=menu.COMPARE.title, icon=menu.COMPARE.icon, query_params=url.link())
    if shown.run.ranks():
        st.page_link(menu.RANKS.script, label=menu.RANKS.title, icon=menu.RANKS.icon, query_params=url.link())
    preset_menu(job_again(shown), "overview")
    share(shown)
if unavailable := needs_device(shown):
    st.caption(unavailable)
outcome(shown, ending)
if shown.report is None or not shown.report.kinds:
    st.stop()
view = RunView(shown, shown.report)
overview = overview_view(view)
back_link(view)
trials(view)
left, right = st.columns([3, 2], gap="medium")
with left:
    parts: Parts = {
        views.PINNED: partial(pinned_parts, shown),
        views.FINDING: partial(finding_card, view),
        views.FAILURE: partial(failure_part, view, overview),
        views.EVIDENCE: evidence_line,
        views.THREADS: partial(all_threads, shown),
        views.HEAVY: lambda: heavy_compilations(overview),
    }
    draw(views.overview(overview, ending), parts)
with right:
    graph_picture(view)
    model_code(view, overview)

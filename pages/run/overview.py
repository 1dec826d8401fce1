"""Overview page: the result in one sentence; for a live run, the phases as they come."""

import streamlit as st

from pages import menu
from pages.parts.dynamo.fixes import back_link
from pages.parts.graphs.overview import graph_picture
from pages.parts.run.again import edit_and_run_again
from pages.parts.run.cards import finding_cards
from pages.parts.run.findings import evidence, result_note
from pages.parts.run.live import live_run, measured_yet
from pages.parts.run.measure import measure_again
from pages.parts.run.outcome import compilations, headline, model_code, not_compiled, outcome, what_was_read
from pages.parts.run.printed import printed
from pages.parts.run.retarget import retarget
from pages.parts.run.submit import job_again, needs_device
from pages.parts.sweep.ask import preset_menu
from pages.session import url
from pages.session.require import empty, wait_for_reading
from pages.session.shown import shown_run
from pages.session.view import RunView

here = shown_run()
if here is None:
    empty("The verdict on a run will stand here.")
    st.stop()
if not here.stands:
    live_run(here)
    st.stop()
if here.reading:
    wait_for_reading(here.run)
    st.stop()

st.title(headline(here), anchor=False)
if here.going:
    measured_yet(here.run)
with st.container(horizontal=True, vertical_alignment="center"):
    edit_and_run_again(here)
    if here.report is not None:
        measure_again(RunView(here, here.report))
    retarget(here)
    st.page_link(menu.COMPARE.script, label=menu.COMPARE.title, icon=menu.COMPARE.icon, query_params=url.link())
    preset_menu(job_again(here), "overview")
if unavailable := needs_device(here):
    st.caption(unavailable)
outcome(here)
if here.is_no_trace or here.report is None:
    st.stop()
view = RunView(here, here.report)
back_link(view)
left, right = st.columns([3, 2], gap="medium")
with left:
    finding_cards(view)
    not_compiled(view)
    result_note(view.report)
    evidence(view.report)
    compilations(view.report)
    printed(view.run)
    what_was_read(view.report)
with right:
    graph_picture(view)
    model_code(view)

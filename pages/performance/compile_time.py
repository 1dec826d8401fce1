"""Compile time page: phases as a flame chart and a table, cache results, and torch's metrics."""

import streamlit as st

from core.views.compile_time import CompileTimeView
from core.views.glossary import GLOSSARY
from pages.look.palette import SHORT
from pages.parts.performance.charts import PHASE_COLUMNS, PHASE_FORMS, compile_metrics, flame_chart
from pages.session import url
from pages.session.downloads import json_twin, perfetto_download
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.tables import data_frame, in_words

ALL = "all compilations"
view = require_report("Where compile time goes will stand here.")
report = view.report
run_phases = CompileTimeView(report)
page_title(run_phases.title, help=None if run_phases.why_none else GLOSSARY["compile time"])
if run_phases.why_none:
    st.write(run_phases.why_none)
    if report.metrics:
        compile_metrics(view, run_phases)
    st.stop()
ids = run_phases.compile_ids
with st.container(horizontal=True, vertical_alignment="center"):
    chosen = st.selectbox(
        "Frame", [ALL, *ids], key=url.FRAME, bind="query-params", label_visibility="collapsed", width=260
    )
    json_twin("phases", lambda: report.phases, key="phases")
    perfetto_download(view.run)
phases = CompileTimeView(report, "" if chosen == ALL else chosen)
flame_chart(view, phases)
st.caption(phases.chart_note)

left, right = st.columns([3, 2], gap="medium")
with left:
    st.header("Phases", anchor=False)
    st.dataframe(
        in_words(data_frame(phases.rows), PHASE_FORMS),
        hide_index=True,
        height=SHORT,
        column_config=PHASE_COLUMNS,
    )
    st.caption(phases.rows_note)
with right:
    st.header("Caches", anchor=False)
    if report.caches:
        st.dataframe(data_frame(phases.cache_rows), hide_index=True)
    else:
        st.write("No cache event was recorded.")
    for note in phases.cache_notes:
        st.caption(note)
compile_metrics(view, phases)

"""Compile time page: torch's phases as a flame chart, the time by frame, and the results of the caches."""

import pandas as pd
import streamlit as st

from core.analysis import compile_seconds, compile_time_s, phase_totals
from core.base import words as fmt
from pages.look.glossary import GLOSSARY
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_NAME, one_line, plain
from pages.parts.performance.flame import flame_chart
from pages.parts.performance.phases import ALL, COLUMNS, FORMS, parallel_words, row, time_words
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_report
from pages.session.tables import in_words

view = require_report("Where compile time goes will stand here.")
report = view.report
if not report.phases:
    st.title("No phase was recorded.", anchor=False)
    st.write("Torch logs its phases as chromium events while it compiles; this log holds none.")
    st.stop()

slowest = next(iter(phase_totals(report.phases)), None)
st.title(
    f"{fmt.duration_s(compile_time_s(report.phases))} of compile time"
    + (
        f"; {plain(slowest.name, LONGEST_NAME)} took the most by itself: {fmt.duration_s(slowest.self_s)}."
        if slowest
        else "."
    ),
    anchor=False,
    help=GLOSSARY["compile time"],
)
ids = sorted({phase.compilation for phase in report.phases if phase.compilation})
with st.container(horizontal=True, vertical_alignment="center"):
    wanted = st.selectbox(
        "Frame", [ALL, *ids], key=url.FRAME, bind="query-params", label_visibility="collapsed", width=260
    )
    json_twin("phases", report.phases, key="phases")
shown = "" if wanted == ALL else wanted
flame_chart(view, shown)
totals = phase_totals(report.phases, shown)
phases = [phase for phase in report.phases if shown in ("", phase.compilation)]
unfinished = sum(1 for phase in phases if phase.end_us is None)
notes = [parallel_words(phases, totals)]
if unfinished:
    notes.append(f"{fmt.count(unfinished, 'phase')} never ended and cannot be drawn.")
st.caption(" ".join(filter(None, notes)))

left, right = st.columns([3, 2], gap="medium")
with left:
    st.header("Phases", anchor=False)
    table = pd.DataFrame([row(item) for item in totals])
    st.dataframe(
        in_words(table, FORMS),
        hide_index=True,
        height=SHORT,
        column_config=COLUMNS,
    )
    st.caption(time_words(wanted, compile_seconds(report.phases)))
with right:
    st.header("Caches", anchor=False)
    if report.caches:
        table = pd.DataFrame(
            [
                {
                    "cache": item.cache,
                    "said": item.outcome,
                    "compilation": item.compilation,
                    "key": item.key,
                    "reason": one_line(item.reason),
                }
                for item in report.caches
            ]
        )
        st.dataframe(table, hide_index=True)
    else:
        st.write("No cache event was recorded.")
    if view.shown.status.kind == "run":
        st.caption(
            "Runs made here switch the FX graph and AOTAutograd caches off, so that there is always a story; "
            "compiled C++ objects are reused."
        )

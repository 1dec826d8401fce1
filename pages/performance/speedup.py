"""Speedup page: eager compared with compiled: first call, steady state, break-even, and agreement of the results."""

import pandas as pd
import streamlit as st

from core.analysis import break_even_calls, compared_words, compile_cost_s, paying_speed, results, speed, target_words
from core.views.speed_words import clock_words, cost_words, load_words, no_break_even, sampling_words, speed_title
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.glossary import GLOSSARY
from pages.look.sizes import SHORT
from pages.look.text import plain
from pages.parts.performance.calls import call_rows
from pages.parts.performance.charts import break_even_chart, first_calls_chart, samples_chart, steady_chart
from pages.parts.performance.rival import rival_section
from pages.parts.run.findings import result_note
from pages.parts.run.measure import measure_again, measure_now
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.figures import kept, theme
from pages.session.require import require_report

view = require_report("Eager against compiled will stand here.")
report = view.report
words = target_words(report)
if words:
    st.title("Nothing was run, so nothing was measured.", anchor=False)
    st.write(f"The code was {words}. The page Kernels estimates times by the device's roofline.")
    st.page_link(menu.KERNELS.script, label=menu.KERNELS.title, icon=menu.KERNELS.icon, query_params=url.link())
    st.stop()
found = speed(report.timing)
if not report.calls:
    st.title("No call was recorded.", anchor=False)
    st.write(
        "A log from elsewhere says nothing about eager; runs made here call the model eagerly and compiled, and "
        "measure both."
    )
    st.stop()

pays = break_even_calls(report)
cost_s = compile_cost_s(report)
if found is None:
    st.title("The steady state was not measured.", anchor=False)
    st.write("The run did not measure, or ended before it could.")
    measure_now(view)
else:
    st.title(speed_title(found, pays), anchor=False, help=GLOSSARY["steady state"])
    measure_again(view)

on = theme()
if found is not None and report.timing is not None:
    st.caption(
        f"Eager and compiled in turn on {plain(report.setting.device or 'this machine')}, which goes first by the "
        f"toss of a coin: "
        f"{sampling_words(found, report.timing)}. The ratio is the median over pairs, the brackets hold it with 99 % "
        f"confidence, "
        f"and below 2 % no difference is claimed."
        f"{clock_words(report.timing)}{load_words(report.timing)}"
    )
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("Steady state", anchor=False)
        timing, measured = report.timing, found
        steady = kept(lambda: steady_chart(measured, on), "steady", view.run.id, report.log_bytes, on)
        st.plotly_chart(steady, theme=None, config=PLOTLY_CONFIG, key="steady")
        samples = kept(
            lambda: samples_chart(timing.eager_s, timing.compiled_s, measured.warm_up, on),
            "samples",
            view.run.id,
            report.log_bytes,
            on,
        )
        st.plotly_chart(samples, theme=None, config=PLOTLY_CONFIG, key="samples")
    with right:
        st.header("When does compiling pay?", anchor=False)
        if pays is None:
            st.write(no_break_even(paying_speed(report.timing) or found))
        else:
            chart = break_even_chart(paying_speed(report.timing) or found, cost_s, pays, on)
            st.plotly_chart(chart, theme=None, config=PLOTLY_CONFIG, key="break-even")
        st.caption(cost_words(report, cost_s))
rival_section(report, view.run.id, on)
result_note(report)
st.header("Calls, as they were first made", anchor=False)
json_twin("calls", report.calls, key="calls")
left, right = st.columns([2, 3], gap="medium")
with left:
    first = kept(lambda: first_calls_chart(report.calls, on), "first", view.run.id, report.log_bytes, on)
    st.plotly_chart(first, theme=None, config=PLOTLY_CONFIG, key="first")
with right:
    st.dataframe(pd.DataFrame(call_rows(report.calls)), hide_index=True, height=SHORT)
    told = results(report)
    compared = compared_words(told.compared) if told else ""
    st.caption(
        f"Compared with eager in the last call: {compared or 'not recorded'}. *error* is the norm of the difference "
        f"over the norm of "
        "eager's tensor; inputs and state have a row where a call changed them."
    )

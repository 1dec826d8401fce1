"""Speedup page: first call, steady state, break-even and results of compiled against eager."""

from functools import partial

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.speedup import SpeedupView
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.palette import SHORT
from pages.parts.performance.charts import break_even_chart, first_calls_chart, samples_chart, steady_chart
from pages.parts.run.outcome import result_note
from pages.parts.run.submit import measure_again, measure_now
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.server import cached_figure, theme
from pages.session.tables import data_frame

CONFIGURATIONS = ("this run's call", "the other call")
view = require_report("Eager against compiled will stand here.")
report = view.report
speedup = SpeedupView(report)
measured = speedup.speed
page_title(speedup.title, help=GLOSSARY["steady state"] if measured else None)
if speedup.not_measured:
    st.write(speedup.not_measured)
if speedup.compiled_for:
    st.page_link(menu.KERNELS.script, label=menu.KERNELS.title, icon=menu.KERNELS.icon, query_params=url.link())
    st.stop()
if not report.calls:
    st.stop()
if speedup.not_measured:
    measure_now(view)
else:
    measure_again(view)

on = theme()
timing = report.timing
if timing is not None and measured is not None:
    st.caption(speedup.method)
    left, right = st.columns(2, gap="medium")
    with left:
        st.header("Steady state", anchor=False)
        medians = speedup.medians
        steady = cached_figure(lambda: steady_chart(medians, on), "steady", view.run.id, report.log_bytes, on)
        st.plotly_chart(steady, theme=None, config=PLOTLY_CONFIG, key="steady")
        samples = cached_figure(
            partial(samples_chart, timing.eager_s, timing.compiled_s, measured.warm_up, on),
            "samples",
            view.run.id,
            report.log_bytes,
            on,
        )
        st.plotly_chart(samples, theme=None, config=PLOTLY_CONFIG, key="samples")
    with right:
        st.header("When does compiling pay?", anchor=False)
        break_even = speedup.break_even
        if break_even is None:
            st.write(speedup.no_break_even)
        else:
            chart = break_even_chart(break_even, on)
            st.plotly_chart(chart, theme=None, config=PLOTLY_CONFIG, key="break-even")
        st.caption(speedup.cost)
alternative = report.rival
if alternative is not None:
    st.header("Against another call of torch.compile", anchor=False)
    st.write(speedup.alternative)
    if speedup.alternative_method:
        st.caption(speedup.alternative_method)
        pairs = cached_figure(
            partial(
                samples_chart, alternative.compiled_s, alternative.rival_s, alternative.warm_up, on, CONFIGURATIONS
            ),
            "rival",
            view.run.id,
            report.log_bytes,
            on,
        )
        left, _ = st.columns(2, gap="medium")
        left.plotly_chart(pairs, theme=None, config=PLOTLY_CONFIG, key="rival")
result_note(report)
st.header("First execution of each call", anchor=False)
json_twin("calls", report.calls, key="calls")
left, right = st.columns([2, 3], gap="medium")
with left:
    first = cached_figure(lambda: first_calls_chart(report.calls, on), "first", view.run.id, report.log_bytes, on)
    st.plotly_chart(first, theme=None, config=PLOTLY_CONFIG, key="first")
with right:
    st.dataframe(data_frame(speedup.call_rows), hide_index=True, height=SHORT)
    if speedup.comparison_method:
        st.caption(speedup.comparison_method)

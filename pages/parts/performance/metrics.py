"""Torch's metrics of a compilation, grouped and with units, and the configs that torch logged with them."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.views.compile_time import CompileTimeView
from pages.look.sizes import SHORT
from pages.session.shown import RunView
from pages.session.tables import in_words

COLUMNS = 2
RUN_TIME_FORMS = {"time": fmt.duration_s}


def compile_metrics(view: RunView, phases: CompileTimeView) -> None:
    """Draw one of torch's records of metrics whole; a visitor picks it."""
    metrics = phases.metrics(view.text)
    st.header("Torch's metrics", anchor=False)
    if not metrics.records:
        st.write(metrics.why_none)
        return
    if metrics.run_time:
        st.write(metrics.run_time)
        st.dataframe(in_words(pd.DataFrame(metrics.run_time_rows), RUN_TIME_FORMS), hide_index=True)
    label = st.selectbox("Record", metrics.labels, key="metrics-record", label_visibility="collapsed", width=360)
    columns = st.columns(COLUMNS, gap="medium")
    for number, group in enumerate(metrics.groups(label)):
        with columns[number % COLUMNS]:
            st.subheader(group.name, anchor=False)
            st.dataframe(group.rows, hide_index=True)
    st.caption(metrics.without_value(label))
    configs = metrics.configs(label)
    if configs:
        name = st.selectbox("Config", list(configs), index=None, key="metrics-config", placeholder="Configs", width=360)
        if name:
            st.code(configs[name], language="json", height=SHORT)

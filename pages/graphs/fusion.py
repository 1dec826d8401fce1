"""Fusion: the scheduler's nodes before it beside the kernels after it, step by step."""

import streamlit as st

from core.analysis import steps
from pages.components import format as fmt
from pages.components import state
from pages.components.downloads import json_twin
from pages.components.fusion_panel import draw_both, schedule_words, why_not
from pages.components.glossary import GLOSSARY
from pages.components.header import require_report

here, report = require_report("How Inductor fuses ops into kernels will stand here.")
item = state.compilation(report)
if item is None or not item.schedules:
    st.title("The scheduler's nodes were not recorded for this compilation.", anchor=False)
    st.write(
        "PyTorch's own trace does not hold them; runs made with Compileboard record them. "
        "Backends other than `inductor` have no scheduler."
    )
    st.stop()

names = [schedule_words(schedule) for schedule in item.schedules]
title = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    index = 0
    if len(names) > 1:
        index = names.index(
            st.selectbox("Graph", names, key="schedule", bind="query-params", label_visibility="collapsed", width=240)
        )
    schedule = item.schedules[index]
    made = steps(schedule)
    step = len(made)
    if made:
        step = st.slider(
            "Fusion step",
            0,
            len(made),
            len(made),
            key=f"step-{item.id}-{index}",
            width=420,
            help="The scheduler's decisions, one fusion at a time, in the order in which it made them.",
        )
    json_twin("schedule", schedule, key="schedule")

saved = 1 - schedule.bytes_after / schedule.bytes_before if schedule.bytes_before else 0.0
title.title(
    f"{fmt.count(len(schedule.before), 'scheduler node')} became {fmt.number(len(schedule.after))}: "
    f"{fmt.bytes_(schedule.bytes_before)} of traffic became {fmt.bytes_(schedule.bytes_after)}"
    + (f", {fmt.percent(saved)} less." if saved > 0.0005 else "."),
    anchor=False,
    help=GLOSSARY["fusion"],
)
draw_both(here, report, item, index, step)
why_not(schedule, item)

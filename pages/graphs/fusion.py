"""Fusion: the scheduler's nodes before it beside the kernels after it, step by step."""

import streamlit as st

from core import words as fmt
from core.analysis import UNEVEN, counted_words, scope_words, steps, traffic_within, traffic_words
from pages.look.glossary import GLOSSARY
from pages.parts.graphs.fusion import draw_both, draw_morph, schedule_words, why_not
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_view

VIEWS = ["side by side", "morph"]

view = require_view("How Inductor fuses ops into kernels will stand here.")
if view is None or not view.compilation.schedules:
    st.title("The scheduler's nodes were not recorded for this compilation.", anchor=False)
    st.write(
        "PyTorch's own trace does not hold them; runs made with Compileboard record them. "
        "Backends other than `inductor` have no scheduler."
    )
    st.stop()

compilation = view.compilation
names = [schedule_words(schedule) for schedule in compilation.schedules]
title = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    index = 0
    if len(names) > 1:
        index = names.index(
            st.selectbox("Graph", names, key=url.SCHEDULE, bind="query-params", label_visibility="collapsed", width=240)
        )
    schedule = compilation.schedules[index]
    url.read(url.FUSION, VIEWS, VIEWS[0])
    shape = st.segmented_control("View", VIEWS, key=url.FUSION, label_visibility="collapsed") or VIEWS[0]
    made = fmt.count(len(steps(schedule)), "fusion")
    st.caption(f"{made}; the scheduler tried {fmt.count(len(schedule.rounds), 'round')}", width="content")
    json_twin("schedule", schedule, key="schedule")
url.write(url.FUSION)

moved = traffic_within(schedule)
title.title(
    scope_words(view.report, compilation)
    + f"{fmt.count(len(schedule.before), 'scheduler node')} became {fmt.number(len(schedule.after))}"
    + (f": {traffic_words(moved)}." if moved else "."),
    anchor=False,
    help=GLOSSARY["fusion"],
)
title.caption(counted_words(moved) if moved else UNEVEN)
if shape == VIEWS[0]:
    draw_both(view, index)
else:
    draw_morph(view, index)
why_not(view, schedule)

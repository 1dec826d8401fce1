"""Fusion page: the scheduler's nodes before fusion beside the kernels after it, step by step."""

import streamlit as st

from core.analysis import UNEVEN, computing_ops, counted_words, scope_words, steps, traffic_within, traffic_words
from core.base import words as fmt
from pages.look.glossary import GLOSSARY
from pages.parts.drawer import drawer, open_button, stage, title_row
from pages.parts.graphs.fusion import (
    KERNEL,
    WHY,
    draw_both,
    draw_morph,
    kernel_at,
    kernel_drawer,
    open_kernel,
    schedule_words,
    why_not,
)
from pages.session import url
from pages.session.downloads import downloads, json_twin
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
with title_row() as title:
    index = 0
    if len(names) > 1:
        index = names.index(
            st.selectbox("Graph", names, key=url.SCHEDULE, bind="query-params", label_visibility="collapsed", width=180)
        )
    schedule = compilation.schedules[index]
    url.read(url.FUSION, VIEWS, VIEWS[0])
    shape = st.segmented_control("View", VIEWS, key=url.FUSION, label_visibility="collapsed") or VIEWS[0]
    open_button(WHY, "Why not?", ":material/question_mark:")
    with downloads():
        json_twin("schedule", schedule, key="schedule")
url.write(url.FUSION)

made = fmt.count(len(steps(schedule)), "fusion")
moved, lowered = traffic_within(schedule), compilation.lowered(schedule.direction)
title.title(
    scope_words(view.report, compilation)
    + (f"{fmt.count(computing_ops(lowered), 'op')} in " if lowered and not schedule.subgraph else "")
    + f"{fmt.count(len(schedule.before), 'scheduler node')} became {fmt.number(len(schedule.after))}"
    + (f": {traffic_words(moved)}." if moved else "."),
    anchor=False,
    help=f"{GLOSSARY['fusion']} {made}; the scheduler tried {fmt.count(len(schedule.rounds), 'round')}. "
    f"{counted_words(moved) if moved else UNEVEN}",
)
place = stage()
with place.container(key="drawing"):
    selected = draw_both(view, index) if shape == VIEWS[0] else draw_morph(view, index)
open_kernel(view, schedule)
with drawer(place, [KERNEL, WHY], selected) as tab:
    if tab == KERNEL:
        kernel_drawer(view, kernel_at(view, schedule, selected))
    elif tab == WHY:
        why_not(view, schedule)

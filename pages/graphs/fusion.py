"""Fusion page: one drawing from the ops to the kernel launches, with a slider through the fusions."""

from functools import partial

import streamlit as st

from core.views.fusion import FusionView, fusion_schedules
from pages.parts.code import drawer, open_button, stage, title_row
from pages.parts.graphs.drawers import (
    IR,
    KERNEL,
    WHY,
    draw_both,
    draw_fusion,
    kernel_drawer,
    open_kernel,
    why_not,
)
from pages.parts.graphs.drawn import fusion_drawn, fusion_view, launch_facts, loop_body
from pages.parts.run.submit import debug_files_now
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.header import page_title
from pages.session.require import require_view

VIEWS = ["one drawing", "side by side"]

view = require_view("This page shows how Inductor fuses ops into kernels.")
if view is None or not (schedules := fusion_schedules(view.compilation)):
    page_title("The ops of this compilation's kernels were not recorded")
    st.write(FusionView.why_none(view.compilation if view is not None else None))
    st.stop()

names = [fusion_view(view, index).name for index in range(len(schedules))]
with title_row() as title:
    index = 0
    if len(names) > 1:
        chosen = st.selectbox(
            "Graph",
            names,
            key=url.SCHEDULE,
            bind="query-params",
            # Another graph has other steps.
            on_change=partial(url.put, url.FRAME, None),
            label_visibility="collapsed",
            width=140,
        )
        index = names.index(chosen)
    fusion = fusion_view(view, index)
    url.read(url.FUSION, VIEWS, VIEWS[0])
    shape = st.segmented_control("View", VIEWS, key=url.FUSION, label_visibility="collapsed") or VIEWS[0]
    if fusion.is_recorded:
        open_button(WHY, "Why not fused?", ":material/question_mark:")
    open_button(IR, "IR", ":material/code:")
    with downloads():
        json_twin("schedule", fusion.schedule, key="schedule")
url.write(url.FUSION)
page_title(fusion.title, help=fusion.help, place=title)
same = url.state_of(url.SAME)
if same is not None:
    url.set_state(url.PART, same.in_fusion(fusion_drawn(view, index).graph.view, fusion.graph))
place = stage()
with place.container(key="drawing"):
    selected = draw_fusion(view, index, fusion) if shape == VIEWS[0] else draw_both(view, index, fusion)
open_kernel(fusion)
with drawer(place, [KERNEL, WHY, IR], selected) as tab:
    if tab == KERNEL:
        launch_facts(view, index, selected)
        kernel_drawer(view, fusion.kernel(selected), (selected or "").removeprefix("n:").partition("@")[0])
    elif tab == WHY:
        why_not(fusion)
    elif tab == IR and not loop_body(view, fusion, selected):
        debug_files_now(view)

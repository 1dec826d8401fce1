"""Accelerator page of one graph: segments, program, passes, memory, file, and calls across the ABI."""

import streamlit as st

from core.views.accelerator import AcceleratorView
from core.views.glossary import GLOSSARY
from pages.look.text import prose
from pages.parts.accelerator.panels import draw_station, station_of
from pages.parts.accelerator.program import change_menu, chosen_segment, without_pipeline
from pages.parts.code import title_row
from pages.session.downloads import downloads, json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import shown_compilation

run = require_report("What the backend accelerator made of a graph will stand here.")
compilation = shown_compilation(run.report)
if compilation is None or not compilation.pipelines:
    without_pipeline(run)
    st.stop()

view, accelerator = run.of(compilation), AcceleratorView(run.report, compilation)
with title_row() as title:
    menus = st.container(horizontal=True, gap="small", width="content")
row = st.container(horizontal=True, vertical_alignment="center", gap="small")
with row:
    station = station_of(view)
    segment = chosen_segment(accelerator)
with menus:
    change_menu(view, segment)
    with downloads():
        json_twin("pipeline", compilation.pipelines, key="pipeline")
page_title(
    accelerator.scope + prose(accelerator.title),
    help=f"{GLOSSARY['pipeline']} {segment.division}",
    place=title,
)
draw_station(view, segment, station, row)

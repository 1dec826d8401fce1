"""Passes page: Inductor's passes over a graph, step by step; a node keeps its place in all steps."""

import streamlit as st

from pages.parts.code import drawer, open_button, stage, title_row
from pages.parts.graphs.drawers import (
    NODE,
    STEPS,
    node_after,
    shown_step,
    step_details,
    steps_table,
    unchanged_passes,
    url_step,
)
from pages.parts.graphs.drawn import film_drawn, passes_of, show
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.header import page_title
from pages.session.require import require_view

view = require_view("What each pass did to the graphs will stand here.")
chapters = {passes.id: passes for passes in passes_of(view)} if view is not None else {}
if view is None or not chapters:
    page_title("This compilation has no graph that passes could change")
    st.write("Choose another compilation above. *Overview* says how each compilation ended.")
    st.stop()

url.read(url.CHAPTER, chapters, max(chapters, key=lambda chapter: chapters[chapter].last))
with title_row() as title:
    chapter = st.segmented_control(
        "Graph",
        list(chapters),
        key=url.CHAPTER,
        format_func=lambda chapter: chapters[chapter].label,
        label_visibility="collapsed",
        help="The graph to show, with the number of steps that changed it.",
    )
    passes = chapters[chapter or next(iter(chapters))]
    name = f"{view.compilation.id}-{passes.id}"
    open_button(STEPS, "Steps", ":material/format_list_numbered:")
    with downloads():
        json_twin(name, passes.segment.frames, key="film")
url.write(url.CHAPTER)
page_title(passes.title, help=passes.help, place=title)
place = stage()
with place.container(key="drawing"):
    chosen = show(film_drawn(view, passes), f"film-{name}", frame=url_step(passes))
step = shown_step(passes, chosen.frame)
with drawer(place, [NODE, STEPS], chosen.id) as tab:
    if tab == NODE:
        node_after(view, passes, step, chosen.id)
    elif tab == STEPS:
        steps_table(passes, key=f"steps-{name}")
        step_details(passes, step)
        unchanged_passes(passes)

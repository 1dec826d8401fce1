"""Passes page: Inductor's passes over a graph, step by step; a node keeps its place in all steps."""

from dataclasses import replace
from functools import partial

import streamlit as st

from core.views import passes as views
from pages.parts.code import open_button, title_row
from pages.parts.graphs.drawers import STEPS, film
from pages.parts.graphs.drawn import passes_of
from pages.parts.run.submit import job_on_device
from pages.parts.sweep.sweeps import outcomes, with_search
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.require import require_view
from pages.session.tables import draw

view = require_view("This page shows the changes that each pass made to the graphs.")
chapters = {passes.id: passes for passes in passes_of(view)} if view is not None else {}
if view is None or not chapters:
    draw(views.NO_GRAPH)
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
    job = job_on_device(view)
    passes = replace(chapters[chapter or next(iter(chapters))], effects=outcomes(job, "rewrites"))
    steps = partial(open_button, STEPS, "Steps", ":material/format_list_numbered:")
    with_search(steps, job, "rewrites", "Time each pass")
    with downloads():
        json_twin(f"{view.compilation.id}-{passes.id}", passes.segment.frames, key="film")
url.write(url.CHAPTER)
draw(views.passes([*chapters.values()], passes), {views.FILM: partial(film, view, passes)}, title)

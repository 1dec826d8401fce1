"""Passes page: the steps of Inductor's passes over a graph, with each node at the same place in all of them."""

import streamlit as st

from core.base import words as fmt
from pages.look.glossary import GLOSSARY
from pages.parts.drawer import drawer, open_button, stage, title_row
from pages.parts.graphs.drawn import film_drawn, segments_of, show
from pages.parts.graphs.passes import (
    NODE,
    STEPS,
    asked_frame,
    frame_details,
    node_in_frame,
    ops,
    shown_frame,
    steps_table,
    unchanged_passes,
)
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.require import require_view

CHAPTERS = {
    "dynamo": "Dynamo's graph",
    "joint": "the joint graph",
    "forward": "the forward",
    "backward": "the backward",
    "inference": "the graph for inference",
    "not finished": "a graph that was never finished",
}

view = require_view("What each pass did to the graphs will stand here.")
segments = {segment.id: segment for segment in segments_of(view)} if view is not None else {}
if view is None or not segments:
    st.title("This compilation has no graph that passes could change.", anchor=False)
    st.write("Choose another compilation above; the overview says how each of them ended.")
    st.stop()

compilation = view.compilation
url.read(url.CHAPTER, segments, max(segments, key=lambda name: len(segments[name].frames)))
with title_row() as title:
    chapter = st.segmented_control(
        "Chapter",
        list(segments),
        key=url.CHAPTER,
        format_func=lambda name: f"{name} · {fmt.number(len(segments[name].frames) - 1)}",
        label_visibility="collapsed",
        help="The graph at each station of the compiler, with the number of steps that changed it.",
    )
    segment = segments[chapter or next(iter(segments))]
    open_button(STEPS, "Steps", ":material/format_list_numbered:")
    with downloads():
        json_twin(f"{compilation.id}-{segment.id}", segment.frames, key="film")
url.write(url.CHAPTER)
title.title(
    f"{fmt.count(len(segment.frames) - 1, 'step')} changed {CHAPTERS.get(segment.chapter, segment.chapter)}: "
    f"{fmt.count(ops(segment, 0), 'op')} became {fmt.number(ops(segment, len(segment.frames) - 1))}.",
    anchor=False,
    help=GLOSSARY["pass"],
)
name = f"{compilation.id}-{segment.id}"
place = stage()
with place.container(key="drawing"):
    chosen = show(film_drawn(view, segment), f"film-{name}", frame=asked_frame(segment))
frame = shown_frame(segment, chosen.frame)
with drawer(place, [NODE, STEPS], chosen.id) as tab:
    if tab == NODE:
        node_in_frame(view, segment, frame, chosen.id)
    elif tab == STEPS:
        steps_table(segment, key=f"steps-{name}")
        frame_details(segment, frame)
        unchanged_passes(compilation)

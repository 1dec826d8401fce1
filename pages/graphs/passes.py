"""Passes: how Inductor's passes changed a graph, one step after the other, each node at one place for all of them."""

import streamlit as st

from core import words as fmt
from pages.components.graph.view import graph_view
from pages.look.glossary import GLOSSARY
from pages.look.sizes import TALL
from pages.parts.graphs.drawn import film_drawn, segments_of
from pages.parts.graphs.passes import frame_details, ops, shown_frame, steps_table, unchanged_passes
from pages.session import url
from pages.session.downloads import json_twin
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

compilation, title = view.compilation, st.container()
url.read(url.CHAPTER, segments, max(segments, key=lambda name: len(segments[name].frames)))
with st.container(horizontal=True, vertical_alignment="center"):
    chapter = st.segmented_control(
        "Chapter",
        list(segments),
        key=url.CHAPTER,
        format_func=lambda name: f"{name} · {fmt.number(len(segments[name].frames) - 1)}",
        label_visibility="collapsed",
        help="The graph at each station of the compiler, with the number of steps that changed it.",
    )
    segment = segments[chapter or next(iter(segments))]
    json_twin(f"{compilation.id}-{segment.id}", segment.frames, key="film")
url.write(url.CHAPTER)
title.title(
    f"{fmt.count(len(segment.frames) - 1, 'step')} changed {CHAPTERS.get(segment.chapter, segment.chapter)}: "
    f"{fmt.count(ops(segment, 0), 'op')} became {fmt.number(ops(segment, len(segment.frames) - 1))}.",
    anchor=False,
    help=GLOSSARY["pass"],
)
left, right = st.columns([3, 2], gap="medium")
with right:
    picked = steps_table(segment, key=f"steps-{compilation.id}-{segment.id}")
with left:
    chosen = graph_view(
        film_drawn(view, segment),
        key=f"film-{compilation.id}-{segment.id}",
        height=TALL,
        selected=url.selected(),
        frame=picked,
    )
url.select(chosen.id)
frame = shown_frame(segment, chosen.frame)
with right:
    frame_details(segment, frame)
unchanged_passes(compilation)

"""Boxes of graph breaks, and the frames that run eagerly."""

from __future__ import annotations

import streamlit as st

from core.views.fixes import FixesView
from core.views.graph_breaks import BreakBox, GraphBreaksView
from pages.parts.dynamo.fixes import offer
from pages.session.shown import RunView


def broken_file(breaks: GraphBreaksView) -> str:
    """Let the visitor pick the file to show, by default the innermost logged file of the first break."""
    files = breaks.files
    labels = list(files)
    if len(labels) < 2:
        return next(iter(files.values()), "")
    return files[st.selectbox("File", labels, key="broken-file", label_visibility="collapsed") or labels[0]]


def break_box(number: int, box: BreakBox, view: RunView, fixes: FixesView) -> None:
    """Draw torch's reason, explanation and hints for one break, its cost, and its fixes."""
    offered = fixes.of_break(box.graph_break)
    with st.container(border=True, key=f"break-{number}"):
        st.markdown(box.heading)
        st.caption(box.caption)
        for sentence in box.given_up:
            st.warning(sentence, icon=":material/block:")
        st.markdown(box.line)
        if box.explanation:
            st.markdown(box.explanation)
        if box.hints:
            with st.expander("torch's hints", expanded=not offered):
                st.markdown(box.hints)
        if reason := fixes.without_fix(box.graph_break):
            st.caption(reason)
        offer(view, offered, key=f"break-{number}")
        _registry(box)
        with st.expander("Stack, the innermost frame first"):
            st.code(box.stack, language=None, wrap_lines=True)


def _registry(box: BreakBox) -> None:
    """Draw the entry of this kind of graph break in PyTorch's registry."""
    entry = box.registry
    if entry is None:
        return
    with st.expander(entry.label):
        if entry.heading:
            st.markdown(entry.heading)
            if entry.context:
                st.caption(entry.context)
            if entry.explanation:
                st.markdown(entry.explanation)
            st.markdown(entry.hints)
        st.caption(entry.origin)
        st.markdown(entry.link)


def eager_frames(breaks: GraphBreaksView) -> None:
    """Draw the frames that run eagerly without a graph break, such as those over the recompile limit."""
    for frame in breaks.eager_frames:
        with st.container(border=True):
            st.markdown(frame.heading)
            st.caption(frame.caption)

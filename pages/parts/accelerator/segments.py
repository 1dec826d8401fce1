"""The selection on the Accelerator page: a segment of a partitioned graph."""

from __future__ import annotations

import streamlit as st

from core.report import FxNode
from core.views.accelerator import AcceleratorView, SegmentView
from pages.session import url
from pages.session.shown import View


def chosen_segment(accelerator: AcceleratorView) -> SegmentView:
    """Return the segment in the URL, by default the largest; draw a choice if there are several."""
    segments, largest = accelerator.segments, accelerator.largest
    url.read(url.SEGMENT, segments, largest)
    if len(segments) == 1:
        return segments[largest]
    chosen = st.selectbox(
        "Segment",
        list(segments),
        key=url.SEGMENT,
        format_func=lambda name: segments[name].label if name in segments else name,
        label_visibility="collapsed",
        width=230,
    )
    url.write(url.SEGMENT)
    return segments[chosen or largest]


def nodes_of(view: View, segment: SegmentView) -> tuple[FxNode, ...]:
    """Return the nodes of the partitioned graph; empty if the log does not contain it."""
    return view.nodes(segment.graph) if segment.graph else ()

"""The selection on the Accelerator page: a segment of a divided graph."""

from __future__ import annotations

import streamlit as st

from core.report import FxNode
from core.views.accelerator import AcceleratorView, SegmentView
from pages.session import url
from pages.session.shown import View


def chosen_segment(accelerator: AcceleratorView) -> SegmentView:
    """Return the segment that the URL names, by default the largest; draws a choice if there are several."""
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
    """Return the nodes of the divided graph; none if the log does not hold it."""
    return view.nodes(segment.graph) if segment.graph else ()

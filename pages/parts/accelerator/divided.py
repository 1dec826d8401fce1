"""The divided graph: segments in their colours, the ops that stay with torch and why, bytes across the borders."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.base import words as fmt
from core.views.accelerator import SegmentView
from pages.look.sizes import SHORT
from pages.look.text import one_line_cells, prose
from pages.parts.accelerator.segments import nodes_of
from pages.parts.drawer import drawer, open_button, stage
from pages.parts.graphs.drawn import fx_drawn, show
from pages.parts.graphs.node import node_lines, node_of
from pages.session import url
from pages.session.memory import hold
from pages.session.tables import in_words, newly_picked
from pages.session.view import View

NODE, ORDER, REFUSED = "node", "order", "with torch"
FORMS = {
    "in": fmt.bytes_,
    "out": fmt.bytes_,
    "file": fmt.bytes_,
    "ops": fmt.number,
    "program entries": lambda count: fmt.number(int(count)),
    "a call": fmt.duration_s,
}
COLUMNS = {
    "runs": st.column_config.TextColumn(width=110),
    "ops": st.column_config.NumberColumn(width=45),
    "in": st.column_config.NumberColumn(width=75, help="Bytes that go into the segment; constants are not among them"),
    "out": st.column_config.NumberColumn(width=75, help="Bytes that come out of it"),
    "program entries": st.column_config.NumberColumn(width=70),
    "file": st.column_config.NumberColumn(width=75),
    "a call": st.column_config.NumberColumn(width=75, help="Mean of all calls, from Python and back"),
}


def graph_station(view: View, segment: SegmentView, row: DeltaGenerator) -> None:
    """Draw the graph with its drawer; `row` is the container of the stations' row."""
    graph = segment.graph
    with row:
        open_button(ORDER, "What runs, in order", ":material/format_list_numbered:")
    place, selected = stage(), url.selected()
    if graph is None:
        place.caption("The log does not hold the graph that was divided; the order says what runs.")
    else:
        with place.container(key="drawing"):
            key = f"pipeline-{view.compilation.id}-{graph.id}"
            selected = show(fx_drawn(view, graph), key, overlay=segment.overlay).id
    with drawer(place, [NODE, ORDER, REFUSED], selected) as tab:
        if tab == NODE:
            _node(view, segment, selected)
        elif tab == ORDER:
            _order(view, segment)
        elif tab == REFUSED:
            _refused(segment)


def _node(view: View, segment: SegmentView, selected: str | None) -> None:
    nodes = nodes_of(view, segment)
    node = node_of(nodes, selected)
    if node is None:
        st.caption("Click a node to see where it runs, or why torch runs it.")
    else:
        st.table({name: prose(text) for name, text in segment.place(node).items()}, border="horizontal")
        if program := segment.program_of(node):
            show_program = partial(_show_program, program)
            st.button(
                "Its program", icon=":material/list_alt:", key="to-program", on_click=show_program, type="tertiary"
            )
    node_lines(view, nodes, node, f"{view.compilation.id}-{segment.direction}")


def _show_program(segment_id: str) -> None:
    hold(url.SEGMENT, segment_id)
    hold(url.STATION, "program")


def _order(view: View, segment: SegmentView) -> None:
    """Draw the segments and ops in their order of execution; a click on a row selects its first node."""
    st.caption(segment.division)
    rows, key = segment.order, f"order-{view.compilation.id}-{segment.direction}"
    table = in_words(pd.DataFrame(one_line_cells(rows)), FORMS)
    picked = newly_picked(table, range(len(rows)), key, height=SHORT * 2, column_config=COLUMNS)
    if picked is not None:
        url.select(f"n:{segment.first_node(picked)}")
        st.rerun()


def _refused(segment: SegmentView) -> None:
    """Draw the ops that stay with torch, by reason."""
    if not segment.refusals:
        st.caption("Every op of this graph is in a segment.")
    for count, reason, names in segment.refusals:
        st.markdown(f"**{count}**: {prose(reason)}  \n{prose(names)}")

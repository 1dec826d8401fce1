"""The divided graph: segments in their colours, the ops that stay with torch and why, bytes across the borders."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis.pipeline import (
    BESIDE,
    FREE,
    PipelineStop,
    entries_by_node,
    node_segments,
    pipeline_stops,
    refusal_counts,
)
from core.base import words as fmt
from core.graph import SEGMENT
from core.report import FxNode, Pipeline, PipelineSegment
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from pages.parts.accelerator.pieces import PipelinePiece, graph_of, nodes_of
from pages.parts.drawer import drawer, open_button, stage
from pages.parts.graphs.drawn import fx_drawn, show
from pages.parts.graphs.node import node_lines, node_of
from pages.session import url
from pages.session.memory import hold
from pages.session.tables import in_words, newly_picked
from pages.session.view import View

NODE, ORDER, REFUSED = "node", "order", "with torch"
MOST_NAMES = 12
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


def graph_station(view: View, piece: PipelinePiece, row: DeltaGenerator) -> None:
    """Draw the graph with its drawer."""
    graph, pipeline = graph_of(view, piece.pipeline), piece.pipeline
    with row:
        open_button(ORDER, "What runs, in order", ":material/format_list_numbered:")
    place, selected = stage(), url.selected()
    if graph is None:
        place.caption("The log does not hold the graph that was divided; the order says what runs.")
    else:
        with place.container(key="drawing"):
            key = f"pipeline-{view.compilation.id}-{graph.id}"
            selected = show(fx_drawn(view, graph), key, overlay=SEGMENT).id
    with drawer(place, [NODE, ORDER, REFUSED], selected) as tab:
        if tab == NODE:
            _node(view, pipeline, selected)
        elif tab == ORDER:
            _order(view, pipeline)
        elif tab == REFUSED:
            _refused(pipeline)


def division_words(pipeline: Pipeline) -> str:
    """Return one sentence about the division of a graph into segments."""
    taken = [segment for segment in pipeline.segments if not segment.problem]
    into, out = sum(segment.input_bytes for segment in taken), sum(segment.output_bytes for segment in taken)
    rest = len(pipeline.refusals)
    stays = f"; {fmt.count(rest, 'op')} {fmt.agree(rest, 'stays', 'stay')} with torch" if rest else ""
    frozen = f"; {fmt.count(pipeline.frozen, 'parameter')} became constants" if pipeline.frozen else ""
    across = f"{fmt.bytes_(into)} in and {fmt.bytes_(out)} out across its borders"
    return (
        f"The {pipeline.direction} graph of {fmt.count(pipeline.calls, 'op')}: "
        f"{fmt.count(len(taken), 'segment')}, {across}{stays}{frozen}."
    )


def _node(view: View, pipeline: Pipeline, selected: str | None) -> None:
    nodes = nodes_of(view, pipeline)
    node = node_of(nodes, selected)
    if node is None:
        st.caption("Click a node to see where it runs, or why torch runs it.")
    else:
        st.table(_place(pipeline, node), border="horizontal")
        _to_program(pipeline, node)
    node_lines(view, nodes, node, f"{view.compilation.id}-{pipeline.direction}")


def _place(pipeline: Pipeline, node: FxNode) -> dict[str, str]:
    rows = {"node": code(f"{node.name} = {node.target}({node.args})", LONGEST_TEXT)}
    standing = node_segments(pipeline).get(node.name, "")
    if standing.startswith(BESIDE):
        return {**rows, "runs": "with torch", "why": plain(standing.removeprefix(BESIDE), LONGEST_TEXT)}
    segment = _segment_of(pipeline, node)
    if segment is None:
        return {**rows, "runs": "nothing: it is an input or the output of the graph"}
    across = f"{fmt.bytes_(segment.input_bytes)} in, {fmt.bytes_(segment.output_bytes)} out"
    return {**rows, "runs": f"in {code(segment.name, LONGEST_NAME)}: {across}", "as": _instruction(segment, node)}


def _instruction(segment: PipelineSegment, node: FxNode) -> str:
    index = entries_by_node(segment).get(node.name)
    if index is None:
        return FREE
    entry = segment.entries[index]
    others = [name for name in entry.nodes if name != node.name]
    joined = f", fused with {', '.join(code(name, LONGEST_NAME) for name in others[:MOST_NAMES])}" if others else ""
    return f"instruction {fmt.number(index)}, {code(entry.op, LONGEST_NAME)}{joined}"


def _segment_of(pipeline: Pipeline, node: FxNode) -> PipelineSegment | None:
    return next((segment for segment in pipeline.segments if node.name in segment.nodes), None)


def _to_program(pipeline: Pipeline, node: FxNode) -> None:
    segment = _segment_of(pipeline, node)
    if segment is not None and not segment.problem:
        go = partial(_go, PipelinePiece(pipeline, segment).id)
        st.button("Its program", icon=":material/list_alt:", key="to-program", on_click=go, type="tertiary")


def _go(piece: str) -> None:
    hold(url.SEGMENT, piece)
    hold(url.STATION, "program")


def _order(view: View, pipeline: Pipeline) -> None:
    """Draw the segments and ops in their order of execution; a click on a row selects its first node."""
    st.caption(division_words(pipeline))
    stops, key = pipeline_stops(pipeline), f"order-{view.compilation.id}-{pipeline.direction}"
    took = {
        found.segment: found.call_s / found.calls
        for found in view.report.crossings
        if (found.compilation, found.direction) == (view.compilation.id, pipeline.direction) and found.calls
    }
    table = pd.DataFrame([_row(stop, took.get(stop.name)) for stop in stops])
    picked = newly_picked(in_words(table, FORMS), stops, key, height=SHORT * 2, column_config=COLUMNS)
    if picked is not None:
        url.select(f"n:{picked.segment.nodes[0] if picked.segment and picked.segment.nodes else picked.name}")
        st.rerun()


def _row(stop: PipelineStop, call_s: float | None) -> dict[str, object]:
    segment = stop.segment
    return {
        "runs": one_line(stop.name, LONGEST_NAME),
        "ops": len(segment.nodes) if segment else 1,
        "in": segment.input_bytes if segment else None,
        "out": segment.output_bytes if segment else None,
        "program entries": len(segment.entries) if segment and segment.entries else None,
        "file": segment.file_bytes if segment and segment.file_bytes else None,
        "a call": call_s,
        "with torch, because": one_line(stop.reason, LONGEST_LINE),
    }


def _refused(pipeline: Pipeline) -> None:
    """Draw the ops that stay with torch, by reason."""
    if not pipeline.refusals:
        st.caption("Every op of this graph is in a segment.")
    for reason, names in refusal_counts(pipeline).items():
        more = f" and {fmt.number(len(names) - MOST_NAMES)} more" if len(names) > MOST_NAMES else ""
        shown = ", ".join(code(name, LONGEST_NAME) for name in names[:MOST_NAMES])
        st.markdown(f"**{fmt.count(len(names), 'op')}**: {plain(reason, LONGEST_LINE)}  \n{shown}{more}")

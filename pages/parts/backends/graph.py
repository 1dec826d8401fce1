"""The graphs that a backend received or made, coloured by its reports about their nodes."""

from __future__ import annotations

import streamlit as st

from core.graph import annotation_name, annotations_of
from core.report import FxGraph
from pages.parts.graphs.drawn import fx_drawn, show
from pages.parts.graphs.stages import stage_row
from pages.session import url
from pages.session.memory import held
from pages.session.view import View


def graph_pane(view: View) -> None:
    """Draw one of the graphs: first the one that the backend reported, else its input graph."""
    graphs = view.compilation.graphs
    told = _told_graph(view)
    first = told or next((graph for graph in graphs if graph.stage == "dynamo_output_graph"), graphs[0])
    url.read(url.GRAPH, [graph.id for graph in graphs], first.id)
    graph = view.compilation.graph(held(url.GRAPH, first.id)) or first
    if len(graphs) > 1:
        stage_row(graphs, graph)
    url.write(url.GRAPH)
    if not graph.ops:
        st.caption(
            "The text of this graph was not parsed, so it cannot be drawn: it is not Python, or too long or too dense."
        )
        return
    overlay = annotation_name(0) if graph == told else ""
    show(fx_drawn(view, graph), f"given-{view.compilation.id}-{graph.id}", overlay=overlay)


def _told_graph(view: View) -> FxGraph | None:
    """Return the last graph that a table names: a backend's input graph shares names with the graph that it made."""
    for graph in reversed(view.compilation.graphs if view.report.told_tables else ()):
        if annotations_of(view.report, view.compilation.id, {node.name for node in view.nodes(graph)}):
            return graph
    return None

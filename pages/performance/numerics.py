"""Numerics page: eager and compiled compared with float64, by call results and by nodes."""

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.numerics import NumericsView
from pages.parts.graphs.drawn import node_lines
from pages.parts.performance.numerics import bits_part, graph_link, node_table, nodes_part, results_part
from pages.parts.run.submit import bits_now, numerics_now
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("Whether the results are right by float64 will stand here.")
report = view.report
numerics = NumericsView(report)
if numerics.state != "recorded":
    page_title(numerics.title)
    st.write(numerics.paragraph)
    if numerics.state == "not recorded":
        with st.container(horizontal=True):
            numerics_now(view, "Compare with float64")
            bits_now(view, numerics)
    bits_part(numerics)
    st.stop()

if numerics.title:
    page_title(numerics.title, help=GLOSSARY["numerics"])
    st.caption(numerics.paragraph)
    results_part(view, numerics)
bits_part(numerics)

compilation = shown_compilation(report)
with st.container(horizontal=True, vertical_alignment="center"):
    st.header(numerics.nodes_heading(compilation), anchor=False)
    json_twin("numerics", (report.call_numerics, report.graph_numerics, report.bits), key="numerics")
    bits_now(view, numerics)
reason = numerics.without_nodes(compilation)
if compilation is None or reason:
    st.write(reason)
    numerics_now(view, "Compare every node")
    st.stop()
captured = next((graph for graph in compilation.last_graphs if graph.stage == "dynamo_output_graph"), None)
nodes = {node.name: node for node in view.of(compilation).nodes(captured)} if captured else {}
graph = numerics.nodes_of(compilation, nodes)
st.write(graph.sentence)
st.caption(graph.caption)
if not graph.is_compared:
    st.stop()
chosen = graph.chosen((url.selected() or "").removeprefix("n:"))
nodes_part(view.of(compilation), graph, chosen)
left, right = st.columns([3, 2], gap="medium")
with left:
    node_table(view.of(compilation), graph)
with right:
    if captured is not None and chosen:
        url.select(f"n:{chosen}")
        graph_link(captured, chosen)
        node_lines(view.of(compilation), list(nodes.values()), nodes.get(chosen), f"numerics-{compilation.id}")

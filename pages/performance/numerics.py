"""Numerics page: eager and compiled compared with float64, for all results of the calls and for every node."""

import streamlit as st

from core.analysis import target_words
from core.analysis.numerics import (
    graph_sentence,
    left_out_words,
    narrowed_words,
    numerics,
    numerics_of,
    numerics_sentence,
    outputs_words,
)
from pages.look.glossary import GLOSSARY
from pages.look.text import plain, prose
from pages.parts.graphs.node import node_lines
from pages.parts.performance.numerics import chosen_node, graph_link, node_table, nodes_part, results_part
from pages.parts.run.numerics_now import numerics_now
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_report
from pages.session.shown import shown_compilation

NOT_RECORDED = (
    "Compiled is compared with eager in every run. Which of the two is nearer to the truth, and which node is the "
    "first that differs, takes the model in float64 and the values of all nodes: that is recorded when it is asked for."
)
MEANT = (
    "Errors are norms of the difference from the same model in float64, over its norm. Beyond the tolerance, compiled "
    "may be no further from it than eager."
)
NO_CALL = "No call was recorded: a log from elsewhere says nothing about eager."

view = require_report("Whether the results are right by float64 will stand here.")
report = view.report
found = numerics(report)
if target_words(report):
    st.title("Nothing was run, so there is no result to compare.", anchor=False)
    st.write(f"The code was {target_words(report)}.")
    st.stop()
if found is None and not report.graph_numerics:
    st.title("Results were not held against float64.", anchor=False)
    st.write(NOT_RECORDED if report.calls else NO_CALL)
    numerics_now(view, "Compare with float64")
    st.stop()

if found is not None:
    st.title(prose(numerics_sentence(found)), anchor=False, help=GLOSSARY["numerics"])
    more = [f"{reason[:1].upper()}{reason[1:]}." for reason in found.reasons] + [narrowed_words(found.narrowed)]
    st.caption(" ".join([MEANT, *map(prose, filter(None, more))]))
    results_part(view, found)

compilation = shown_compilation(report)
graph = numerics_of(report, compilation.id) if compilation else None
failed = numerics_of(report, "")
with st.container(horizontal=True, vertical_alignment="center"):
    st.header(f"Nodes of {plain(f'[{compilation.id}]')}" if compilation else "Nodes", anchor=False)
    json_twin("numerics", (report.call_numerics, report.graph_numerics), key="numerics")
if compilation is None or graph is None:
    st.write(plain(f"No node was compared: {failed.reason}." if failed else "Nodes were not compared one by one."))
    numerics_now(view, "Compare every node")
    st.stop()
captured = next((one for one in compilation.graphs if one.stage == "dynamo_output_graph"), None)
nodes = {node.name: node for node in view.of(compilation).nodes(captured)} if captured else {}
st.write(prose(graph_sentence(graph, {node.name: node.target for node in nodes.values()})))
said = (outputs_words(graph), left_out_words(graph), narrowed_words(graph.narrowed))
st.caption(prose(" ".join(filter(None, said))))
if all(node.accuracy is None for node in graph.nodes):
    st.stop()
chosen = chosen_node(graph)
nodes_part(view.of(compilation), graph, chosen)
left, right = st.columns([3, 2], gap="medium")
with left:
    node_table(view.of(compilation), graph, nodes)
with right:
    if captured is not None and chosen is not None:
        url.select(f"n:{chosen.name}")
        graph_link(captured, chosen)
        node_lines(view.of(compilation), list(nodes.values()), nodes.get(chosen.name), f"numerics-{compilation.id}")

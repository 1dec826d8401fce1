"""Forward and backward: how the joint graph was cut in two, and what the forward keeps in memory for the backward."""

import streamlit as st

from pages.components.graph.view import graph_view
from pages.look.glossary import GLOSSARY
from pages.look.sizes import TALL
from pages.parts.graphs.drawn import fx_drawn, partitions_of
from pages.parts.graphs.partition import decision_counts, kept_words, planned_words, saved_table, value_details
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_view

view = require_view("How training is divided into forward and backward will stand here.")
found = {partition.graph: partition for partition in partitions_of(view)} if view is not None else {}
if view is None or not found:
    st.title("This compilation has no joint graph.", anchor=False)
    st.write("Only training has one: AOTAutograd traces forward and backward together where a gradient is asked for.")
    st.stop()

compilation, title = view.compilation, st.container()
with st.container(horizontal=True, vertical_alignment="center"):
    partition = next(iter(found.values()))
    if len(found) > 1:
        url.read(url.JOINT, found, partition.graph)
        partition = found[
            st.selectbox("Joint graph", list(found), key=url.JOINT, label_visibility="collapsed", width=260)
        ]
        url.write(url.JOINT)
    st.caption(f"{decision_counts(partition)}. {planned_words(partition)}", width="content")
    json_twin(partition.graph, partition, key="partition")
title.title(kept_words(partition), anchor=False, help=GLOSSARY["partition"])
graph = compilation.graph(partition.graph)
nodes = {node.name: node for node in view.nodes(graph)} if graph else {}
left, right = st.columns([3, 2], gap="medium")
with right:
    picked = saved_table(partition, nodes, key=f"saved-{compilation.id}-{partition.graph}")
if graph is None or not nodes:
    left.caption("The log does not hold the joint graph.")
    st.stop()
with left:
    chosen = graph_view(
        fx_drawn(view, graph),
        key=f"joint-{compilation.id}-{graph.id}",
        height=TALL,
        selected=picked or url.selected(),
        overlay="partition",
    )
url.select(chosen.id)
with right:
    value_details(partition, nodes, chosen.id)

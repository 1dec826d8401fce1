"""Forward and backward page: the partition of the joint graph, and the activations that the forward keeps."""

import streamlit as st

from pages.look.glossary import GLOSSARY
from pages.parts.drawer import drawer, open_button, stage, title_row
from pages.parts.graphs.drawn import fx_drawn, partitions_of, show
from pages.parts.graphs.node import node_lines
from pages.parts.graphs.partition import (
    SAVED,
    VALUE,
    decision_counts,
    kept_words,
    planned_words,
    saved_table,
    value_details,
)
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.require import require_view

view = require_view("How training is divided into forward and backward will stand here.")
found = {partition.graph: partition for partition in partitions_of(view)} if view is not None else {}
if view is None or not found:
    st.title("This compilation has no joint graph.", anchor=False)
    st.write("Only training has one: AOTAutograd traces forward and backward together where a gradient is asked for.")
    st.stop()

compilation = view.compilation
with title_row() as title:
    partition = next(iter(found.values()))
    if len(found) > 1:
        url.read(url.JOINT, found, partition.graph)
        partition = found[
            st.selectbox("Joint graph", list(found), key=url.JOINT, label_visibility="collapsed", width=260)
        ]
        url.write(url.JOINT)
    open_button(SAVED, "Saved values", ":material/save:")
    with downloads():
        json_twin(partition.graph, partition, key="partition")
title.title(kept_words(partition), anchor=False, help=GLOSSARY["partition"])
st.caption(f"{decision_counts(partition)}. {planned_words(partition)}")
graph = compilation.graph(partition.graph)
nodes = {node.name: node for node in view.nodes(graph)} if graph else {}
name = f"{compilation.id}-{partition.graph}"
place = stage()
selected = url.selected()
if graph is not None and nodes:
    with place.container(key="drawing"):
        selected = show(fx_drawn(view, graph), f"joint-{name}", overlay="partition").id
else:
    place.caption("The log does not hold the joint graph.")
with drawer(place, [VALUE, SAVED], selected) as tab:
    if tab == VALUE:
        value_details(partition, nodes, selected)
        node_lines(view, list(nodes.values()), nodes.get((selected or "").removeprefix("n:")), name)
    elif tab == SAVED:
        saved_table(partition, nodes, key=f"saved-{name}")

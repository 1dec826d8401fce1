"""Forward and backward page: partition of the joint graph, and activations that the forward saves."""

import streamlit as st

from core.base import words as fmt
from core.views.passes import PartitionView
from pages.look.palette import SHORT
from pages.parts.code import drawer, open_button, stage, title_row
from pages.parts.graphs.drawn import fx_drawn, node_lines, node_of, partitions_of, show
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.tables import data_frame, in_words, newly_picked

VALUE, SAVED = "value", "saved values"

view = require_view("How training is divided into forward and backward will stand here.")
partitions = {partition.graph: partition for partition in partitions_of(view)} if view is not None else {}
if view is None or not partitions:
    page_title("This compilation has no joint graph")
    st.write("Only training has one: AOTAutograd traces forward and backward together if a gradient is needed.")
    st.stop()

with title_row() as title:
    joint = next(iter(partitions))
    if len(partitions) > 1:
        url.read(url.JOINT, partitions, joint)
        joint = st.selectbox("Joint graph", list(partitions), key=url.JOINT, label_visibility="collapsed", width=260)
        url.write(url.JOINT)
    open_button(SAVED, "Saved values", ":material/save:")
    with downloads():
        json_twin(joint, partitions[joint], key="partition")
graph = view.compilation.graph(joint)
nodes = view.nodes(graph) if graph else ()
partition = PartitionView(partitions[joint], {node.name: node for node in nodes})
page_title(partition.title, help=partition.help, place=title)
st.caption(partition.caption)
name = f"{view.compilation.id}-{joint}"
place = stage()
selected = url.selected()
if graph is not None and nodes:
    with place.container(key="drawing"):
        selected = show(fx_drawn(view, graph), f"joint-{name}", overlay="partition").id
else:
    place.caption("The log does not contain the joint graph.")
with drawer(place, [VALUE, SAVED], selected) as tab:
    if tab == VALUE:
        node = node_of(nodes, selected)
        if node is None:
            st.caption("Click a node or a row to see the partitioner's decision and reason.")
        else:
            st.table(partition.node_rows(node), border="horizontal")
        node_lines(view, nodes, node, name)
    elif tab == SAVED:
        rows = partition.rows
        value = newly_picked(
            in_words(data_frame(rows), {"bytes": fmt.bytes_}),
            partition.values,
            f"saved-{name}",
            height="auto" if len(rows) <= 10 else SHORT,
            column_config={"bytes": st.column_config.NumberColumn(help="None where a size is symbolic")},
        )
        if value is not None:
            url.select(f"n:{value.name}")
            st.rerun()

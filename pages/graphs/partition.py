"""Forward and backward page: partition of the joint graph, and activations that the forward saves."""

from functools import partial

import streamlit as st

from core.views import passes as views
from pages.parts.code import open_button, title_row
from pages.parts.graphs.drawers import SAVED, joint_graph
from pages.parts.graphs.drawn import partitions_of
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.require import require_view
from pages.session.tables import draw

view = require_view("This page shows how training is divided into forward and backward.")
partitions = {each.partition.graph: each for each in partitions_of(view)} if view is not None else {}
if view is None or not partitions:
    draw(views.NO_JOINT_GRAPH)
    st.stop()

with title_row() as title:
    joint = next(iter(partitions))
    if len(partitions) > 1:
        url.read(url.JOINT, partitions, joint)
        joint = st.selectbox("Joint graph", list(partitions), key=url.JOINT, label_visibility="collapsed", width=260)
        url.write(url.JOINT)
    open_button(SAVED, "Saved values", ":material/save:")
    with downloads():
        json_twin(joint, partitions[joint].partition, key="partition")
parts = {views.JOINT: partial(joint_graph, view, partitions[joint], view.compilation.graph(joint))}
draw(views.partition([*partitions.values()], partitions[joint]), parts, title)

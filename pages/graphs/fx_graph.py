"""FX graph: one graph of one compilation at one stage, in its drawer a node and the code that it comes from."""

import streamlit as st

from core import words as fmt
from pages.look.glossary import GLOSSARY
from pages.look.sizes import TALL
from pages.parts.drawer import drawer, open_button, stage, title_row
from pages.parts.graphs.fx_graph import NODE, draw, fill_drawer, tabs
from pages.session import url
from pages.session.downloads import downloads, json_twin, text_twin
from pages.session.require import require_view

STAGE_WORDS = {
    "dynamo_output_graph": "what Dynamo captured",
    "before_pre_grad_graph": "before Inductor's pre-grad passes",
    "after_pre_grad_graph": "after Inductor's pre-grad passes",
    "aot_joint_graph": "forward and backward together, traced by AOTAutograd",
    "before_joint_graph": "before the joint-graph passes",
    "after_joint_graph": "after the joint-graph passes",
    "aot_forward_graph": "the forward that AOTAutograd partitioned off",
    "aot_backward_graph": "the backward that AOTAutograd partitioned off",
    "aot_inference_graph": "what AOTAutograd made for inference",
    "before_post_grad_graph": "before Inductor's post-grad passes",
    "inductor_post_grad_graph": "after Inductor's post-grad passes, as it is lowered",
}

view = require_view("The FX graphs of a compilation will stand here.")
if view is None or not view.compilation.graphs:
    st.title("This compilation has no graph.", anchor=False)
    st.write("Choose another compilation above; the overview says how each of them ended.")
    st.stop()

compilation = view.compilation
ids = [graph.id for graph in compilation.graphs]
default = next((graph.id for graph in compilation.graphs if graph.stage == "dynamo_output_graph"), ids[0])
url.read(url.GRAPH, ids, default)
with title_row() as title:
    chosen = st.selectbox("Stage", ids, key=url.GRAPH, width=290, label_visibility="collapsed")
    url.write(url.GRAPH)
    graph = compilation.graph(chosen) or compilation.graphs[0]
    if graph.ops:
        open_button(NODE, "Code", ":material/code:")
    with downloads():
        text_twin(graph.id, view.text(graph.payload), key="fx")
        json_twin(graph.id, lambda: view.nodes(graph), key="fx")

title.title(
    f"{fmt.count(graph.calls, 'op')}: {STAGE_WORDS.get(graph.stage, graph.stage)}.",
    anchor=False,
    help=f"{GLOSSARY['graph']} With inputs and outputs this one has {fmt.count(sum(graph.ops.values()), 'node')}.",
)
if not graph.ops:
    st.warning("The text of this graph is not Python, so it cannot be drawn; this is it as torch logged it.")
    st.code(view.text(graph.payload), language="python", height=TALL)
    st.stop()
place = stage()
with place.container(key="drawing"):
    selected = draw(view, graph)
with drawer(place, tabs(view, graph), selected) as tab:
    if tab:
        fill_drawer(view, graph, tab, selected)

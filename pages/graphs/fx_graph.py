"""FX graph page: one graph of one compilation at one stage; its drawer shows a node and its source code."""

import streamlit as st

from core.base import words as fmt
from pages.look.glossary import GLOSSARY
from pages.parts.drawer import drawer, open_button, stage, title_row
from pages.parts.graphs.fx_graph import NODE, draw, fill_drawer, tabs, unparsed
from pages.parts.graphs.stages import first_graph, stage_row, stage_words
from pages.session import url
from pages.session.downloads import downloads, json_twin, text_twin
from pages.session.memory import held
from pages.session.require import require_view

view = require_view("The FX graphs of a compilation will stand here.")
if view is None or not view.compilation.graphs:
    st.title("This compilation has no graph.", anchor=False)
    st.write("Choose another compilation above; the overview says how each of them ended.")
    st.stop()

compilation = view.compilation
ids = [graph.id for graph in compilation.graphs]
default = first_graph(compilation.graphs).id
url.read(url.GRAPH, ids, default)
with title_row() as title:
    graph = compilation.graph(held(url.GRAPH, default)) or compilation.graphs[0]
    stage_row(compilation.graphs, graph)
    url.write(url.GRAPH)
    if graph.ops:
        open_button(NODE, "Code", ":material/code:")
    with downloads():
        text_twin(graph.id, view.text(graph.payload), key="fx")
        json_twin(graph.id, lambda: view.nodes(graph), key="fx")

ops = fmt.count(graph.calls, "op") if graph.ops else "Not parsed"
title.title(
    f"{ops}: {stage_words(graph)}.",
    anchor=False,
    help=f"{GLOSSARY['graph']} With inputs and outputs this one has {fmt.count(sum(graph.ops.values()), 'node')}.",
)
if not graph.ops:
    unparsed(view, graph)
    st.stop()
place = stage()
with place.container(key="drawing"):
    selected = draw(view, graph)
with drawer(place, tabs(view, graph), selected) as tab:
    if tab:
        fill_drawer(view, graph, tab, selected)

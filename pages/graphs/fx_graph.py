"""FX graph page: one graph of a compilation at one stage; a drawer shows a node and its source code."""

from functools import partial

import streamlit as st

from core.views.fx_graph import GraphStages
from pages.parts.code import drawer, open_button, stage, title_row
from pages.parts.graphs.drawers import NODE, fill_drawer, tabs, unparsed
from pages.parts.graphs.drawn import fx_drawn, fx_view, show, stage_row
from pages.parts.run.launch import script_button
from pages.session import url
from pages.session.downloads import downloads, json_twin, text_twin
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.url import state_of

view = require_view("This page shows the FX graphs of a compilation.")
if view is None or not view.compilation.graphs:
    page_title("This compilation has no graph")
    st.write("Choose another compilation above. *Overview* says how each compilation ended.")
    st.stop()

compilation = view.compilation
ids = [graph.id for graph in compilation.graphs]
default = url.asked(url.OF) if url.asked(url.OF) in ids else GraphStages(compilation.graphs).first.id
url.read(url.GRAPH, ids, default)
with title_row() as title:
    graph = compilation.graph(state_of(url.GRAPH, default)) or compilation.graphs[0]
    stage_row(compilation.graphs, graph)
    url.write(url.GRAPH)
    if graph.ops:
        open_button(NODE, "Code", ":material/code:")
    fx = fx_view(view, graph)
    if script := fx.runnable:
        script_button(partial(view.text, script), fx.edited_script)
    with downloads():
        text_twin(graph.id, partial(view.text, graph.payload), key="fx")
        json_twin(graph.id, lambda: view.nodes(graph), key="fx")

page_title(fx.title, help=fx.help, place=title)
if not graph.ops:
    unparsed(view, graph)
    st.stop()
place = stage()
with place.container(key="drawing"):
    selected = show(fx_drawn(view, graph), f"fx-{compilation.id}-{graph.id}", graph=graph.id).id
with drawer(place, tabs(fx), selected) as tab:
    if tab:
        fill_drawer(view, fx, tab, selected)

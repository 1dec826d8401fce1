"""The graph of the heaviest compilation, beside its verdict."""

from __future__ import annotations

import streamlit as st

from core.base import words as fmt
from core.views.fx_graph import GraphStages
from pages import menu
from pages.components.graph.view import graph_view
from pages.look.sizes import PICTURE
from pages.parts.graphs.drawn import fx_drawn
from pages.session import url
from pages.session.shown import shown_compilation
from pages.session.view import RunView

# A larger graph is drawn on its own page only, where the visitor waits for it.
MOST_OPS = 5_000


def graph_picture(of: RunView) -> None:
    """Draw the picked compilation's Dynamo graph, with a link to its page; nothing while the run is going."""
    compilation = shown_compilation(of.report)
    if of.going or compilation is None or not compilation.graphs:
        return
    graph = GraphStages(compilation.graphs).first
    if not graph.ops or graph.calls > MOST_OPS:
        return
    page = menu.FX_GRAPH
    label = f"The graph: {GraphStages.describe(graph)}, {fmt.count(graph.calls, 'op')} with views"
    st.page_link(page.script, label=label, icon=page.icon, query_params=url.link(compilation=compilation.id))
    graph_view(fx_drawn(of.of(compilation), graph), key=f"overview-{compilation.id}", height=PICTURE)

"""The drawer of the FX graph page: a node, the generated code, and the graph's text."""

from __future__ import annotations

import streamlit as st

from core.base import words as fmt
from core.report import FxGraph
from core.views.fx_graph import FxGraphView
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import FILL, MAX_CHARS, TALL
from pages.look.text import LONGEST_NAME, code
from pages.parts.code import output_code
from pages.parts.graphs.node import node_lines, node_of
from pages.session.shown import View

NODE, GENERATED, TEXT = "node", "generated code", "graph text"


def tabs(fx: FxGraphView) -> list[str]:
    """Return the tabs that the drawer has for a graph."""
    return [NODE, *([GENERATED] if fx.first_kernel else []), TEXT]


def fill_drawer(view: View, fx: FxGraphView, tab: str, selected: str | None) -> None:
    """Draw one tab of the drawer."""
    if tab == TEXT:
        _text(view, fx)
        return
    if tab == GENERATED and fx.first_kernel:
        picture = output_code(view, fx.first_kernel, fx.own_lines)
        code_view(picture, key=f"generated-{fx.compilation.id}-{fx.graph.id}", height=FILL)
        return
    node = node_of(fx.nodes, selected)
    if node is not None:
        st.table(fx.node_rows(node), border="horizontal")
    elif selected and selected.startswith("n:"):
        st.caption(f"{code(selected, LONGEST_NAME)} is not in this graph.")
    node_lines(view, fx.nodes, node, f"{fx.compilation.id}-{fx.graph.id}")


def _text(view: View, fx: FxGraphView) -> None:
    text = view.text(fx.graph.payload)
    lines = code_lines(text.removeprefix("\n"), prefix="t", links=fx.text_links(text))
    picture = CodePicture(fx.graph.id, "python", lines)
    code_view(picture, key=f"text-{fx.compilation.id}-{fx.graph.id}", height=FILL)


def unparsed(view: View, graph: FxGraph) -> None:
    """Draw the text of a graph that could not be parsed, in the code view, since it cuts extremely long lines."""
    st.warning(
        "The text of this graph was not parsed: it is not Python, or it is too long or too dense to parse. "
        "No graph is drawn."
    )
    text = view.text(graph.payload)
    if len(text) > MAX_CHARS:
        st.caption(
            f"These are its first {fmt.number(MAX_CHARS)} characters; the download has all {fmt.number(len(text))}."
        )
    picture = CodePicture(graph.id, "python", code_lines(text[:MAX_CHARS], prefix="t"))
    code_view(picture, key=f"unparsed-{view.compilation.id}-{graph.id}", height=TALL)

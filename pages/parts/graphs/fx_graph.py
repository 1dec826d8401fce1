"""The parts of the FX graph page: the graph, and in its drawer a node, the generated code, and the graph's text."""

from __future__ import annotations

import streamlit as st

from core.analysis.numerics import numerics_of
from core.base import words as fmt
from core.graph import kernels_of, source_path
from core.report import FxGraph, FxNode
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import FILL, MAX_CHARS, TALL
from pages.look.text import LONGEST_NAME, code
from pages.parts.code import output_code
from pages.parts.graphs.drawn import fx_drawn, show
from pages.parts.graphs.node import node_details, node_lines, node_of
from pages.session.view import View

NODE, GENERATED, TEXT = "node", "generated code", "graph text"


def draw(view: View, graph: FxGraph) -> str | None:
    """Draw the graph; return the selected item and write it to the URL."""
    return show(fx_drawn(view, graph), f"fx-{view.compilation.id}-{graph.id}").id


def tabs(view: View, graph: FxGraph) -> list[str]:
    """Return the tabs that the drawer has for a graph."""
    generated = any(kernel.graph == graph.id for kernel in view.compilation.kernels)
    return [NODE, *([GENERATED] if generated else []), TEXT]


def fill_drawer(view: View, graph: FxGraph, tab: str, selected: str | None) -> None:
    """Draw one tab of the drawer."""
    nodes = view.nodes(graph)
    if tab == GENERATED:
        _generated(view, graph, nodes)
        return
    if tab == TEXT:
        _text(view, graph, nodes)
        return
    node = node_of(nodes, selected)
    if node is not None:
        kernels = kernels_of(view.compilation, graph).get(node.name, [])
        compared = numerics_of(view.report, view.compilation.id) if graph.stage == "dynamo_output_graph" else None
        node_details(view.compilation, nodes, node, kernels, graph.lowered, compared)
    elif selected and selected.startswith("n:"):
        st.caption(f"{code(selected, LONGEST_NAME)} is not in this graph.")
    node_lines(view, nodes, node, f"{view.compilation.id}-{graph.id}")


def _generated(view: View, graph: FxGraph, nodes: tuple[FxNode, ...]) -> None:
    """Draw the whole output code that contains the graph's first kernel."""
    path = source_path(view.report)
    first = next(kernel for kernel in view.compilation.kernels if kernel.graph == graph.id)
    lines = {node.name: node.source.line for node in nodes if node.source and node.source.file == path}
    picture = output_code(view, first, lines)
    code_view(picture, key=f"generated-{view.compilation.id}-{graph.id}", height=FILL)


def _text(view: View, graph: FxGraph, nodes: tuple[FxNode, ...]) -> None:
    kernels = kernels_of(view.compilation, graph)
    links = {
        node.line: (f"n:{node.name}", *(f"k:{kernel.id}" for kernel in kernels.get(node.name, []))) for node in nodes
    }
    text = view.text(graph.payload)
    shift = text.startswith("\n")
    links = {line - shift: value for line, value in links.items()}
    picture = CodePicture(graph.id, "python", code_lines(text.removeprefix("\n"), prefix="t", links=links))
    code_view(picture, key=f"text-{view.compilation.id}-{graph.id}", height=FILL)


def unparsed(view: View, graph: FxGraph) -> None:
    """The text of a graph that was not parsed. The code view cuts long lines, which a browser cannot lay out."""
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

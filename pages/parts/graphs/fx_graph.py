"""The parts of the FX graph page: the graph, and in its drawer a node, its lines of code, and the graph's text."""

from __future__ import annotations

import re

import streamlit as st

from core import words as fmt
from core.analysis import guards_on
from core.graph import kernels_of, source_path
from core.report import Compilation, FxGraph, FxNode, Guard, Place
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.graph.view import graph_view
from pages.look.sizes import FILL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line
from pages.parts.code import node_links, output_code, places_of, recorded_files, user_code
from pages.parts.graphs.drawn import fx_drawn
from pages.session import url
from pages.session.view import View

NODE, GENERATED, TEXT = "node", "generated code", "graph text"
MOST_GUARDS = 8
MOST_USERS = 12


def draw(view: View, graph: FxGraph) -> str | None:
    """The graph; returns the selected item and puts it into the URL."""
    picture = fx_drawn(view, graph)
    chosen = graph_view(picture, key=f"fx-{view.compilation.id}-{graph.id}", height=FILL, selected=url.selected())
    url.select(chosen.id)
    return chosen.id


def tabs(view: View, graph: FxGraph) -> list[str]:
    """What the drawer can show of a graph."""
    generated = any(kernel.graph == graph.id for kernel in view.compilation.kernels)
    return [NODE, *([GENERATED] if generated else []), TEXT]


def fill_drawer(view: View, graph: FxGraph, tab: str, selected: str | None) -> None:
    """One tab of the drawer."""
    nodes = view.nodes(graph)
    if tab == NODE:
        node = next((found for found in nodes if found.name == (selected or "").removeprefix("n:")), None)
        if node is not None:
            _details(view.compilation, graph, nodes, node)
        _lines(view, graph, nodes, node)
    elif tab == GENERATED:
        _generated(view, graph, nodes)
    else:
        _text(view, graph, nodes)


def _lines(view: View, graph: FxGraph, nodes: tuple[FxNode, ...], node: FxNode | None) -> None:
    """The file that holds the innermost line of a node, or of most nodes; the lines around that call it to choose."""
    files = recorded_files(view, nodes)
    stack = [place for place in reversed(places_of(node)) if place.file in files] if node else []
    words = {_title(place): place.file for place in stack} or {
        one_line(_short(path), LONGEST_NAME): path for path in files
    }
    if not words:
        st.caption("The log does not hold the code. The graph's text names its lines.")
        return
    chosen = next(iter(words))
    if len(words) > 1:
        key = f"lines-of-{node.name if node else 'all'}"
        chosen = st.selectbox("Lines", list(words), key=key, label_visibility="collapsed") or chosen
    path = words[chosen]
    picture = user_code(view, path=path, links=node_links(nodes, path), breaks=view.report.graph_breaks)
    if picture is not None:
        code_view(picture, key=f"user-{view.compilation.id}-{graph.id}-{path}", height=FILL, selected=url.selected())


def _title(place: Place) -> str:
    return one_line(f"{place.short} in {place.name}" if place.name else place.short, LONGEST_NAME)


def _short(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _generated(view: View, graph: FxGraph, nodes: tuple[FxNode, ...]) -> None:
    """The whole output code of the graph, which holds its first kernel."""
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


def _details(compilation: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...], node: FxNode) -> None:
    """Everything that is known of a node; what is not known is left out, but for what another stage would tell."""
    users = [found.name for found in nodes if node.name in found.inputs]
    kernels = kernels_of(compilation, graph).get(node.name, [])
    more = f" and {fmt.number(len(users) - MOST_USERS)} more" if len(users) > MOST_USERS else ""
    rows = {
        "name": f"{code(node.name)} {node.op}",
        "target": code(node.target),
        "value": code(_value(node)) or "not a tensor",
        "arguments": code(node.args, LONGEST_TEXT),
        "users": ", ".join(code(user) for user in users[:MOST_USERS]) + more,
        "line": _line(node),
        "module": f"{code(node.module)} {code(node.module_class)}".strip() or "not recorded for this stage",
        "kernel": ", ".join(code(kernel.name) for kernel in kernels)
        or ("none" if graph.lowered else "known on the post-grad graph"),
        "symbols": _symbols(compilation, node),
        "guards": _guards(compilation, node),
    }
    st.table({name: words for name, words in rows.items() if words}, border="horizontal")


def _line(node: FxNode) -> str:
    if node.source is None:
        return "not recorded"
    return f"{code(node.code)} at {code(node.source.short)}"


def _value(node: FxNode) -> str:
    if node.meta is None:
        return ""
    shape, stride = ", ".join(node.meta.shape), ", ".join(node.meta.stride)
    return f"{node.meta.dtype}[{shape}][{stride}]{node.meta.device}"


def _symbols(compilation: Compilation, node: FxNode) -> str:
    """The dynamic sizes in a node's shape, with what they stand for."""
    sizes = re.findall(r"\w+", " ".join(node.meta.shape)) if node.meta else []
    found = [symbol for symbol in compilation.symbols if symbol.name in sizes]
    return "; ".join(f"{code(item.name)} = {code(item.source)}, first {code(item.value)}" for item in found)


def _guards(compilation: Compilation, node: FxNode) -> str:
    """The guards on the value that an input of the Dynamo graph stands for."""
    if node.op not in ("placeholder", "get_attr"):
        return ""
    found = guards_on(compilation, node)
    more = f" and {fmt.number(len(found) - MOST_GUARDS)} more" if len(found) > MOST_GUARDS else ""
    return ", ".join(map(_guard, found[:MOST_GUARDS])) + more or "none that names it"


def _guard(guard: Guard) -> str:
    return code(f"{guard.kind} {guard.expression}", LONGEST_LINE)

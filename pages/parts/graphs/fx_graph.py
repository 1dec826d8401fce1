"""The parts of the FX graph page: the graph, the code beside it, and the details of a node."""

from __future__ import annotations

import re

import streamlit as st

from core import words as fmt
from core.analysis import guards_on
from core.graph import kernels_of, source_path
from core.report import Compilation, FxGraph, FxNode, Guard, Kernel
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.graph.view import graph_view
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, code
from pages.parts.code import output_code, user_code
from pages.parts.graphs.drawn import fx_drawn
from pages.session import url
from pages.session.view import View

YOURS, GENERATED, TEXT = "your code", "generated code", "graph text"
MOST_GUARDS = 8


def draw(view: View, graph: FxGraph) -> str | None:
    """The graph; returns the selected item and puts it into the URL."""
    picture = fx_drawn(view, graph)
    chosen = graph_view(picture, key=f"fx-{view.compilation.id}-{graph.id}", height=TALL, selected=url.selected())
    url.select(chosen.id)
    return chosen.id


def code_beside(view: View, graph: FxGraph, nodes: tuple[FxNode, ...]) -> None:
    """The user's code, the generated code and the graph's own text, linked to the picture and to one another."""
    kernels = [kernel for kernel in view.compilation.kernels if kernel.graph == graph.id]
    offered = [YOURS, *([GENERATED] if kernels else []), TEXT]
    shown = st.pills(
        "Code",
        offered,
        default=offered[:-1],
        selection_mode="multi",
        label_visibility="collapsed",
        key="fx-code-generated" if kernels else "fx-code",
    )
    height = 560 // max(1, len(shown))
    if YOURS in shown:
        _users(view, graph, nodes, height)
    if GENERATED in shown:
        _generated(view, kernels[0], nodes, height)
    if TEXT in shown:
        _text(view, graph, nodes, height)


def _users(view: View, graph: FxGraph, nodes: tuple[FxNode, ...], height: int) -> None:
    path = source_path(view.report)
    by_line: dict[int, list[str]] = {}
    for node in nodes:
        if node.source and node.source.file == path:
            by_line.setdefault(node.source.line, []).append(f"n:{node.name}")
    links = {line: tuple(names) for line, names in by_line.items()}
    user = user_code(view, links=links, breaks=view.report.graph_breaks)
    if user is None:
        st.caption("The log does not hold the code. The graph's text names its lines.")
        return
    code_view(user, key=f"user-{view.compilation.id}-{graph.id}", height=height)


def _generated(view: View, first: Kernel, nodes: tuple[FxNode, ...], height: int) -> None:
    """The whole output code of the graph, which holds its first kernel."""
    path = source_path(view.report)
    lines = {node.name: node.source.line for node in nodes if node.source and node.source.file == path}
    picture = output_code(view, first, lines)
    code_view(picture, key=f"generated-{view.compilation.id}-{first.graph}", height=height)


def _text(view: View, graph: FxGraph, nodes: tuple[FxNode, ...], height: int) -> None:
    kernels = kernels_of(view.compilation, graph)
    links = {
        node.line: (f"n:{node.name}", *(f"k:{kernel.id}" for kernel in kernels.get(node.name, []))) for node in nodes
    }
    text = view.text(graph.payload)
    shift = text.startswith("\n")
    links = {line - shift: value for line, value in links.items()}
    picture = CodePicture(graph.id, "python", code_lines(text.removeprefix("\n"), prefix="t", links=links))
    code_view(picture, key=f"text-{view.compilation.id}-{graph.id}", height=height)


def node_details(compilation: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...], selected: str | None) -> None:
    """Everything that is known of the selected node."""
    name = (selected or "").removeprefix("n:")
    node = next((found for found in nodes if found.name == name), None)
    if node is None:
        st.caption(
            "Click a node for its op, target, shape, users, line, module, kernel, guards and symbols; `?` lists the "
            "keys."
        )
        return
    users = [found.name for found in nodes if node.name in found.inputs]
    kernels = kernels_of(compilation, graph).get(node.name, [])
    left, right = st.columns(2, gap="medium")
    left.table(
        {
            "name": code(node.name),
            "op": code(node.op),
            "target": code(node.target),
            "arguments": code(node.args, LONGEST_TEXT) or "none",
            "value": code(_value(node)) or "not a tensor",
            "users": ", ".join(code(user) for user in users[:12]) or "none",
        },
        border="horizontal",
    )
    right.table(
        {
            "your line": _line(node),
            "module": f"{code(node.module)} {code(node.module_class)}".strip() or "not recorded for this stage",
            "kernel": ", ".join(code(kernel.name) for kernel in kernels)
            or ("none" if graph.lowered else "known on the post-grad graph"),
            "symbols": _symbols(compilation, node),
            "guards": _guards(compilation, node),
        },
        border="horizontal",
    )


def _line(node: FxNode) -> str:
    if node.source is None:
        return "not recorded"
    return f"{code(node.code)} at {code(node.source.file.rsplit('/', 1)[-1])} line {node.source.line}"


def _value(node: FxNode) -> str:
    if node.meta is None:
        return ""
    shape, stride = ", ".join(node.meta.shape), ", ".join(node.meta.stride)
    return f"{node.meta.dtype}[{shape}][{stride}]{node.meta.device}"


def _symbols(compilation: Compilation, node: FxNode) -> str:
    """The dynamic sizes in a node's shape, with what they stand for."""
    sizes = re.findall(r"\w+", " ".join(node.meta.shape)) if node.meta else []
    found = [symbol for symbol in compilation.symbols if symbol.name in sizes]
    return "; ".join(f"{code(item.name)} = {code(item.source)}, first {code(item.value)}" for item in found) or "none"


def _guards(compilation: Compilation, node: FxNode) -> str:
    """The guards on the value that an input of the Dynamo graph stands for."""
    if node.op not in ("placeholder", "get_attr"):
        return "guards are on inputs"
    found = guards_on(compilation, node)
    more = f" and {fmt.number(len(found) - MOST_GUARDS)} more" if len(found) > MOST_GUARDS else ""
    return ", ".join(map(_guard, found[:MOST_GUARDS])) + more or "none that names it"


def _guard(guard: Guard) -> str:
    return code(f"{guard.kind} {guard.expression}", LONGEST_LINE)

"""The parts of the FX graph page: the graph, the code beside it, and the details of a node."""

from __future__ import annotations

import streamlit as st

from core.graph import kernels_of, source_path
from core.report import Compilation, FxGraph, FxNode, Guard, Kernel, Report
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.graph.view import graph_view
from pages.look.text import code
from pages.parts.code import output_code, user_code
from pages.parts.graphs.drawn import fx_drawn
from pages.session import url
from pages.session.shown import Shown, text_of

YOURS, GENERATED, TEXT = "your code", "generated code", "graph text"
MOST_GUARDS = 8


def draw(here: Shown, report: Report, item: Compilation, graph: FxGraph) -> str | None:
    """The graph; returns the selected item and puts it into the URL."""
    picture = fx_drawn(here, report, item, graph)
    chosen = graph_view(picture, key=f"fx-{item.id}-{graph.id}", height=620, selected=url.selected())
    url.select(chosen.id)
    return chosen.id


def code_beside(here: Shown, report: Report, item: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...]) -> None:
    """The user's code, the generated code and the graph's own text, linked to the picture and to one another."""
    kernels = [kernel for kernel in item.kernels if kernel.graph == graph.id]
    offered = [YOURS, *([GENERATED] if kernels else []), TEXT]
    shown = st.pills(
        "Code",
        offered,
        default=offered[:-1],
        selection_mode="multi",
        label_visibility="collapsed",
        key=f"fx-code-{len(offered)}",
    )
    height = 560 // max(1, len(shown))
    if YOURS in shown:
        _users(here, report, item, graph, nodes, height)
    if GENERATED in shown:
        _generated(here, report, item, kernels, nodes, height)
    if TEXT in shown:
        _text(here, item, graph, nodes, height)


def _users(
    here: Shown, report: Report, item: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...], height: int
) -> None:
    path = source_path(report)
    by_line: dict[int, list[str]] = {}
    for node in nodes:
        if node.source and node.source[0] == path:
            by_line.setdefault(node.source[1], []).append(f"n:{node.name}")
    links = {line: tuple(names) for line, names in by_line.items()}
    user = user_code(here, report, links=links, breaks=report.graph_breaks)
    if user is None:
        st.caption("The log does not hold the code. The graph's text names its lines.")
        return
    code_view(user, key=f"user-{item.id}-{graph.id}", height=height)


def _generated(
    here: Shown,
    report: Report,
    item: Compilation,
    kernels: list[Kernel],
    nodes: tuple[FxNode, ...],
    height: int,
) -> None:
    """The whole output code of the graph."""
    path = source_path(report)
    lines = {node.name: node.source[1] for node in nodes if node.source and node.source[0] == path}
    first = kernels[0]
    picture = output_code(report, item, first, text_of(here, first.output_code), lines)
    code_view(picture, key=f"generated-{item.id}-{first.graph}", height=height)


def _text(here: Shown, item: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...], height: int) -> None:
    kernels = kernels_of(item, graph)
    links = {
        node.line: (f"n:{node.name}", *(f"k:{kernel.id}" for kernel in kernels.get(node.name, []))) for node in nodes
    }
    text = text_of(here, graph.payload)
    shift = text.startswith("\n")
    links = {line - shift: value for line, value in links.items()}
    picture = CodePicture(graph.id, "python", code_lines(text.removeprefix("\n"), prefix="t", links=links))
    code_view(picture, key=f"text-{item.id}-{graph.id}", height=height)


def node_details(item: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...], selected: str | None) -> None:
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
    kernels = kernels_of(item, graph).get(node.name, [])
    lowered = graph.stage == "inductor_post_grad_graph"
    left, right = st.columns(2, gap="medium")
    left.table(
        {
            "name": code(node.name),
            "op": code(node.op),
            "target": code(node.target),
            "arguments": code(node.args, 600) or "none",
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
            or ("none" if lowered else "known on the post-grad graph"),
            "symbols": _symbols(item, node),
            "guards": _guards(item, node),
        },
        border="horizontal",
    )


def _line(node: FxNode) -> str:
    if node.source is None:
        return "not recorded"
    file, line = node.source
    return f"{code(node.code)} at {code(file.rsplit('/', 1)[-1])} line {line}"


def _value(node: FxNode) -> str:
    if node.meta is None:
        return ""
    shape, stride = ", ".join(node.meta.shape), ", ".join(node.meta.stride)
    return f"{node.meta.dtype}[{shape}][{stride}]{node.meta.device}"


def _symbols(item: Compilation, node: FxNode) -> str:
    """The dynamic sizes in a node's shape, with what they stand for."""
    sizes = " ".join(node.meta.shape) if node.meta else ""
    found = [symbol for symbol in item.symbols if symbol.name in sizes]
    return "; ".join(f"{code(item.name)} = {code(item.source)}, first {code(item.value)}" for item in found) or "none"


def _guards(item: Compilation, node: FxNode) -> str:
    """The guards on the value that an input of the Dynamo graph stands for."""
    if node.op not in ("placeholder", "get_attr"):
        return "guards are on inputs"
    wanted = _letters(node.name)
    found = [guard for guard in item.guards if _letters(guard.source) == wanted]
    more = f" and {len(found) - MOST_GUARDS} more" if len(found) > MOST_GUARDS else ""
    return ", ".join(map(_guard, found[:MOST_GUARDS])) + more or "none that names it"


def _guard(guard: Guard) -> str:
    return code(f"{guard.kind} {guard.expression}", 120)


def _letters(name: str) -> str:
    """`L['self'].norm.weight` and the placeholder `L_self_norm_weight_` that Dynamo made of it, as one."""
    return "_".join(part for part in "".join(c if c.isalnum() else "_" for c in name.lower()).split("_") if part)

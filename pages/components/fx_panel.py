"""The parts of the FX graph page: the picture, the code beside it, and the details of a node."""

from __future__ import annotations

import streamlit as st

from core.report import Compilation, FxGraph, FxNode, Report
from pages.components import state
from pages.components.code_view import CodePicture, code_lines, code_view
from pages.components.graph_view import GraphPicture, graph_view, place
from pages.components.pictures import fx_picture, kernel_colours, kernels_of
from pages.components.sources import source_path, user_code
from pages.components.text import code


@st.cache_resource(max_entries=64, show_spinner="Laying the graph out")
def _picture(run_id: str, compile_id: str, graph_id: str, _report: Report) -> GraphPicture:
    here = state.open_shown(run_id)
    item = _report.compilation(compile_id)
    graph = item.graph(graph_id) if item else None
    if here is None or item is None or graph is None:
        return GraphPicture((), ())
    nodes = state.nodes(here, item, graph)
    return place(*fx_picture(nodes, kernels_of(item, graph), kernel_colours(_report), source_path(_report)))


def draw(here: state.Shown, report: Report, item: Compilation, graph: FxGraph) -> str | None:
    """The graph; returns the selected item and puts it into the URL."""
    picture = _picture(here.run.id, item.id, graph.id, report)
    if picture.layout_note:
        st.caption(picture.layout_note)
    selected = graph_view(picture, key=f"fx-{item.id}-{graph.id}", height=680, selected=state.selected())
    state.select(selected)
    return selected


def code_beside(
    here: state.Shown, report: Report, item: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...]
) -> str | None:
    """The user's code, or the graph's own text, both linked to the picture."""
    which = st.segmented_control(
        "Code", ["your code", "graph text"], default="your code", label_visibility="collapsed", key="fx-code"
    )
    kernels = kernels_of(item, graph)
    if which == "graph text":
        links = {
            node.line: (f"n:{node.name}", *(f"k:{kernel.id}" for kernel in kernels.get(node.name, [])))
            for node in nodes
        }
        text = state.text(here, graph.payload)
        shift = text.startswith("\n")
        links = {line - shift: value for line, value in links.items()}
        picture = CodePicture(graph.id, "python", code_lines(text.removeprefix("\n"), prefix="t", links=links))
        return code_view(picture, key=f"text-{item.id}-{graph.id}", height=400)
    path = source_path(report)
    by_line: dict[int, list[str]] = {}
    for node in nodes:
        if node.source and node.source[0] == path:
            by_line.setdefault(node.source[1], []).append(f"n:{node.name}")
    user = user_code(
        here, report, links={line: tuple(names) for line, names in by_line.items()}, breaks=report.graph_breaks
    )
    if user is None:
        st.caption("The log does not hold the code. The graph's text names its lines.")
        return None
    return code_view(user, key=f"user-{item.id}-{graph.id}", height=400)


def node_details(item: Compilation, graph: FxGraph, nodes: tuple[FxNode, ...], selected: str | None) -> None:
    """Everything that is known of the selected node."""
    name = (selected or "").removeprefix("n:")
    node = next((found for found in nodes if found.name == name), None)
    if node is None:
        st.caption(
            "Click a node to see its op, target, shape, users, line, module and kernel; / searches, arrows walk."
        )
        return
    users = [found.name for found in nodes if node.name in found.inputs]
    kernels = kernels_of(item, graph).get(node.name, [])
    lowered = graph.stage == "inductor_post_grad_graph"
    st.table(
        {
            "name": code(node.name),
            "op": code(node.op),
            "target": code(node.target),
            "arguments": code(node.args, 600) or "none",
            "value": code(_value(node)) or "not a tensor",
            "users": ", ".join(code(user) for user in users[:12]) or "none",
            "your line": _line(node),
            "module": f"{code(node.module)} {code(node.module_class)}".strip() or "not recorded for this stage",
            "kernel": ", ".join(code(kernel.name) for kernel in kernels)
            or ("none" if lowered else "known on the post-grad graph"),
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

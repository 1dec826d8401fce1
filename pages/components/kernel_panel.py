"""The parts of the kernels page: a kernel's source, and the FX nodes and user's lines that it came from."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.graph import source_path
from core.report import Compilation, FxNode, Kernel, Report
from pages.components import state
from pages.components.code_view import CodePicture, Colours, code_lines, code_view
from pages.components.pictures import kernel_colours
from pages.components.sources import user_code

AROUND_CALL = 3


def kernel_code(kernel: Kernel, text: str) -> str:
    """The source of a kernel, cut out of the output code; for an extern kernel the lines around its call."""
    lines = text.split("\n")
    if kernel.extern:
        return "\n".join(lines[max(0, kernel.lines[0] - AROUND_CALL) : kernel.lines[1] + 1])
    return "\n".join(lines[kernel.lines[0] - 1 : kernel.lines[1]])


def kernel_source(kernel: Kernel, item: Compilation, report: Report, text: str, whole: bool) -> None:
    """Highlighted source with line numbers of the output code, in the kernel's colour; its first line and calls are links."""
    whole_code = output_code(report, item, kernel, text, {})
    if whole:
        code_view(whole_code, key=f"kernel-{kernel.id}-whole", height=620, selected=f"c:{kernel.lines[0]}")
        return
    first = max(1, kernel.lines[0] - (AROUND_CALL - 1 if kernel.extern else 0))
    shown = kernel_code(kernel, text)
    lines = whole_code.lines[first - 1 : first + shown.count("\n")]
    language = "cpp" if kernel.language == "cpp" else "python"
    code_view(CodePicture(kernel.name, language, lines), key=f"kernel-{kernel.id}", height=620)


def output_code(
    report: Report, item: Compilation, kernel: Kernel, text: str, user_lines: Mapping[str, int]
) -> CodePicture:
    """The whole output code that holds a kernel: first lines and calls of all its kernels link to their FX nodes.

    `user_lines` are the user's lines by FX node, which are linked too.
    """
    colours = kernel_colours(report)
    links: dict[int, tuple[str, ...]] = {}
    margins: dict[int, Colours] = {}
    for other in item.kernels:
        if other.output_code != kernel.output_code:
            continue
        margins.update(dict.fromkeys(range(other.lines[0], other.lines[1] + 1), colours[other.id]))
        origins = [f"n:{name}" for name in other.origins]
        lines = dict.fromkeys(f"l:{user_lines[name]}" for name in other.origins if name in user_lines)
        for number in {other.lines[0], *other.call_lines}:
            links[number] = (f"k:{other.id}", *origins, *lines)
            margins[number] = colours[other.id]
    return CodePicture("output code", "python", code_lines(text, prefix="c", links=links, colours=margins))


def user_lines(here: state.Shown, report: Report, item: Compilation, kernel: Kernel) -> None:
    """The user's code with every kernel's lines coloured, this one's nodes below it."""
    graph = item.graph(kernel.graph)
    nodes = {node.name: node for node in state.nodes(here, item, graph)} if graph else {}
    path = source_path(report)
    user = _coloured(here, report, item, kernel, nodes, path)
    if user is not None:
        code_view(user, key=f"lines-{kernel.id}", height=330, selected=_first_line(kernel, nodes, path))
    else:
        st.caption("The log does not hold the user's code.")
        for frame in kernel.stacks[:20]:
            st.text(f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}")
    _origins(kernel, nodes)


def _coloured(
    here: state.Shown, report: Report, item: Compilation, kernel: Kernel, nodes: dict[str, FxNode], path: str
) -> CodePicture | None:
    colours = kernel_colours(report)
    links: dict[int, list[str]] = {}
    margins: dict[int, list[str]] = {}
    for other in item.kernels:
        if other.graph != kernel.graph:
            continue
        for line in _lines(other, nodes, path):
            links.setdefault(line, []).append(f"k:{other.id}")
            margins.setdefault(line, []).append(colours[other.id])
    return user_code(
        here,
        report,
        links={line: tuple(ids) for line, ids in links.items()},
        colours={line: tuple(found) for line, found in margins.items()},
    )


def _lines(kernel: Kernel, nodes: dict[str, FxNode], path: str) -> set[int]:
    """The user's lines of a kernel: of its FX nodes, and of the stacks that torch recorded for it."""
    of_nodes = {at[1] for name in kernel.origins if name in nodes and (at := nodes[name].source) and at[0] == path}
    return of_nodes | {frame.line for frame in kernel.stacks if frame.file == path}


def _first_line(kernel: Kernel, nodes: dict[str, FxNode], path: str) -> str | None:
    lines = _lines(kernel, nodes, path)
    return f"l:{min(lines)}" if lines else None


def _origins(kernel: Kernel, nodes: dict[str, FxNode]) -> None:
    """The FX nodes that became this kernel, in the order of the graph, with a link to the graph."""
    if not kernel.origins:
        st.caption("Which FX nodes it came from was not recorded; set INDUCTOR_PROVENANCE=1 to record it.")
        return
    ordered = [name for name in nodes if name in set(kernel.origins)]
    lines = [f"{name} = {nodes[name].target}({nodes[name].args})" for name in ordered]
    picture = CodePicture(
        f"{len(ordered)} FX nodes",
        "python",
        code_lines(
            "\n".join(lines),
            prefix="o",
            links={i: (f"n:{name}", f"k:{kernel.id}") for i, name in enumerate(ordered, 1)},
        ),
    )
    code_view(picture, key=f"origins-{kernel.id}", height=min(260, 60 + 20 * len(lines)))
    st.page_link(
        "graphs/fx_graph.py",
        label="See them in the FX graph",
        icon=":material/account_tree:",
        query_params=state.link(**{state.GRAPH: kernel.graph, state.SELECT: f"n:{ordered[0]}"})
        if ordered
        else state.link(),
    )

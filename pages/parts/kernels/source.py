"""The parts of the kernels page: a kernel's source, and the FX nodes and user's lines that it comes from."""

from __future__ import annotations

import streamlit as st

from core.base import words as fmt
from core.code import AROUND_CALL, kernel_code
from core.graph import source_path
from core.report import FxNode, Kernel
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import SHORT, TALL
from pages.parts.code import kernel_colours, line_prefix, output_code, places_of, recorded_files, user_code
from pages.session import url
from pages.session.view import View


def kernel_source(view: View, kernel: Kernel, whole: bool, height: int = TALL) -> None:
    """Draw highlighted source with line numbers of the output code, in the kernel's colour.

    Its first line and its calls are links.
    """
    whole_code = output_code(view, kernel, {})
    if whole:
        code_view(whole_code, key=f"kernel-{kernel.id}-whole", height=height, selected=f"c:{kernel.lines[0]}")
        return
    first = max(1, kernel.lines[0] - (AROUND_CALL - 1 if kernel.extern else 0))
    shown = kernel_code(kernel, view.text(kernel.output_code))
    lines = whole_code.lines[first - 1 : first + shown.count("\n")]
    language = "cpp" if kernel.language == "cpp" else "python"
    code_view(CodePicture(kernel.name, language, lines), key=f"kernel-{kernel.id}", height=height)


def user_lines(view: View, kernel: Kernel) -> None:
    """Draw the file that most of a kernel comes from, every kernel's lines coloured, and this kernel's
    nodes below it.
    """
    graph = view.compilation.graph(kernel.graph)
    nodes = {node.name: node for node in view.nodes(graph)} if graph else {}
    origins = [nodes[name] for name in kernel.origins if name in nodes]
    path = next(iter(recorded_files(view, origins)), source_path(view.report))
    user = _coloured(view, kernel, nodes, path)
    if user is not None:
        prefix = line_prefix(view, path)
        code_view(user, key=f"lines-{kernel.id}", height=SHORT, selected=_first_line(kernel, nodes, path, prefix))
    else:
        st.caption("The log does not hold the user's code.")
        for frame in kernel.stacks[:20]:
            st.text(f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}")
    _origins(kernel, nodes)


def _coloured(view: View, kernel: Kernel, nodes: dict[str, FxNode], path: str) -> CodePicture | None:
    colours = kernel_colours(view.report)
    links: dict[int, list[str]] = {}
    margins: dict[int, list[str]] = {}
    for other in view.compilation.kernels:
        if other.graph != kernel.graph:
            continue
        for line in _lines(other, nodes, path):
            links.setdefault(line, []).append(f"k:{other.id}")
            margins.setdefault(line, []).append(colours[other.id])
    return user_code(
        view,
        path=path,
        links={line: tuple(ids) for line, ids in links.items()},
        colours={line: tuple(found) for line, found in margins.items()},
    )


def _lines(kernel: Kernel, nodes: dict[str, FxNode], path: str) -> set[int]:
    """Return the lines of a file that a kernel comes from: by its FX nodes, and by the stacks that torch recorded for
    it.
    """
    found = (nodes[name] for name in kernel.origins if name in nodes)
    of_nodes = {place.line for node in found for place in places_of(node) if place.file == path}
    return of_nodes | {frame.line for frame in kernel.stacks if frame.file == path}


def _first_line(kernel: Kernel, nodes: dict[str, FxNode], path: str, prefix: str) -> str | None:
    lines = _lines(kernel, nodes, path)
    return f"{prefix}:{min(lines)}" if lines else None


def _origins(kernel: Kernel, nodes: dict[str, FxNode]) -> None:
    """Draw the FX nodes that became this kernel, in the order of the graph, with a link to the graph."""
    if not kernel.origins:
        st.caption("Which FX nodes it came from was not recorded; set INDUCTOR_PROVENANCE=1 to record it.")
        return
    ordered = [name for name in nodes if name in set(kernel.origins)]
    lines = [f"{name} = {nodes[name].target}({nodes[name].args})" for name in ordered]
    picture = CodePicture(
        fmt.count(len(ordered), "FX node"),
        "python",
        code_lines(
            "\n".join(lines),
            prefix="o",
            links={i: (f"n:{name}", f"k:{kernel.id}") for i, name in enumerate(ordered, 1)},
        ),
    )
    code_view(picture, key=f"origins-{kernel.id}", height=min(260, 60 + 20 * len(lines)))
    st.page_link(
        menu.FX_GRAPH.script,
        label="See them in the FX graph",
        icon=menu.FX_GRAPH.icon,
        query_params=url.link(**{url.GRAPH: kernel.graph, url.SELECT: f"n:{ordered[0]}"}) if ordered else url.link(),
    )

"""Details of a kernel below the kernel table: source, FX nodes, and user's lines."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from core.report import FxNode, Kernel
from core.views import kernels as views
from core.views.colours import kernel_colours
from core.views.texts import SourceView
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import SHORT, TALL
from pages.look.text import LONGEST_NAME, code, plain
from pages.parts.code import line_prefix, output_code, places_of, recorded_files, user_code
from pages.session import url
from pages.session.downloads import json_twin, text_twin
from pages.session.shown import View


def kernel_text(view: View, kernel: Kernel) -> str:
    """Return a kernel's source; for an extern kernel the lines around its call."""
    return views.KernelView(view.report, view.compilation, kernel).code(view.text(kernel.output_code))


def chosen_kernel(
    view: View, kernels: views.KernelsView, beside: Callable[[], object], below: Callable[[Kernel], object]
) -> None:
    """Draw the kernel of the URL, by default the worst: its code, and the lines that it comes from.

    `beside` draws buttons beside those of the kernel, and `below` what belongs below its code.
    """
    kernel = kernels.kernel((url.selected() or "").removeprefix("k:"))
    url.pick(f"k:{kernel.id}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{plain(kernels.names[kernel.id], LONGEST_NAME)}** {code(kernel.name, LONGEST_NAME)}")
        if not kernel.extern:
            link = url.link(**{url.SELECT: f"k:{kernel.id}"})
            st.page_link(menu.KERNEL.script, label="Open the kernel", icon=menu.KERNEL.icon, query_params=link)
        whole = st.toggle("whole output code", key=url.WHOLE, bind="query-params")
        beside()
        text_twin(kernel.name, kernel_text(view, kernel), key="kernel")
        json_twin("kernel-ledger", kernels.rows, key="kernel")
    left, right = st.columns([3, 2], gap="medium")
    with left:
        kernel_source(view, kernel, whole)
        below(kernel)
    with right:
        user_lines(view, kernel, selects=not whole)


def kernel_source(view: View, kernel: Kernel, whole: bool, height: int = TALL) -> None:
    """Draw a kernel's source, or the `whole` output code, with line numbers of the output code.

    Lines have the colour of their kernel. The first line and the calls of a kernel are links.
    """
    whole_code = output_code(view, kernel, {})
    if whole:
        selected = f"c:{url.line_of(kernel.id) or kernel.lines[0]}"
        code_view(whole_code, key=f"kernel-{kernel.id}-whole", height=height, selected=selected)
        return
    first = views.KernelView(view.report, view.compilation, kernel).first_line
    lines = whole_code.lines[first - 1 : first + kernel_text(view, kernel).count("\n")]
    language = "cpp" if kernel.language == "cpp" else "python"
    code_view(CodePicture(kernel.name, language, lines), key=f"kernel-{kernel.id}", height=height)


def user_lines(view: View, kernel: Kernel, *, op: str = "", selects: bool = True) -> None:
    """Draw the file of an op or of most of a kernel's lines, coloured by kernel, and its FX nodes.

    With `selects`, the line of the op `op`, or of most ops, is selected initially. Use False beside the whole output
    code, which is already scrolled to the kernel: the selection would scroll it to the first kernel of the line.
    """
    graph = view.compilation.graph(kernel.graph)
    nodes = {node.name: node for node in view.nodes(graph)} if graph else {}
    shown = views.KernelView(view.report, view.compilation, kernel)
    recorded = recorded_files(view, [nodes[name] for name in shown.origins(nodes)])
    own = [place.file for place in places_of(nodes[op])[-1:]] if op in nodes else []
    path = next(iter([*(file for file in own if file in recorded), *recorded]), shown.source_path)
    user = _coloured(view, kernel, nodes, path)
    if user is not None:
        if words := shown.called_words(path, nodes):
            st.caption(words)
        line = shown.line_in(path, nodes, op)
        first = f"{line_prefix(view, path)}:{line}" if line and selects else None
        code_view(user, key=f"lines-{kernel.id}", height=SHORT, selected=first)
        if elsewhere := shown.elsewhere(path, nodes):
            st.caption(elsewhere)
    else:
        st.caption(SourceView.no_code)
        for frame in kernel.stacks[:20]:
            st.text(f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}")
    _origins(shown, nodes)


def _coloured(view: View, selected: Kernel, nodes: dict[str, FxNode], path: str) -> CodePicture | None:
    colours = kernel_colours(view.report)
    links: dict[int, list[str]] = {}
    margins: dict[int, list[str]] = {}
    for kernel in view.compilation.kernels:
        if kernel.graph != selected.graph:
            continue
        for line in views.KernelView(view.report, view.compilation, kernel).called_in(path, nodes):
            links.setdefault(line, []).append(f"k:{kernel.id}")
            margins.setdefault(line, []).append(colours[kernel.id])
    return user_code(
        view,
        path=path,
        links={line: tuple(ids) for line, ids in links.items()},
        colours={line: tuple(line_colours) for line, line_colours in margins.items()},
    )


def _origins(shown: views.KernelView, nodes: dict[str, FxNode]) -> None:
    """Draw the FX nodes that became this kernel, in the order of the graph, with a link to the graph."""
    kernel = shown.kernel
    if not kernel.origins:
        st.caption(views.KernelView.no_origins)
        return
    names = shown.origins(nodes)
    lines = [f"{name} = {nodes[name].target}({nodes[name].args})" for name in names]
    picture = CodePicture(
        shown.origins_title(nodes),
        "python",
        code_lines(
            "\n".join(lines),
            prefix="o",
            links={i: (f"n:{name}", f"k:{kernel.id}") for i, name in enumerate(names, 1)},
        ),
    )
    code_view(picture, key=f"origins-{kernel.id}", height=min(260, 60 + 20 * len(lines)))
    st.page_link(
        menu.FX_GRAPH.script,
        label=views.KernelView.graph_link,
        icon=menu.FX_GRAPH.icon,
        query_params=url.link(**{url.GRAPH: kernel.graph, url.SELECT: f"n:{names[0]}"}) if names else url.link(),
    )

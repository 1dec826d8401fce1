"""From a report's graphs to pictures: FX graphs, and the scheduler before and after fusion.

Ids are shared by every view of a page: `n:` an FX node, `s:` a scheduler node, `k:` a kernel, `l:` a line of the user's
code, `c:` a line of generated code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from core.analysis import aten_name, op_class
from core.report import Buffer, Compilation, FxGraph, FxNode, Kernel, Report, Schedule, SchedulerNode
from pages.components import format as fmt
from pages.components.palette import kernel_colour
from pages.components.picture import PictureEdge, PictureNode, Row

PARAMETER = re.compile(r"(^l_self_|_parameters_|_buffers_|^g_|^p_|^b_|_modules_)")
MOST_INPUTS = 8


def kernel_colours(report: Report) -> dict[str, str]:
    """The colour of every kernel of a run; it stays with the kernel over all pages."""
    ids = [kernel.id for item in report.compilations for kernel in item.kernels]
    return {kernel_id: kernel_colour(index) for index, kernel_id in enumerate(ids)}


def kernels_of(item: Compilation, graph: FxGraph) -> dict[str, list[Kernel]]:
    """FX node → the kernels that it became, for the graph that Inductor lowered."""
    found: dict[str, list[Kernel]] = {}
    for kernel in item.kernels:
        if kernel.graph == graph.id:
            for name in kernel.origins:
                found.setdefault(name, []).append(kernel)
    return found


def fx_picture(
    nodes: Iterable[FxNode], kernels: Mapping[str, list[Kernel]], colours: Mapping[str, str], source: str
) -> tuple[list[PictureNode], list[PictureEdge]]:
    """An FX graph; parameters become chips on the nodes that read them, as does everything beyond a few inputs."""
    by_name = {node.name: node for node in nodes}
    drawn = {name for name, node in by_name.items() if node.op not in ("placeholder", "get_attr", "output")}
    inputs = [name for name, node in by_name.items() if node.op == "placeholder" and not PARAMETER.search(name)]
    if len(inputs) <= MOST_INPUTS:
        drawn.update(inputs)
        drawn.update(name for name, node in by_name.items() if node.op == "output")
    pictures = [
        _fx_node(by_name[name], by_name, drawn, kernels.get(name, []), colours, source)
        for name in by_name
        if name in drawn
    ]
    edges = [
        PictureEdge(f"n:{read}", f"n:{name}", _shape(by_name[read]))
        for name in by_name
        if name in drawn
        for read in by_name[name].inputs
        if read in drawn
    ]
    return pictures, edges


def _fx_node(
    node: FxNode,
    by_name: Mapping[str, FxNode],
    drawn: set[str],
    kernels: list[Kernel],
    colours: Mapping[str, str],
    source: str,
) -> PictureNode:
    links = [f"k:{kernel.id}" for kernel in kernels]
    if node.source and node.source[0] == source:
        links.append(f"l:{node.source[1]}")
    label = node.name if node.op in ("placeholder", "output") else aten_name(node.target)
    chips = [name for name in node.inputs if name in by_name and name not in drawn]
    return PictureNode(
        id=f"n:{node.name}",
        label=label,
        detail=_shape(node),
        css_class=op_class(node.target) if node.op.startswith("call") else "other",
        colour=colours.get(kernels[0].id) if kernels else None,
        links=tuple(links),
        chips=tuple(_chip(name) for name in chips[:3]) + ((f"+{len(chips) - 3}",) if len(chips) > 3 else ()),
        tooltip=f"{node.name} = {node.target}({node.args})"[:400],
    )


def _chip(name: str) -> str:
    short = re.sub(r"^(l_self_|L_self_|g_\w+?_)?(modules_|parameters_|buffers_)*", "", name).strip("_")
    short = short.replace("_modules_", ".").replace("_parameters_", ".").replace("_buffers_", ".")
    return short if len(short) <= 18 else f"…{short[-17:]}"


def _shape(node: FxNode) -> str:
    return fmt.tensor(node.meta.dtype, node.meta.shape) if node.meta else ""


def before_picture(
    schedule: Schedule, nodes: Mapping[str, FxNode], colours: Mapping[str, str]
) -> tuple[list[PictureNode], list[PictureEdge]]:
    """The scheduler's nodes before fusion: one box an op, buffers as edges."""
    buffers = {buffer.name: buffer for buffer in schedule.buffers}
    pictures = [
        PictureNode(
            id=f"s:{node.name}",
            label=_words(node, nodes),
            detail=_written(node, buffers),
            css_class=_class(node, nodes),
            colour=colours.get(node.kernel),
            tooltip=_tooltip(node),
        )
        for node in schedule.before
    ]
    return pictures, _edges({node.name: f"s:{node.name}" for node in schedule.before}, schedule.before, buffers)


def after_picture(
    schedule: Schedule,
    groups: tuple[tuple[str, ...], ...],
    nodes: Mapping[str, FxNode],
    kernels: Mapping[str, Kernel],
    colours: Mapping[str, str],
) -> tuple[list[PictureNode], list[PictureEdge]]:
    """Groups of scheduler nodes as boxes with their ops inside: kernels, once everything is fused."""
    buffers = {buffer.name: buffer for buffer in schedule.buffers}
    before = {node.name: node for node in schedule.before}
    ids: dict[str, str] = {}
    pictures = []
    for group in groups:
        members = [before[name] for name in group]
        box = f"g:{group[0]}"
        ids.update(dict.fromkeys(group, box))
        pictures.append(_group(box, members, nodes, kernels, colours, buffers))
    return pictures, _edges(ids, schedule.before, buffers)


def _group(
    box: str,
    members: list[SchedulerNode],
    nodes: Mapping[str, FxNode],
    kernels: Mapping[str, Kernel],
    colours: Mapping[str, str],
    buffers: Mapping[str, Buffer],
) -> PictureNode:
    kernel = kernels.get(members[0].kernel)
    rows = [
        Row(
            id=f"s:{member.name}",
            label=_words(member, nodes),
            css_class=_class(member, nodes),
        )
        for member in members
    ]
    return PictureNode(
        id=box,
        label=kernel.name.rsplit("aten.")[-1] if kernel else _words(members[0], nodes),
        detail=_written(members[-1], buffers),
        css_class=_class(members[0], nodes),
        colour=colours.get(members[0].kernel),
        links=(*(f"s:{member.name}" for member in members), *([f"k:{kernel.id}"] if kernel else [])),
        rows=tuple(rows) if len(rows) > 1 or (kernel and not kernel.extern) else (),
        tooltip="\n".join(_tooltip(member) for member in members[:12]),
    )


def _edges(ids: Mapping[str, str], nodes: Iterable[SchedulerNode], buffers: Mapping[str, Buffer]) -> list[PictureEdge]:
    nodes = list(nodes)
    writer = {name: node.name for node in nodes for name, _ in node.writes}
    found: dict[tuple[str, str, str], int] = {}
    for node in nodes:
        for name, size in node.reads:
            source = writer.get(name)
            if source is not None and ids[source] != ids[node.name]:
                key = (ids[source], ids[node.name], _buffer(name, buffers))
                found[key] = max(size, found.get(key, 0))
    return [PictureEdge(source, target, label, size) for (source, target, label), size in found.items()]


def _buffer(name: str, buffers: Mapping[str, Buffer]) -> str:
    buffer = buffers.get(name)
    return f"{name} {fmt.tensor(buffer.dtype, buffer.shape)}" if buffer else name


def _written(node: SchedulerNode, buffers: Mapping[str, Buffer]) -> str:
    found = [buffers[name] for name, _ in node.writes if name in buffers]
    return fmt.tensor(found[0].dtype, found[0].shape) if found else ""


def _targets(node: SchedulerNode, nodes: Mapping[str, FxNode]) -> list[str]:
    return [nodes[name].target for name in node.origins if name in nodes]


def _words(node: SchedulerNode, nodes: Mapping[str, FxNode]) -> str:
    """A scheduler node in the user's ops; views go last, since they cost nothing."""
    targets = _targets(node, nodes)
    working = [aten_name(target) for target in targets if op_class(target) != "view"]
    names = list(dict.fromkeys(working or [aten_name(target) for target in targets]))
    return " · ".join(names) or node.name


def _class(node: SchedulerNode, nodes: Mapping[str, FxNode]) -> str:
    classes = [op_class(target) for target in _targets(node, nodes)]
    order = ("attention", "matmul", "collective", "embedding", "random", "reduction", "pointwise", "copy", "view")
    return next((kind for kind in order if kind in classes), "other")


def _tooltip(node: SchedulerNode) -> str:
    return f"{node.name} ({node.kind}) reads and writes {fmt.bytes_(node.bytes_accessed)}"

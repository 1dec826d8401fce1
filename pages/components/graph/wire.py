"""A graph in the browser's form: levels, overlays with their colours, and the frames of its film."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.views.graph import GraphView
from pages.components.graph.messages import (
    CategoryData,
    EdgeData,
    FrameData,
    GraphData,
    ItemData,
    LevelData,
    MetricsData,
    MorphData,
    NodeVersion,
    OverlayData,
    RowData,
    SizeData,
)
from pages.components.graph.store import StoredGraph
from pages.look.palette import ACCENT, CHANGES, KERNEL_COLOURS, MUTED, OP_CLASSES, STATUS, segment_colour

TOP = -1
STANDINGS = {
    "first to differ": {"light": STATUS["bad"].light, "dark": STATUS["bad"].dark},
    "differs": {"light": STATUS["warn"].light, "dark": STATUS["warn"].dark},
    "as right as eager": {"light": STATUS["ok"].light, "dark": STATUS["ok"].dark},
}
CLASSES = {name: colour.label for name, colour in OP_CLASSES.items()}


def graph_data(
    graph: StoredGraph, *, morph: StoredGraph | None = None, labels: tuple[str, str] = ("Before", "After")
) -> GraphData:
    """Return the component's first message; `labels` are the labels of the morph's two graphs."""
    return GraphData(
        **_shown(graph),
        classes=CLASSES,
        metrics=msgspec.convert(graph.view.metrics, MetricsData),
        frames=tuple(_frames(graph.view)),
        morph=MorphData(labels=labels, **_shown(morph)) if morph else None,
    )


def level_data(graph: StoredGraph, group: int = TOP, whole: GraphView | None = None) -> LevelData:
    """Return a group's level for the browser; in a part of a graph, nodes have their numbers in the `whole` graph."""
    numbers = graph.view.numbers_in(whole) if whole else range(graph.view.size())
    level = graph.view.level(group)
    return LevelData(
        group, level.note, level.parts, tuple(_items(graph, group, numbers)), tuple(_edges(graph.view, group, numbers))
    )


def _shown(graph: StoredGraph) -> dict[str, Any]:
    """Return the fields of ShownData."""
    model = graph.view.model
    return {
        "digest": graph.digest,
        "root": level_data(graph),
        "opened": {str(level.group): level_data(graph, level.group) for level in graph.view.opened()},
        "size": SizeData(len(model.nodes), len(model.edges), len(model.groups)),
        "overlays": tuple(_overlays(graph)),
    }


def _items(graph: StoredGraph, group: int, numbers: Sequence[int]) -> Iterator[ItemData]:
    for item in graph.view.level(group).items:
        box = {"part": item.part, "x": item.x, "y": item.y, "width": item.width, "height": item.height}
        if item.node == TOP:
            yield _group(graph.view, item.group, box)
        else:
            yield _node(graph, item.node, numbers[item.node], box)


def _node(graph: StoredGraph, index: int, number: int, box: dict[str, Any]) -> ItemData:
    node = graph.view.model.nodes[index]
    rows = (RowData(row.id, row.label, row.op_class, row.links, row.detail, row.joins) for row in node.rows)
    return ItemData(
        **box,
        id=node.id,
        node=number,
        label=node.label,
        detail=node.detail,
        op_class=node.op_class,
        colour=graph.colours.get(node.kernel),
        links=node.links,
        rows=tuple(rows),
        chips=node.chips,
        tooltip=node.tooltip,
        thin=node.thin,
        frames=node.frames,
        versions=tuple(NodeVersion(*version) for version in node.versions),
        values=tuple(overlay.values[index] for overlay in graph.view.model.overlays),
    )


def _group(view: GraphView, index: int, box: dict[str, Any]) -> ItemData:
    group, values = view.model.groups[index], view.overlay_values(index)
    return ItemData(
        **box,
        id=group.id,
        group=index,
        first=group.first,
        last=group.last,
        label=group.label,
        detail=group.detail,
        op_class=_commonest_class(view, values),
        kind=group.kind,
        count=group.count,
        facts=view.group_facts(index),
        frames=view.group_frames(index),
        values=tuple(values),
    )


def _commonest_class(view: GraphView, values: Sequence[int | float | None]) -> str:
    for overlay, value in zip(view.model.overlays, values, strict=True):
        if overlay.name == "op_class" and value is not None:
            return overlay.categories[int(value)]
    return "other"


def _edges(view: GraphView, group: int, numbers: Sequence[int]) -> Iterator[EdgeData]:
    for edge in view.level(group).edges:
        ends = tuple((numbers[source], numbers[target]) for source, target in edge.ends)
        yield EdgeData(edge.source, edge.target, edge.points, edge.label, edge.bytes, edge.count, ends, edge.frames)


def _overlays(graph: StoredGraph) -> Iterator[OverlayData]:
    for overlay in graph.view.model.overlays:
        values = [value for value in overlay.values if value is not None]
        yield OverlayData(
            name=overlay.name,
            title=overlay.title,
            kind=overlay.kind,
            unit=overlay.unit,
            categories=tuple(_category(graph, overlay.name, *category) for category in enumerate(overlay.categories)),
            range=(min(values), max(values)) if values and overlay.kind == "number" else (),
            note=overlay.note,
        )


def _category(graph: StoredGraph, overlay: str, index: int, text: str) -> CategoryData:
    if overlay == "op_class":
        colour = OP_CLASSES.get(text, OP_CLASSES["other"])
        return CategoryData(colour.label, colour.light, colour.dark)
    if overlay == "difference":
        return CategoryData(CHANGES[text].label, CHANGES[text].light, CHANGES[text].dark)
    if overlay == "shapes":
        return CategoryData(text, **(MUTED if text == "static" else ACCENT))
    if overlay == "numerics":
        return CategoryData(text, **STANDINGS.get(text, MUTED))
    if overlay == "segment":
        return CategoryData(text, **_segment_colour(text))
    paint = KERNEL_COLOURS[index % len(KERNEL_COLOURS)]
    if overlay == "kernel":
        paint, text = graph.colours.get(text, paint), graph.view.kernel_names.get(text, text)
    return CategoryData(text, paint, paint)


def _segment_colour(text: str) -> dict[str, str]:
    """Return the colours of a segment by its number; muted colours for ops that torch runs."""
    colour = segment_colour(text)
    return {"light": colour, "dark": colour} if colour else MUTED


def _frames(view: GraphView) -> Iterator[FrameData]:
    for frame in view.frames:
        changes = (_nodes(view, ids) for ids in (frame.added, frame.removed, frame.rewritten))
        yield FrameData(frame.title, frame.detail, *changes)


def _nodes(view: GraphView, ids: Sequence[str]) -> tuple[int, ...]:
    """Return the indexes of the nodes that are drawn."""
    return tuple(node for item in ids if (node := view.node_of(item)) is not None)

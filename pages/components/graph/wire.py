"""A graph in the browser's form: levels, overlays with their colours, and the frames of its film."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from core.base import words as fmt
from core.graph import (
    DIFFERENCE,
    METRICS,
    SEGMENT,
    SMALL,
    TOP,
    Fact,
    GraphModel,
    Group,
    Item,
    Level,
    LevelEdge,
    Node,
    Overlay,
    Row,
    find,
    index_of,
    level,
)
from pages.components.graph.messages import (
    CategoryData,
    EdgeData,
    FrameData,
    GraphData,
    ItemData,
    LevelData,
    MetricsData,
    MorphData,
    OverlayData,
    RowData,
    SizeData,
)
from pages.components.graph.store import Look, Stored
from pages.look.palette import ACCENT, CHANGES, KERNEL_COLOURS, MUTED, OP_CLASSES, STATUS, segment_colour

# A group with at least this fraction of the ops is the part of a graph to look into.
HEAVY = 0.75
# At most so many groups with a tenth or more each share a graph, as an encoder and a decoder do.
PART = 0.1
MOST_PARTS = 3
MOST_OPENED_ITEMS = 400
STANDINGS = {
    "first to differ": {"light": STATUS["bad"].light, "dark": STATUS["bad"].dark},
    "differs": {"light": STATUS["warn"].light, "dark": STATUS["warn"].dark},
    "as right as eager": {"light": STATUS["ok"].light, "dark": STATUS["ok"].dark},
}
CLASSES = {name: colour.label for name, colour in OP_CLASSES.items()}


@dataclass(frozen=True, slots=True)
class WireStep:
    """A frame of a film: its text, and the ids of the nodes that it changed from the frame before."""

    title: str
    detail: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()


def graph_data(
    graph: Stored,
    *,
    frames: Sequence[WireStep] = (),
    morph: Stored | None = None,
    labels: tuple[str, str] = ("Before", "After"),
) -> GraphData:
    """Return the component's first message; `labels` are those of the morph's two graphs."""
    return GraphData(
        **_shown(graph),
        classes=CLASSES,
        metrics=msgspec.convert(METRICS, MetricsData),
        frames=tuple(_frame(graph.model, frame) for frame in frames),
        morph=MorphData(labels=labels, **_shown(morph)) if morph else None,
    )


def level_data(graph: Stored, shown: Level, whole: GraphModel | None = None) -> LevelData:
    """Return a level for the browser; a level of a part of a `whole` keeps the whole's node numbers."""
    number = _numbers(graph.model, whole) if whole else range(len(graph.model.nodes))
    return LevelData(
        shown.group,
        shown.note,
        shown.parts,
        tuple(_item(graph, item, number) for item in shown.items),
        tuple(_edge(edge, number) for edge in shown.edges),
    )


def _shown(graph: Stored) -> dict[str, Any]:
    """Return the fields of ShownData."""
    model = graph.model
    return {
        "digest": graph.digest,
        "root": level_data(graph, level(model)),
        "opened": {str(shown.group): level_data(graph, shown) for shown in opened(model)},
        "size": SizeData(len(model.nodes), len(model.edges), len(model.groups)),
        "overlays": tuple(_overlay(overlay, graph.look) for overlay in model.overlays),
    }


def opened(model: GraphModel) -> list[Level]:
    """Return the groups that are unfolded at first.

    All groups of a graph with few ops, else forward and backward, or the groups around the model's layers: so a graph
    opens the same way before and after fusion.
    """
    sides = [number for number, group in enumerate(model.groups) if group.kind == "direction"]
    ops = sum(max(1, len(node.rows)) for node in model.nodes)
    wanted = range(len(model.groups)) if ops <= SMALL else sides or _heaviest(model)
    found: list[Level] = []
    items = len(index_of(model).children[TOP])
    for group in wanted:
        items += len(index_of(model).children[group])
        if items > MOST_OPENED_ITEMS:
            break
        found.append(level(model, group))
    return found


def _heaviest(model: GraphModel) -> Iterator[int]:
    """Yield the groups to open first, from the top down to the model's layers.

    Descend while one module holds most of the ops. If a few modules share them, descend into each of them.
    """
    tops = [number for number, group in enumerate(model.groups) if group.parent == TOP]
    whole = sum(model.groups[one].count for one in tops)
    parts = [one for one in tops if PART * whole <= model.groups[one].count < HEAVY * whole]
    if not 1 < len(parts) <= MOST_PARTS:
        yield from _down(model, TOP, whole)
        return
    for one in parts:
        if model.groups[one].kind != "stack":
            yield one
            yield from _down(model, one, model.groups[one].count)


def _down(model: GraphModel, group: int, whole: int) -> Iterator[int]:
    while True:
        below = [~item for item in index_of(model).children[group] if item < 0]
        heavy = [one for one in below if model.groups[one].count >= HEAVY * whole]
        if not heavy or (model.groups[heavy[0]].kind == "stack" and len(below) > 1):
            return
        group = heavy[0]
        yield group


def _item(graph: Stored, item: Item, number: Sequence[int]) -> ItemData:
    return _group(graph.model, item) if item.node == TOP else _node(graph, item, number[item.node])


def _node(graph: Stored, item: Item, number: int) -> ItemData:
    node: Node = graph.model.nodes[item.node]
    return ItemData(
        **_box(item),
        id=node.id,
        node=number,
        label=node.label,
        detail=node.detail,
        op_class=node.op_class,
        colour=graph.look.colours.get(node.kernel),
        links=node.links,
        rows=tuple(map(_row, node.rows)),
        chips=node.chips,
        tooltip=node.tooltip,
        thin=node.thin,
        frames=node.frames,
        versions=node.versions,
        values=tuple(overlay.values[item.node] for overlay in graph.model.overlays),
    )


def _box(item: Item) -> dict[str, Any]:
    return {"part": item.part, "x": item.x, "y": item.y, "width": item.width, "height": item.height}


def _row(row: Row) -> RowData:
    return RowData(row.id, row.label, row.op_class, row.links, row.detail, row.joins)


def _group(model: GraphModel, item: Item) -> ItemData:
    group: Group = model.groups[item.group]
    values = index_of(model).painted(item.group)
    return ItemData(
        **_box(item),
        id=group.id,
        group=item.group,
        first=group.first,
        last=group.last,
        label=group.label,
        detail=group.detail,
        op_class=_commonest_class(model, values),
        kind=group.kind,
        count=group.count,
        facts=tuple((fact.name, _words(fact)) for fact in group.facts),
        frames=tuple(index_of(model).frames(item.group)),
        values=tuple(values),
    )


def _commonest_class(model: GraphModel, values: Sequence[int | float | None]) -> str:
    for overlay, value in zip(model.overlays, values, strict=True):
        if overlay.name == "op_class" and value is not None:
            return overlay.categories[int(value)]
    return "other"


def _words(fact: Fact) -> str:
    """Return a fact's value as text."""
    if isinstance(fact.value, str):
        return fact.value
    if fact.unit == "share":
        return fmt.percent(fact.value)
    if fact.unit == "s":
        return fmt.duration_s(fact.value)
    return fmt.amount(fact.value)


def _edge(edge: LevelEdge, number: Sequence[int]) -> EdgeData:
    ends = tuple((number[source], number[target]) for source, target in edge.ends)
    return EdgeData(edge.source, edge.target, edge.points, edge.label, edge.bytes, edge.count, ends, edge.frames)


def _overlay(overlay: Overlay, look: Look) -> OverlayData:
    known = [value for value in overlay.values if value is not None]
    return OverlayData(
        name=overlay.name,
        title=overlay.title,
        kind=overlay.kind,
        unit=overlay.unit,
        categories=tuple(_category(overlay.name, at, text, look) for at, text in enumerate(overlay.categories)),
        range=(min(known), max(known)) if known and overlay.kind == "number" else (),
        note=overlay.note,
    )


def _category(overlay: str, index: int, text: str, look: Look) -> CategoryData:
    if overlay == "op_class":
        colour = OP_CLASSES.get(text, OP_CLASSES["other"])
        return CategoryData(colour.label, colour.light, colour.dark)
    if overlay == DIFFERENCE:
        return CategoryData(CHANGES[text].label, CHANGES[text].light, CHANGES[text].dark)
    if overlay == "shapes":
        return CategoryData(text, **(MUTED if text == "static" else ACCENT))
    if overlay == "numerics":
        return CategoryData(text, **STANDINGS.get(text, MUTED))
    if overlay == SEGMENT:
        return CategoryData(text, **_segment_colour(text))
    either = KERNEL_COLOURS[index % len(KERNEL_COLOURS)]
    if overlay == "kernel":
        colour_of_kernel = look.colours.get(text, either)
        return CategoryData(look.names.get(text, text), colour_of_kernel, colour_of_kernel)
    return CategoryData(text, either, either)


def _segment_colour(text: str) -> dict[str, str]:
    """Return the colours of a segment by its number; muted ones for ops that torch runs."""
    colour = segment_colour(text)
    return {"light": colour, "dark": colour} if colour else MUTED


def _frame(model: GraphModel, frame: WireStep) -> FrameData:
    changed = (_places(model, ids) for ids in (frame.added, frame.removed, frame.rewritten))
    return FrameData(frame.title, frame.detail, *changed)


def _places(model: GraphModel, ids: Sequence[str]) -> tuple[int, ...]:
    """Return the indexes of the nodes that are drawn."""
    found = (find(model, item) for item in ids)
    return tuple(place.node for place in found if place is not None and place.node != TOP)


def _numbers(part: GraphModel, whole: GraphModel) -> list[int]:
    places = index_of(whole).places
    return [places[node.id] for node in part.nodes]

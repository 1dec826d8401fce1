"""A graph as the browser gets it: levels, overlays with their colours, and the frames of its film."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from core.graph import (
    METRICS,
    TOP,
    Fact,
    GraphModel,
    Group,
    Item,
    Level,
    LevelEdge,
    Node,
    Overlay,
    find,
    index_of,
    level,
)
from pages.components.graph.store import Look, Stored
from pages.look import format as fmt
from pages.look.palette import ACCENT, KERNEL_COLOURS, MUTED, OP_CLASSES

MOST_UNFOLDED_NODES = 60
MOST_OPENED_ITEMS = 400
CLASSES = {name: colour.label for name, colour in OP_CLASSES.items()}
OMITTED: tuple[object, ...] = (None, "", (), [])


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame of a film: its words, and the ids of the nodes that it changed from the frame before."""

    title: str
    detail: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    rewritten: tuple[str, ...] = ()


def graph_data(
    graph: Stored,
    *,
    source: str,
    channel: str = "compileboard",
    height: int = 560,
    frames: Sequence[Frame] = (),
    morph: Stored | None = None,
    labels: tuple[str, str] = ("Before", "After"),
) -> dict[str, Any]:
    """The component's first message; `source` is its own name among those of its channel, `labels` are the morph's
    ends.
    """
    return {
        "channel": channel,
        "source": source,
        "height": height,
        "classes": CLASSES,
        "metrics": METRICS,
        **_view(graph),
        "frames": [_frame(graph.model, frame) for frame in frames],
        "morph": {"labels": labels, **_view(morph)} if morph else None,
    }


def level_data(graph: Stored, shown: Level, whole: GraphModel | None = None) -> dict[str, Any]:
    """A level for the browser; of a part of a `whole`, nodes are numbered as there."""
    number = _numbers(graph.model, whole) if whole else range(len(graph.model.nodes))
    return {
        "id": shown.group,
        "note": shown.note,
        "parts": shown.parts,
        "items": [_item(graph, item, number) for item in shown.items],
        "edges": [_edge(edge, number) for edge in shown.edges],
    }


def _view(graph: Stored) -> dict[str, Any]:
    model = graph.model
    return {
        "digest": graph.digest,
        "root": level_data(graph, level(model)),
        "opened": {str(shown.group): level_data(graph, shown) for shown in opened(model)},
        "size": {"nodes": len(model.nodes), "edges": len(model.edges), "groups": len(model.groups)},
        "overlays": [_overlay(overlay, graph.look) for overlay in model.overlays],
    }


def opened(model: GraphModel) -> list[Level]:
    """The groups that are unfolded at first: all of a small graph, else forward and backward, or one alone at the
    top.
    """
    sides = [number for number, group in enumerate(model.groups) if group.kind == "direction"]
    wanted = range(len(model.groups)) if len(model.nodes) <= MOST_UNFOLDED_NODES else sides or _alone(model)
    found: list[Level] = []
    items = len(index_of(model).children[TOP])
    for group in wanted:
        items += len(index_of(model).children[group])
        if items > MOST_OPENED_ITEMS:
            break
        found.append(level(model, group))
    return found


def _alone(model: GraphModel) -> Iterator[int]:
    """From the top down, as long as there is but one group."""
    group = TOP
    while len(groups := [~item for item in index_of(model).children[group] if item < 0]) == 1:
        group = groups[0]
        yield group


def _item(graph: Stored, item: Item, number: Sequence[int]) -> dict[str, Any]:
    place = {"part": item.part, "x": item.x, "y": item.y, "w": item.width, "h": item.height}
    if item.node == TOP:
        return _group(graph.model, item.group) | place
    values = [overlay.values[item.node] for overlay in graph.model.overlays]
    return _node(graph.model.nodes[item.node], graph.look) | place | {"i": number[item.node], "v": values}


def _node(node: Node, look: Look) -> dict[str, Any]:
    rows = [
        _filled(
            {
                "id": row.id,
                "label": row.label,
                "cls": row.op_class,
                "links": row.links,
                "detail": row.detail,
                "joins": row.joins,
            }
        )
        for row in node.rows
    ]
    fields = {
        "id": node.id,
        "label": node.label,
        "detail": node.detail,
        "cls": node.op_class,
        "colour": look.colours.get(node.kernel),
        "links": node.links,
        "rows": rows,
        "chips": node.chips,
        "tip": node.tooltip,
        "thin": node.thin or None,
        "f": node.frames,
        "versions": node.versions,
    }
    return _filled(fields)


def _group(model: GraphModel, number: int) -> dict[str, Any]:
    group: Group = model.groups[number]
    values = index_of(model).painted(number)
    return _filled(
        {
            "id": group.id,
            "label": group.label,
            "detail": group.detail,
            "cls": _commonest_class(model, values),
            "g": number,
            "from": group.first,
            "to": group.last,
            "kind": group.kind,
            "count": group.count,
            "facts": [(fact.name, _words(fact)) for fact in group.facts],
            "f": index_of(model).frames(number),
            "v": values,
        }
    )


def _commonest_class(model: GraphModel, values: Sequence[int | float | None]) -> str:
    for overlay, value in zip(model.overlays, values, strict=True):
        if overlay.name == "op_class" and value is not None:
            return overlay.categories[int(value)]
    return "other"


def _words(fact: Fact) -> str:
    """A fact's value as text."""
    if isinstance(fact.value, str):
        return fact.value
    if fact.unit == "share":
        return fmt.percent(fact.value)
    if fact.unit == "s":
        return fmt.duration_s(fact.value)
    return fmt.amount(fact.value)


def _edge(edge: LevelEdge, number: Sequence[int]) -> dict[str, Any]:
    fields = {
        "s": edge.source,
        "t": edge.target,
        "points": edge.points,
        "label": edge.label,
        "bytes": edge.bytes,
        "n": edge.count,
        "ends": [(number[source], number[target]) for source, target in edge.ends],
        "f": edge.frames,
    }
    return _filled(fields)


def _overlay(overlay: Overlay, look: Look) -> dict[str, Any]:
    known = [value for value in overlay.values if value is not None]
    return {
        "name": overlay.name,
        "title": overlay.title,
        "kind": overlay.kind,
        "unit": overlay.unit,
        "categories": [_category(overlay.name, index, text, look) for index, text in enumerate(overlay.categories)],
        "range": [min(known), max(known)] if known and overlay.kind == "number" else [],
        "note": overlay.note,
    }


def _category(overlay: str, index: int, text: str, look: Look) -> dict[str, str]:
    if overlay == "op_class":
        colour = OP_CLASSES.get(text, OP_CLASSES["other"])
        return {"name": colour.label, "light": colour.light, "dark": colour.dark}
    if overlay == "shapes":
        paper = MUTED if text == "static" else ACCENT
        return {"name": text, **paper}
    either = KERNEL_COLOURS[index % len(KERNEL_COLOURS)]
    if overlay == "kernel":
        return {"name": look.names.get(text, text), **dict.fromkeys(("light", "dark"), look.colours.get(text, either))}
    return {"name": text, "light": either, "dark": either}


def _frame(model: GraphModel, frame: Frame) -> dict[str, Any]:
    return {
        "title": frame.title,
        "detail": frame.detail,
        "added": _places(model, frame.added),
        "removed": _places(model, frame.removed),
        "rewritten": _places(model, frame.rewritten),
    }


def _places(model: GraphModel, ids: Sequence[str]) -> list[int]:
    """Indexes of nodes; those that are not drawn have none."""
    found = (find(model, item) for item in ids)
    return [place.node for place in found if place is not None and place.node != TOP]


def _numbers(part: GraphModel, whole: GraphModel) -> list[int]:
    places = index_of(whole).places
    return [places[node.id] for node in part.nodes]


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    """Only the fields that say something; a zero is a number and stays."""
    return {name: value for name, value in fields.items() if value not in OMITTED}

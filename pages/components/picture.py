"""A graph as it is drawn: nodes with their text, edges, and where each of them stands."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import ceil
from typing import Any

from core.layout import Box, Edge, lay_out

LABEL_PX_PER_CHAR = 7.2
SMALL_PX_PER_CHAR = 6.6
CHIP_PX_PER_CHAR = 6.0
LEAST_WIDTH, MOST_WIDTH = 64.0, 264.0
PADDING_X, PADDING_Y = 11.0, 6.0
LABEL_HEIGHT, DETAIL_HEIGHT, ROW_HEIGHT, CHIPS_HEIGHT = 18.0, 15.0, 18.0, 21.0
ROW_INSET, ROW_TEXT, CHIP_PADDING, CHIP_GAP = 8.0, 10.0, 5.0, 4.0


@dataclass(frozen=True, slots=True)
class Row:
    """An op inside a node, such as one of those fused into a kernel; it can be selected by itself."""

    id: str
    label: str
    css_class: str
    links: tuple[str, ...] = ()
    detail: str = ""


@dataclass(frozen=True, slots=True)
class PictureNode:
    """A node as text: `css_class` is its class of op, `colour` (hex) its kernel's, `chips` its parameters."""

    id: str
    label: str
    detail: str
    css_class: str
    colour: str | None = None
    links: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    chips: tuple[str, ...] = ()
    tooltip: str = ""


@dataclass(frozen=True, slots=True)
class PictureEdge:
    """A buffer that flows from one node to another; without `bytes` its size is unknown."""

    source: str
    target: str
    label: str = ""
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """Where a node stands: its top-left corner and size, in pixels."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """A placed graph; `routes` holds each edge's Bézier points as x, y, x, y …, `layout_note` is shown if not empty."""

    nodes: tuple[PictureNode, ...]
    edges: tuple[PictureEdge, ...]
    layout_note: str = ""
    places: tuple[Place, ...] = ()
    routes: tuple[tuple[float, ...], ...] = ()
    width: float = 0.0
    height: float = 0.0


def place(nodes: Iterable[PictureNode], edges: Iterable[PictureEdge], budget_s: float = 2.0) -> GraphPicture:
    """Size every node by its text and lay the graph out; raises LayoutError for an edge without its node."""
    picture = GraphPicture(tuple(nodes), tuple(edges))
    sizes = [size(node) for node in picture.nodes]
    boxes = [Box(node.id, *wide_high) for node, wide_high in zip(picture.nodes, sizes, strict=True)]
    layout = lay_out(boxes, [Edge(edge.source, edge.target) for edge in picture.edges], budget_s)
    return replace(
        picture,
        layout_note=layout.note,
        places=tuple(Place(box.x, box.y, *wide_high) for box, wide_high in zip(layout.boxes, sizes, strict=True)),
        routes=tuple(tuple(number for point in curve for number in point) for curve in layout.edges),
        width=layout.width,
        height=layout.height,
    )


def size(node: PictureNode) -> tuple[float, float]:
    """The width and height of a node's box, in pixels; text that is too long for the widest box is cut when drawn."""
    widths = [len(node.label) * LABEL_PX_PER_CHAR, len(node.detail) * SMALL_PX_PER_CHAR, _chips_width(node.chips)]
    widths += [len(row.label + row.detail) * SMALL_PX_PER_CHAR + 2 * ROW_TEXT + 12 for row in node.rows]
    width = min(max(max(widths) + 2 * PADDING_X, LEAST_WIDTH), MOST_WIDTH)
    height = 2 * PADDING_Y + LABEL_HEIGHT + DETAIL_HEIGHT * bool(node.detail) + CHIPS_HEIGHT * bool(node.chips)
    if node.rows:
        height += 3 + ROW_HEIGHT * len(node.rows)
    return ceil(width), ceil(height)


def _chips_width(chips: tuple[str, ...]) -> float:
    return sum(len(chip) * CHIP_PX_PER_CHAR + 2 * CHIP_PADDING + CHIP_GAP for chip in chips)


def as_data(picture: GraphPicture) -> dict[str, Any]:
    """The picture for the browser, empty fields left out; `version` changes exactly when the picture does."""
    number = {node.id: index for index, node in enumerate(picture.nodes)}
    digest = blake2b(repr(picture).encode(), digest_size=8).hexdigest()
    return {
        "version": digest,
        "width": picture.width,
        "height": picture.height,
        "note": picture.layout_note,
        "nodes": [
            _node_data(node) | {"x": at.x, "y": at.y, "w": at.width, "h": at.height}
            for node, at in zip(picture.nodes, picture.places, strict=True)
        ],
        "edges": [
            _filled({"s": number[edge.source], "t": number[edge.target], "label": edge.label, "bytes": edge.bytes})
            | {"points": route}
            for edge, route in zip(picture.edges, picture.routes, strict=True)
        ],
        "metrics": METRICS,
    }


METRICS: Mapping[str, float] = {
    "labelChar": LABEL_PX_PER_CHAR,
    "smallChar": SMALL_PX_PER_CHAR,
    "chipChar": CHIP_PX_PER_CHAR,
    "padX": PADDING_X,
    "padY": PADDING_Y,
    "label": LABEL_HEIGHT,
    "detail": DETAIL_HEIGHT,
    "row": ROW_HEIGHT,
    "chips": CHIPS_HEIGHT,
    "rowInset": ROW_INSET,
    "rowText": ROW_TEXT,
    "chipPad": CHIP_PADDING,
    "chipGap": CHIP_GAP,
}


def _node_data(node: PictureNode) -> dict[str, Any]:
    rows = [
        _filled({"id": row.id, "label": row.label, "cls": row.css_class, "links": row.links, "detail": row.detail})
        for row in node.rows
    ]
    fields = {
        "id": node.id,
        "label": node.label,
        "detail": node.detail,
        "cls": node.css_class,
        "colour": node.colour,
        "links": node.links,
        "rows": rows,
        "chips": node.chips,
        "tip": node.tooltip,
    }
    return _filled(fields)


def _filled(fields: dict[str, Any]) -> dict[str, Any]:
    """Only the fields that say something; a zero is a number and stays."""
    return {name: value for name, value in fields.items() if value not in (None, "", (), [])}

"""Data in the browser's form: graphs with levels, overlays and films, and rows of recompiles.

`make docs` writes the types of pages/components/js/wire.d.ts from these structs. A field with its default value is not
sent, and fields that occur thousands of times have short names.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from itertools import pairwise
from typing import Any, Literal

import msgspec

from core.views.colours import ACCENT, CHANGES, KERNEL_COLOURS, MUTED, OP_CLASSES, STATUS, segment_colour
from core.views.graph import GraphView

TOP = -1
STANDINGS = {
    "first to differ": {"light": STATUS["bad"].light, "dark": STATUS["bad"].dark},
    "differs": {"light": STATUS["warn"].light, "dark": STATUS["warn"].dark},
    "as right as eager": {"light": STATUS["ok"].light, "dark": STATUS["ok"].dark},
}
CLASSES = {name: colour.label for name, colour in OP_CLASSES.items()}
Frames = tuple[tuple[int, int], ...]


class RecompileRow(msgspec.Struct, frozen=True):
    """A compilation in the tree of its frame, `depth` levels below the first.

    `because` is the failed guard without its values: `old` is the value that it expected, `new` the value that it got.
    `took` is the compile time. `calls` has one letter per call: compiled, failed, used, unknown, or a space.
    """

    id: str
    depth: int
    failed: bool
    because: str
    old: str
    new: str
    call: str
    took: str
    calls: str


class NodeVersion(msgspec.Struct, frozen=True, array_like=True):
    """A version of a node that changes during the film, valid from `frame` on."""

    frame: int
    label: str
    detail: str
    tooltip: str


class ItemData(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    kw_only=True,
    rename={
        "width": "w",
        "height": "h",
        "op_class": "cls",
        "tooltip": "tip",
        "frames": "f",
        "values": "v",
        "node": "i",
        "group": "g",
        "first": "from",
        "last": "to",
    },
):
    """A box: a node (with `i`, its number) or a group (with `g`, and the range of its nodes).

    `joins` lists the groups that a node joins, of an eager call or of fused nodes, each with its first frame. `mix` has
    the classes of a group's ops, each with its number of ops.
    """

    id: str
    part: int
    x: float
    y: float
    width: float
    height: float
    op_class: str
    label: str
    detail: str = ""
    frames: Frames = ()
    values: tuple[int | float | None, ...] = ()
    node: int | None = None
    links: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    tooltip: str = ""
    thin: bool = False
    versions: tuple[NodeVersion, ...] = ()
    joins: tuple[tuple[int, str], ...] = ()
    group: int | None = None
    first: int | None = None
    last: int | None = None
    kind: str = ""
    count: int | None = None
    facts: tuple[tuple[str, str], ...] = ()
    badge: str = ""
    mix: tuple[tuple[str, int], ...] = ()


class EdgeData(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    rename={"source": "s", "target": "t", "count": "n", "frames": "f"},
):
    """An edge between two items of its level.

    `ends` are the pairs of connected nodes, `points` are the points of its curve.
    """

    source: int
    target: int
    points: tuple[float, ...]
    label: str = ""
    bytes: int | None = None
    count: int | None = None
    ends: tuple[tuple[int, int], ...] = ()
    frames: Frames = ()
    refused: bool = False


class LevelData(msgspec.Struct, frozen=True):
    """The direct members of a group; `parts` are the widths and heights of the layout's parts."""

    id: int
    note: str
    parts: tuple[tuple[float, float], ...]
    items: tuple[ItemData, ...]
    edges: tuple[EdgeData, ...]


class CategoryData(msgspec.Struct, frozen=True):
    """A value of an overlay, with its colours on light and on dark background."""

    name: str
    light: str
    dark: str


class OverlayData(msgspec.Struct, frozen=True):
    """A colouring of the graph; `range` is the minimum and maximum of a numeric overlay, empty if unknown."""

    name: str
    title: str
    kind: Literal["category", "number"]
    unit: str
    categories: tuple[CategoryData, ...]
    range: tuple[float, ...]
    note: str


class SizeData(msgspec.Struct, frozen=True, omit_defaults=True):
    """The size of a graph; a caption says it in other words."""

    nodes: int
    edges: int
    groups: int
    caption: str = ""


class AmountData(msgspec.Struct, frozen=True):
    """An amount in a frame, with its part of the largest in the film."""

    name: str
    text: str
    share: float


class LargestData(msgspec.Struct, frozen=True):
    """Groups that are the greatest of a graph: in what, number and names, the amount, and their ids."""

    name: str
    badge: str
    text: str
    value: str
    ids: tuple[str, ...]


class FrameData(msgspec.Struct, frozen=True, omit_defaults=True):
    """A frame of a film, with the nodes that it changed; `missing` if it was not recorded.

    `joined` are the nodes that a fusion of this frame puts into another group, `touched` those of its other loops.
    """

    title: str
    detail: str
    added: tuple[int, ...]
    removed: tuple[int, ...]
    rewritten: tuple[int, ...]
    amounts: tuple[AmountData, ...] = ()
    missing: bool = False
    joined: tuple[int, ...] = ()
    touched: tuple[int, ...] = ()


class ShownData(msgspec.Struct, frozen=True, kw_only=True):
    """A graph: its root level, and group → level for the groups that are open at first."""

    digest: str
    root: LevelData
    opened: dict[str, LevelData]
    size: SizeData
    overlays: tuple[OverlayData, ...]


class MetricsData(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Pixel sizes for the layout of boxes."""

    label_char: float
    small_char: float
    chip_char: float
    pad_x: float
    pad_y: float
    label: float
    detail: float
    chips: float
    chip_pad: float
    chip_gap: float
    fold_sign: float


class GraphData(ShownData, frozen=True, kw_only=True):
    """The graph view's main message, without PlaceData; `classes` are the labels of op classes."""

    classes: Mapping[str, str]
    metrics: MetricsData
    frames: tuple[FrameData, ...]
    largest: tuple[LargestData, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StoredGraph:
    """A graph with the colours (hex) of its kernels by id, and the digest of both."""

    digest: str
    view: GraphView
    colours: Mapping[str, str]


def stored(view: GraphView, colours: Mapping[str, str] | None = None) -> StoredGraph:
    """Return a graph with its digest.

    Cache the result as long as the graph, since the digest of 50,000 nodes takes 0.1 s. `colours` maps a kernel
    id to the kernel's colour (hex).
    """
    return StoredGraph(view.digest(colours), view, colours or {})


def graph_data(graph: StoredGraph) -> GraphData:
    """Return the component's first message."""
    return GraphData(
        **_shown(graph),
        classes=CLASSES,
        metrics=msgspec.convert(graph.view.metrics, MetricsData),
        frames=tuple(_frames(graph.view)),
        largest=tuple(LargestData(*astuple(each)) for each in graph.view.model.largest),
    )


def level_data(graph: StoredGraph, group: int = TOP, whole: GraphView | None = None) -> LevelData:
    """Return a group's level for the browser.

    If the graph is a part of the graph `whole`, each node has its number in `whole`.
    """
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
        "size": SizeData(len(model.nodes), len(model.edges), len(model.groups), graph.view.caption),
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
    return ItemData(
        **box,
        id=node.id,
        node=number,
        label=node.label,
        detail=node.detail,
        op_class=node.op_class,
        links=node.links,
        chips=node.chips,
        tooltip=node.tooltip,
        thin=node.thin,
        frames=node.frames,
        versions=tuple(NodeVersion(*version) for version in node.versions),
        joins=node.joins,
        values=tuple(overlay.shown(index) for overlay in graph.view.model.overlays),
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
        badge=group.badge,
        mix=tuple(Counter(node.op_class for node in view.model.nodes[group.first : group.last]).most_common()),
        links=group.links,
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
        yield EdgeData(
            edge.source, edge.target, edge.points, edge.label, edge.bytes, edge.count, ends, edge.frames, edge.refused
        )


def _overlays(graph: StoredGraph) -> Iterator[OverlayData]:
    for overlay in graph.view.model.overlays:
        values = [value for value in overlay.whole or overlay.values if value is not None]
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
    joined: dict[int, list[int]] = {}
    touched: dict[int, list[int]] = {}
    for index, node in enumerate(view.model.nodes):
        for (_, before), (at, group) in pairwise(node.joins):
            if before:
                (touched if before == group else joined).setdefault(at, []).append(index)
    for number, frame in enumerate(view.frames):
        added, removed, rewritten = (_nodes(view, ids) for ids in (frame.added, frame.removed, frame.rewritten))
        amounts = tuple(AmountData(*amount) for amount in frame.amounts)
        fused = tuple(joined.get(number, ())), tuple(touched.get(number, ()))
        yield FrameData(frame.title, frame.detail, added, removed, rewritten, amounts, frame.missing, *fused)


def _nodes(view: GraphView, ids: Sequence[str]) -> tuple[int, ...]:
    """Return the indexes of nodes by id; nodes that are not drawn are left out."""
    return tuple(node for item in ids if (node := view.node_of(item)) is not None)

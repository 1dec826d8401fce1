"""Messages to the graph view; `make docs` writes the types of js/wire.d.ts from them.

A field with its default value is not sent, and fields that occur thousands of times have short names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

Frames = tuple[tuple[int, int], ...]


class NodeVersion(msgspec.Struct, frozen=True, array_like=True):
    """A version of a node that changes during the film, valid from `frame` on."""

    frame: int
    label: str
    detail: str
    tooltip: str


class RowData(msgspec.Struct, frozen=True, omit_defaults=True, rename={"op_class": "cls"}):
    """A row of a node; `joins` lists the groups of rows that it joins, each with its first frame."""

    id: str
    label: str
    op_class: str
    links: tuple[str, ...] = ()
    detail: str = ""
    joins: tuple[tuple[int, str], ...] = ()


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
    """A box: a node (with `i`, its number) or a group (with `g`, and the range of its nodes)."""

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
    colour: str | None = None
    links: tuple[str, ...] = ()
    rows: tuple[RowData, ...] = ()
    chips: tuple[str, ...] = ()
    tooltip: str = ""
    thin: bool = False
    versions: tuple[NodeVersion, ...] = ()
    group: int | None = None
    first: int | None = None
    last: int | None = None
    kind: str = ""
    count: int | None = None
    facts: tuple[tuple[str, str], ...] = ()


class EdgeData(
    msgspec.Struct,
    frozen=True,
    omit_defaults=True,
    rename={"source": "s", "target": "t", "count": "n", "frames": "f"},
):
    """An edge between two items of its level; `ends` are the nodes that it connects, `points` those of its curve."""

    source: int
    target: int
    points: tuple[float, ...]
    label: str = ""
    bytes: int | None = None
    count: int | None = None
    ends: tuple[tuple[int, int], ...] = ()
    frames: Frames = ()


class LevelData(msgspec.Struct, frozen=True):
    """The direct members of a group, laid out in `parts`, each with a width and a height."""

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


class SizeData(msgspec.Struct, frozen=True):
    """The size of a graph."""

    nodes: int
    edges: int
    groups: int


class FrameData(msgspec.Struct, frozen=True):
    """A frame of a film, with the nodes that it changed."""

    title: str
    detail: str
    added: tuple[int, ...]
    removed: tuple[int, ...]
    rewritten: tuple[int, ...]


class ShownData(msgspec.Struct, frozen=True, kw_only=True):
    """A graph, with the levels that are shown first, by group."""

    digest: str
    root: LevelData
    opened: dict[str, LevelData]
    size: SizeData
    overlays: tuple[OverlayData, ...]


class MorphData(ShownData, frozen=True, kw_only=True):
    """The second graph of a morph, and the labels of both."""

    labels: tuple[str, str]


class MetricsData(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Pixel sizes for the layout of boxes."""

    label_char: float
    small_char: float
    chip_char: float
    pad_x: float
    pad_y: float
    label: float
    detail: float
    row: float
    chips: float
    row_inset: float
    row_text: float
    chip_pad: float
    chip_gap: float
    fold_sign: float


class GraphData(ShownData, frozen=True, kw_only=True):
    """The graph view's main message, without PlaceData; `classes` are the labels of op classes."""

    classes: Mapping[str, str]
    metrics: MetricsData
    frames: tuple[FrameData, ...]
    morph: MorphData | None


class PlaceData(msgspec.Struct, frozen=True, kw_only=True):
    """The place of a graph view: its name within its channel, its height, and its initial state.

    A film starts with its last frame by default.
    """

    source: str
    height: int
    channel: str = "compileboard"
    step: str = ""
    overlay: str = ""
    frame: int | None = None


class CommandData(msgspec.Struct, frozen=True):
    """A selection that Python requests in a view, sent after `serial` choices of the user."""

    source: str
    id: str | None
    serial: int
    frame: int | None


class LevelsData(msgspec.Struct, frozen=True):
    """The response of the routes `levels` and `all`: levels by group."""

    levels: dict[str, LevelData]


class HitData(msgspec.Struct, frozen=True, rename={"node": "i"}):
    """A match of the search, with the groups around it and their names."""

    id: str
    label: str
    detail: str
    path: tuple[int, ...]
    where: str
    node: int


class HitsData(msgspec.Struct, frozen=True):
    """The response of the route `search`: the first matches, and the total number."""

    total: int
    hits: tuple[HitData, ...]


class FoundData(msgspec.Struct, frozen=True, rename={"node": "i"}):
    """The response of the route `find`: the groups around an item."""

    path: tuple[int, ...]
    node: int


class PartData(msgspec.Struct, frozen=True):
    """The response of the route `part`: a part of the graph."""

    level: LevelData
    title: str


class ProblemData(msgspec.Struct, frozen=True, omit_defaults=True):
    """An error response: the server has `lost` the graph, or a message."""

    lost: bool = False
    error: str = ""

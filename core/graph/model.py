"""Display graph: nodes in nested groups, edges, and overlays for painting them; made without garbage collection."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Literal, NamedTuple

GroupKind = Literal["module", "stack", "line", "direction"]
Frames = tuple[tuple[int, int], ...]
TOP = -1


@dataclass(frozen=True, slots=True)
class Row:
    """An op inside a node, such as one of those fused into a kernel; can be selected separately.

    `joins` has (frame, key): from that frame on the row belongs to the fused group `key`.
    """

    id: str
    label: str
    op_class: str
    links: tuple[str, ...] = ()
    detail: str = ""
    joins: tuple[tuple[int, str], ...] = ()


class Version(NamedTuple):
    """A version of a node that changes during the film, valid from `frame` on."""

    frame: int
    label: str
    detail: str
    tooltip: str


@dataclass(frozen=True, slots=True)
class Node:
    """A box with text. `group` is the index of its innermost group, `thin` marks views and no-ops.

    `kernel` is a kernel's id; `chips` are the parameters that it reads; `frames` are half-open intervals of the film's
    frames in which it exists, empty for always; `versions` are its versions if it changes.
    """

    id: str
    label: str
    detail: str
    op_class: str
    group: int
    kernel: str = ""
    links: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    chips: tuple[str, ...] = ()
    tooltip: str = ""
    thin: bool = False
    frames: Frames = ()
    versions: tuple[Version, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A value from one node to another, by index; `bytes` is 0 if its size is unknown."""

    source: int
    target: int
    label: str = ""
    bytes: int = 0
    frames: Frames = ()


class Fact(NamedTuple):
    """A fact of a group; `unit` is the number's format: "count", "share", "s", or "" for text."""

    name: str
    value: str | int | float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes `first` to `last` (excluded) with all nested groups; `parent` is -1 at the top, `count` counts ops."""

    id: str
    label: str
    detail: str
    kind: GroupKind
    parent: int
    first: int
    last: int
    count: int
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Overlay:
    """A value for each node: a number, or the index of a category.

    None if not recorded (`note` has the reason). A folded group is painted with the sum or maximum of its nodes'
    numbers, or with their most common category.
    """

    name: str
    title: str
    kind: Literal["category", "number"]
    unit: str
    values: tuple[int | float | None, ...]
    folded: Literal["sum", "largest", "commonest"]
    categories: tuple[str, ...] = ()
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class GraphModel:
    """A graph with parents before subgroups, and nodes depth first by group: every group is a range of nodes."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...] = ()
    overlays: tuple[Overlay, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """A box of a level, in pixels within its part: a node or a folded group; the other index is -1."""

    node: int
    group: int
    part: int
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class LevelEdge:
    """Edges between two items of a level, drawn together as one chain of cubic Béziers (x, y, x, y …).

    `ends` are a few of the `count` underlying edges as (source node, target node).
    """

    source: int
    target: int
    points: tuple[float, ...]
    label: str
    bytes: int
    count: int
    ends: tuple[tuple[int, int], ...]
    frames: Frames = ()


@dataclass(frozen=True, slots=True)
class Level:
    """Layout of the direct members of a group (-1: the top); `parts` are the sizes of its connected parts."""

    group: int
    parts: tuple[tuple[float, float], ...]
    items: tuple[Item, ...]
    edges: tuple[LevelEdge, ...]
    note: str = ""


_lock = Lock()
_pausing = 0


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause cyclic garbage collection, which would collect nothing and take half of the time.

    Threads may overlap.
    """
    global _pausing
    with _lock:
        enabled = gc.isenabled()
        _pausing += int(enabled or _pausing > 0)
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            if _pausing:
                _pausing -= 1
                if not _pausing:
                    gc.enable()

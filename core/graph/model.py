"""Display graph: nodes in nested groups, edges, overlays for painting them, and cached lookups.

Graphs are made without garbage collection. Lookups are computed once, and released with the graph.
"""

import gc
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from threading import Lock
from typing import Literal, NamedTuple
from weakref import ReferenceType, WeakKeyDictionary, ref

from core.report import SchedulerNode

GroupKind = Literal["module", "stack", "line", "direction", "launch", "library"]
# Hulls: a launch of a generated kernel, and a library call.
HULLS: tuple[GroupKind, ...] = ("launch", "library")
Frames = tuple[tuple[int, int], ...]
TOP = -1
Lifted = tuple[int, int, int]


class Version(NamedTuple):
    """A version of a node that changes during the film, valid from `frame` on."""

    frame: int
    label: str
    detail: str
    tooltip: str


@dataclass(frozen=True, slots=True)
class Node:
    """A box with text. `group` is the index of its innermost group, `thin` marks views and no-ops.

    `kernel` is the id of the node's kernel, and `chips` are the parameters that the node reads. `frames` are half-open
    intervals of the film's frames in which the node exists; empty means all frames. `versions` are the versions of a
    node that changes. `joins` has (frame, key) pairs: from that frame on, the node belongs to the group `key` of an
    eager call or of fused nodes; to none if `key` is empty.
    """

    id: str
    label: str
    detail: str
    op_class: str
    group: int
    kernel: str = ""
    links: tuple[str, ...] = ()
    chips: tuple[str, ...] = ()
    tooltip: str = ""
    thin: bool = False
    frames: Frames = ()
    versions: tuple[Version, ...] = ()
    joins: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A value from one node to another, by index; `bytes` is 0 if its size is unknown.

    `refused` is True if the scheduler refused to fuse the launches of the two nodes.
    """

    source: int
    target: int
    label: str = ""
    bytes: int = 0
    frames: Frames = ()
    refused: bool = False


class Fact(NamedTuple):
    """A fact of a group; `unit` is the format: "count", "share", "s", "text" (short), or ""."""

    name: str
    value: str | int | float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """A group of the nodes `first` to `last` (excluded), including the nodes of nested groups.

    `parent` is -1 at the top; `count` is the number of ops. `badge` is a short text before the label, such as a
    kernel's number, and `links` are the ids of what the group stands for, such as the kernel. `full` is the label with
    the module, empty if they are the same.
    """

    id: str
    label: str
    detail: str
    kind: GroupKind
    parent: int
    first: int
    last: int
    count: int
    facts: tuple[Fact, ...] = ()
    badge: str = ""
    links: tuple[str, ...] = ()
    full: str = ""

    @property
    def name(self) -> str:
        """The name outside of the group's module."""
        return self.full or self.label


def launch_title(label: str, badge: str) -> str:
    """Return the name of a launch, and the number of its kernel if it has one."""
    return f"{label} (kernel {badge})" if badge else label


@dataclass(frozen=True, slots=True)
class Largest:
    """The group that is the largest of a graph in one respect, or the pair of groups.

    `name` is the respect, `badge` the numbers of the groups, `text` their names, and `ids` their ids.
    """

    name: str
    badge: str
    text: str
    value: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FusionStep:
    """A frame of a fusion: its text, its number of units (calls, nodes, launches), and their bytes.

    Numbers are None where there is nothing to count. A missing frame was not recorded, and shows the ops.
    """

    title: str
    detail: str
    units: int | None = None
    unit: str = "node"
    moved: int | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel launch with its scheduler nodes before fusion.

    `members` are the names of the FX nodes that it computes, without views; a scheduler node without a known op is a
    member itself. `owner` maps each member to the first scheduler node that computes it. `fills` are members whose
    memory it only fills before another launch computes them, such as the zeros that an `index_put` adds to.
    """

    nodes: tuple[SchedulerNode, ...]
    members: tuple[str, ...]
    owner: Mapping[str, SchedulerNode]
    fills: frozenset[str] = frozenset()

    @property
    def kernel(self) -> str:
        """Id of the kernel; empty if no code was generated."""
        return self.nodes[0].kernel

    @property
    def id(self) -> str:
        """Id of the launch's hull in the drawing."""
        return f"g:{self.nodes[0].name}"

    def ops_of(self, node: SchedulerNode) -> list[str]:
        """Return the members that a scheduler node computes, in graph order."""
        own = [name for name in node.origins if name in self.owner]
        return own or [name for name, owner in self.owner.items() if owner is node]


@dataclass(slots=True)
class Fusions:
    """Replay of the scheduler's fusions: the current group of each node, and the groups that it joined."""

    order: dict[str, int]
    group_of: dict[str, list[str]]
    joins: dict[str, list[tuple[int, str]]]

    def merge(self, names: Sequence[str], frame: int) -> None:
        """Join the groups of these nodes."""
        parts = {id(group): group for name in names for group in (self.group_of[name],)}
        if len(parts) < 2:
            return
        merged = sorted((name for group in parts.values() for name in group), key=self.order.__getitem__)
        for name in merged:
            self.group_of[name] = merged
            if self.joins[name][-1][1] != merged[0]:
                self.joins[name].append((frame, merged[0]))

    def touch(self, names: Collection[str], frame: int) -> None:
        """Repeat the group of nodes that keep it in a frame, whose fusion has another loop of their op."""
        for name in names:
            if self.joins[name][-1][0] != frame:
                self.joins[name].append((frame, self.joins[name][-1][1]))


@dataclass(frozen=True, slots=True)
class Overlay:
    """A value for each node: a number, or the index of a category.

    None if not recorded (`note` has the reason). A folded group is painted with the sum or maximum of its nodes'
    numbers, or with their most common or greatest category. If `whole` is not empty, a node is painted with its value
    there, that of the kernel launch which it is a part of.
    """

    name: str
    title: str
    kind: Literal["category", "number"]
    unit: str
    values: tuple[int | float | None, ...]
    folded: Literal["sum", "largest", "commonest"]
    categories: tuple[str, ...] = ()
    note: str = ""
    whole: tuple[int | float | None, ...] = ()

    def shown(self, node: int) -> int | float | None:
        """Return the value that a node is painted with."""
        return (self.whole or self.values)[node]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class GraphModel:
    """A graph in which every group is a range of nodes.

    Parents come before their subgroups, and nodes are in depth-first order of the groups.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    groups: tuple[Group, ...] = ()
    overlays: tuple[Overlay, ...] = ()
    largest: tuple[Largest, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """A box of a level, for a node or a folded group; the other index is -1.

    Positions are in pixels within the connected part `part`.
    """

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

    `ends` are a few of the `count` underlying edges as (source node, target node); `refused` is True if any of them is.
    """

    source: int
    target: int
    points: tuple[float, ...]
    label: str
    bytes: int
    count: int
    ends: tuple[tuple[int, int], ...]
    frames: Frames = ()
    refused: bool = False


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
    """Pause cyclic garbage collection, which would free nothing, in all threads."""
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


class Index:
    """Lookups of one graph. A member is a node by its index, or a group by the complement of its index."""

    @collection_paused()
    def __init__(self, model: GraphModel) -> None:
        self.levels: dict[int, Level] = {}
        self.children = _children(model)
        self.edges = _level_edges(model)
        self._weak: ReferenceType[GraphModel] = ref(model)
        self._sums: dict[int, list[float]] = {}
        self._counts: dict[int, list[int]] = {}

    def _model(self) -> GraphModel:
        """Return the graph; a strong reference from the lookups would keep it alive forever."""
        model = self._weak()
        assert model is not None
        return model

    @cached_property
    def parents(self) -> list[int]:
        """Return the parent of each group."""
        return [group.parent for group in self._model().groups]

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the member of each id.

        Ids are those of nodes, groups, and linked objects (the first linked group, otherwise the first linked node).
        """
        model = self._model()
        members = {node.id: index for index, node in enumerate(model.nodes)}
        for number, group in enumerate(model.groups):
            for own in (group.id, *group.links):
                members.setdefault(own, ~number)
        for index, node in enumerate(model.nodes):
            for link in node.links:
                members.setdefault(link, index)
        return members

    @cached_property
    def texts(self) -> list[str]:
        """Return the searchable text of each node."""
        model = self._model()
        paths: list[str] = []
        for group in model.groups:
            paths.append(f"{paths[group.parent] if group.parent != TOP else ''} {group.label} {group.detail}")
        paths.append("")
        return [_search_text(node, paths[node.group]) for node in model.nodes]

    @cached_property
    def edges_by_end(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return the incoming and outgoing edges of each node."""
        model = self._model()
        reaching: list[list[int]] = [[] for _ in model.nodes]
        leaving: list[list[int]] = [[] for _ in model.nodes]
        for number, edge in enumerate(model.edges):
            reaching[edge.target].append(number)
            leaving[edge.source].append(number)
        return reaching, leaving

    @cached_property
    def neighbours(self) -> tuple[list[list[int]], list[list[int]]]:
        """Return the inputs and the readers of each node."""
        edges = self._model().edges
        reaching, leaving = self.edges_by_end
        return (
            [[edges[number].source for number in numbers] for numbers in reaching],
            [[edges[number].target for number in numbers] for numbers in leaving],
        )

    def painted(self, group: int) -> list[int | float | None]:
        """Return a folded group's value for each overlay."""
        return [self.value(number, group) for number in range(len(self._model().overlays))]

    def frames(self, group: int) -> Frames:
        """Return the frames in which any of a group's nodes exists."""
        model = self._model()
        folded = model.groups[group]
        return union(node.frames for node in model.nodes[folded.first : folded.last])

    def value(self, number: int, group: int) -> int | float | None:
        """Return a folded group's value for an overlay, by the overlay's number."""
        overlay, folded = self._model().overlays[number], self._model().groups[group]
        first, last = folded.first, folded.last
        if overlay.folded != "sum":
            values = [value for value in overlay.values[first:last] if value is not None]
            if not values:
                return None
            return max(values) if overlay.folded == "largest" else Counter(values).most_common(1)[0][0]
        if number not in self._sums:
            self._sums[number] = list(accumulate((value or 0 for value in overlay.values), initial=0))
            self._counts[number] = list(accumulate((value is not None for value in overlay.values), initial=0))
        counts, sums = self._counts[number], self._sums[number]
        return sums[last] - sums[first] if counts[last] > counts[first] else None


_indices: WeakKeyDictionary[GraphModel, Index] = WeakKeyDictionary()


def index_of(model: GraphModel) -> Index:
    """Return the lookup tables of a graph."""
    index = _indices.get(model)
    if index is None:
        index = _indices[model] = Index(model)
    return index


def union(frames: Iterable[Frames]) -> Frames:
    """Return the union of several lists of intervals; an empty list means all frames."""
    merged: list[tuple[int, int]] = []
    distinct = set(frames)
    if () in distinct:
        return ()
    for first, last in sorted({interval for intervals in distinct for interval in intervals}):
        if merged and first <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return tuple(merged)


def _search_text(node: Node, path: str) -> str:
    """Return a node's text in lower case, without the call, which has other nodes' names."""
    return f"{node.id} {node.label} {node.detail} {node.tooltip.partition(chr(10))[2]} {path}".lower()


def _children(model: GraphModel) -> list[list[int]]:
    """Return the members of each level, the top level last; nodes and groups in graph order."""
    children: list[list[int]] = [[] for _ in range(len(model.groups) + 1)]
    waiting = 0
    for index, node in enumerate(model.nodes):
        while waiting < len(model.groups) and model.groups[waiting].first == index:
            children[model.groups[waiting].parent].append(~waiting)
            waiting += 1
        children[node.group].append(index)
    return children


def _level_edges(model: GraphModel) -> list[list[Lifted]]:
    """Return the edges within each level (top last), as (member, member, edge); each edge is in one level."""
    edges: list[list[Lifted]] = [[] for _ in range(len(model.groups) + 1)]
    groups = model.groups
    group_of = [node.group for node in model.nodes]
    for number, edge in enumerate(model.edges):
        source, target = edge.source, edge.target
        at, to = group_of[source], group_of[target]
        if at == to:
            edges[at].append((source, target, number))
            continue
        source_member, target_member = source, target
        while at != TOP and not groups[at].first <= target < groups[at].last:
            source_member, at = ~at, groups[at].parent
        while to != at:
            target_member, to = ~to, groups[to].parent
        edges[at].append((source_member, target_member, number))
    return edges

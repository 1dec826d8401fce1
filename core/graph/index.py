"""Cached lookups of a graph, computed once and released with the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from weakref import ReferenceType, WeakKeyDictionary, ref

from core.graph.model import TOP, Frames, GraphModel, Level, Node, Overlay, collection_paused

Lifted = tuple[int, int, int]


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
        """Return the graph, which only the caller references.

        A reference in its lookups would keep it alive forever.
        """
        model = self._weak()
        assert model is not None
        return model

    @cached_property
    def parents(self) -> list[int]:
        """Return the parent of each group."""
        return [group.parent for group in self._model().groups]

    @cached_property
    def places(self) -> dict[str, int]:
        """Return the member of each id: nodes, groups, rows (their node), linked objects (the first linked node)."""
        model = self._model()
        members = {node.id: index for index, node in enumerate(model.nodes)}
        for number, group in enumerate(model.groups):
            members.setdefault(group.id, ~number)
        for index, node in enumerate(model.nodes):
            for row in node.rows:
                members.setdefault(row.id, index)
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
        return [self._value(number, overlay, group) for number, overlay in enumerate(self._model().overlays)]

    def frames(self, group: int) -> Frames:
        """Return the frames in which any of a group's nodes exists."""
        model = self._model()
        folded = model.groups[group]
        return union(node.frames for node in model.nodes[folded.first : folded.last])

    def _value(self, number: int, overlay: Overlay, group: int) -> int | float | None:
        folded = self._model().groups[group]
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
    """Return the lookups of a graph."""
    index = _indices.get(model)
    if index is None:
        index = _indices[model] = Index(model)
    return index


def union(frames: Iterable[Frames]) -> Frames:
    """Return intervals that cover all arguments; no interval means always, so the union with it is always."""
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
    """Return a node's text in lower case, without the tooltip's first line.

    That line is the call, which has other nodes' names.
    """
    rows = " ".join(f"{row.id} {row.label}" for row in node.rows)
    return f"{node.id} {node.label} {node.detail} {rows} {node.tooltip.partition(chr(10))[2]} {path}".lower()


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

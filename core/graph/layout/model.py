"""Input and output of a layout; removal of cycles, and ranks of a directed graph."""

from collections.abc import Sequence
from dataclasses import dataclass

Point = tuple[float, float]
Curve = tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle to be placed; its size is in pixels."""

    id: str
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Edge:
    """A directed connection between two boxes, by their ids."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class BoxPlace:
    """A box's top-left corner in pixels, y growing downwards."""

    id: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of boxes and edges, each in input order.

    An edge is a chain of cubic Béziers: a start point, then three points per piece (two controls and the end), from the
    border of its source to the border of its target. `engine` is "dot", "dot, limited" or "layered". `note` is empty,
    or a sentence for the screen on why a simpler engine was used.
    """

    boxes: tuple[BoxPlace, ...]
    edges: tuple[Curve, ...]
    width: float
    height: float
    engine: str
    note: str


Pair = tuple[int, int]
Neighbours = list[list[int]]


def neighbours(count: int, pairs: Sequence[Pair]) -> tuple[Neighbours, Neighbours]:
    """Return the predecessors and successors of each node."""
    before: Neighbours = [[] for _ in range(count)]
    after: Neighbours = [[] for _ in range(count)]
    for source, target in pairs:
        after[source].append(target)
        before[target].append(source)
    return before, after


def without_cycles(count: int, pairs: Sequence[Pair]) -> list[Pair]:
    """Return all pairs in order, each reversed if it closes a cycle in a depth-first walk."""
    _, after = neighbours(count, pairs)
    backward: set[Pair] = set()
    state = bytearray(count)
    for start in range(count):
        if not state[start]:
            _walk(start, after, state, backward)
    return [(target, source) if (source, target) in backward else (source, target) for source, target in pairs]


def _walk(start: int, after: Neighbours, state: bytearray, backward: set[Pair]) -> None:
    """Walk depth first without recursion; state: 0 new, 1 on the path, 2 done."""
    state[start] = 1
    path = [(start, iter(after[start]))]
    while path:
        node, rest = path[-1]
        for child in rest:
            if state[child] == 1:
                backward.add((node, child))
            elif not state[child]:
                state[child] = 1
                path.append((child, iter(after[child])))
                break
        else:
            state[node] = 2
            path.pop()


def ranks(count: int, pairs: Sequence[Pair]) -> list[int]:
    """Return longest-path ranks, with some nodes moved down to shorten edges.

    A node with more successors than predecessors is moved to the rank just above its first successor.
    """
    before, after = neighbours(count, pairs)
    order = _topological(before, after)
    rank = [0] * count
    for node in order:
        rank[node] = max((rank[parent] + 1 for parent in before[node]), default=0)
    for node in reversed(order):
        if len(after[node]) > len(before[node]):
            rank[node] = min(rank[child] for child in after[node]) - 1
    return _dense(rank)


def _topological(before: Neighbours, after: Neighbours) -> list[int]:
    waiting = [len(parents) for parents in before]
    order = [node for node, missing in enumerate(waiting) if not missing]
    for node in order:
        for child in after[node]:
            waiting[child] -= 1
            if not waiting[child]:
                order.append(child)
    return order


def _dense(rank: list[int]) -> list[int]:
    """Return the ranks in the same order without gaps."""
    new = {old: index for index, old in enumerate(sorted(set(rank)))}
    return [new[old] for old in rank]

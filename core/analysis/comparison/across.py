"""Nodes that are in another graph of the other run: graphs that were split, merged or moved.

A graph break moves the nodes after it to another compilation. So the nodes without a counterpart in the matched
compilation are matched over all graphs of a stage.
"""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass

from core.analysis.comparison.graphs import NAME
from core.report import Direction, FxNode, Stage

# A smaller part of both graphs' unmatched calls is a coincidence.
LEAST_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class UnmatchedNodes:
    """Nodes of a graph that the graph of the matched compilation lacks; `nodes` reads them.

    `at` is the position of the compilation's pair. `alone` is True if the compilation has no graph to match.
    """

    at: int
    graph: str
    stage: Stage
    direction: Direction
    alone: bool
    nodes: Callable[[], Sequence[FxNode]]


@dataclass(frozen=True, slots=True)
class MovedNodes:
    """Calls of a graph in another graph of the other run, and calls in no graph of that run.

    `right` is True for a graph of the right run.
    """

    at: int
    graph: str
    right: bool
    elsewhere: int
    rest: int


def moved_nodes(left: Sequence[UnmatchedNodes], right: Sequence[UnmatchedNodes]) -> tuple[MovedNodes, ...]:
    """Return each graph of either run with nodes in another graph of the other run."""
    stages = dict.fromkeys((graph.stage, graph.direction) for graph in left)
    return tuple(
        moved
        for stage in stages
        for moved in _moved(
            [graph for graph in left if (graph.stage, graph.direction) == stage],
            [graph for graph in right if (graph.stage, graph.direction) == stage],
        )
    )


def _moved(left: Sequence[UnmatchedNodes], right: Sequence[UnmatchedNodes]) -> Iterator[MovedNodes]:
    if not right or (all(a.alone for a in left) and all(b.alone for b in right)):
        return
    left_calls, right_calls = ([_calls(graph) for graph in side] for side in (left, right))
    links = _links(left, right, left_calls, right_calls)
    for side, calls, position in ((left, left_calls, 0), (right, right_calls, 1)):
        for index, graph in enumerate(side):
            elsewhere = sum(count for link, count in links.items() if link[position] == index)
            if elsewhere:
                yield MovedNodes(graph.at, graph.graph, bool(position), elsewhere, len(calls[index]) - elsewhere)


def _links(
    left: Sequence[UnmatchedNodes],
    right: Sequence[UnmatchedNodes],
    left_calls: Sequence[Sequence[Hashable]],
    right_calls: Sequence[Sequence[Hashable]],
) -> dict[tuple[int, int], int]:
    """Return (left graph, right graph) → number of equal calls, if they are a large part.

    Equal calls are matched in order.
    """
    waiting: dict[Hashable, deque[int]] = defaultdict(deque)
    for j, calls in enumerate(right_calls):
        for call in calls:
            waiting[call].append(j)
    links: Counter[tuple[int, int]] = Counter()
    for i, calls in enumerate(left_calls):
        for call in calls:
            if waiting[call]:
                links[i, waiting[call].popleft()] += 1
    return {
        (i, j): count
        for (i, j), count in links.items()
        if left[i].at != right[j].at and count >= LEAST_SHARE * min(len(left_calls[i]), len(right_calls[j]))
    }


def _calls(graph: UnmatchedNodes) -> list[Hashable]:
    """Return the calls of a graph by target, shape and constants, without the names of nodes."""
    return [_key(node) for node in graph.nodes() if node.op.startswith("call_")]


def _key(node: FxNode) -> Hashable:
    constants = NAME.sub(lambda match: "" if match.group() in node.inputs else match.group(), node.args)
    return node.op, node.target, (node.meta.dtype, node.meta.shape) if node.meta else None, constants

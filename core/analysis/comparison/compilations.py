"""Comparison of the compilations of two runs: graphs, guards and kernels."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace

from core.analysis.comparison.graphs import NAME, Change, graph_union
from core.analysis.comparison.kernels import Comparison, Side, compare_all, side_of
from core.analysis.comparison.matching import (
    GuardDifference,
    MatchedPair,
    RunSide,
    compilations,
    guard_difference,
    matched,
)
from core.report import Compilation, Direction, FxGraph, FxNode, Stage


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """A pair of graphs of two matched compilations.

    `left` and `right` are graph ids, empty if one compilation has no such graph. `changes` counts nodes per change. A
    node "to another graph" is in another graph of the right run, a node "from another graph" in one of the left run.
    """

    stage: Stage
    left: str
    right: str
    changes: dict[Change, int]

    @property
    def same(self) -> bool:
        """True if no node differs."""
        return not {change for change, count in self.changes.items() if count} - {"same"}

    @property
    def moved(self) -> int:
        """Number of nodes that are in another graph of the other run."""
        return self.changes.get("to another graph", 0) + self.changes.get("from another graph", 0)


@dataclass(frozen=True, slots=True)
class CompilationComparison:
    """A pair of matched compilations by id.

    If a run has no counterpart, its id is empty, and only graphs with nodes of other graphs are compared.
    """

    left: str
    right: str
    name: str
    guards: GuardDifference | None = None
    graphs: tuple[GraphDifference, ...] = ()
    kernels: Comparison | None = None


@dataclass(frozen=True, slots=True)
class _GraphPair:
    """A graph difference, and the unmatched nodes of both graphs; None for a side without any."""

    difference: GraphDifference
    left: UnmatchedNodes | None
    right: UnmatchedNodes | None


def compare_compilations(left: RunSide, right: RunSide) -> tuple[CompilationComparison, ...]:
    """Compare the matched compilations of two runs.

    Nodes and kernels without a counterpart are matched over all compilations.
    """
    pairs = compilations(left.report, right.report)
    graphs = [tuple(_graph_pairs(left, right, at, pair)) for at, pair in enumerate(pairs)]
    moved: dict[int, list[MovedNodes]] = defaultdict(list)
    every = [graph for of_pair in graphs for graph in of_pair]
    for graph in moved_nodes([g.left for g in every if g.left], [g.right for g in every if g.right]):
        moved[graph.at].append(graph)
    kernels = _kernel_comparisons(left, right, pairs)
    return tuple(
        _compilation_comparison(pair, tuple(_differences(graphs[at], moved[at], pair)), kernels[at])
        for at, pair in enumerate(pairs)
    )


def kernel_comparison(left: RunSide, left_id: str, right: RunSide, right_id: str) -> Comparison | None:
    """Return the comparison of the kernels of two matched compilations; None if they do not match."""
    pairs = compilations(left.report, right.report)
    ids = [(pair.left.id if pair.left else "", pair.right.id if pair.right else "") for pair in pairs]
    compared = _kernel_comparisons(left, right, pairs)
    return next((found for names, found in zip(ids, compared, strict=True) if names == (left_id, right_id)), None)


def graph_pairs(left: Compilation, right: Compilation) -> tuple[MatchedPair[FxGraph], ...]:
    """Return the graphs of two compilations' last attempts, matched by stage and direction."""
    return matched(left.last_graphs, right.last_graphs, lambda graph: (graph.stage, graph.direction))


def _kernel_comparisons(
    left: RunSide, right: RunSide, pairs: Sequence[MatchedPair[Compilation]]
) -> tuple[Comparison | None, ...]:
    sides = [(_kernel_side(left, pair.left, pair), _kernel_side(right, pair.right, pair)) for pair in pairs]
    return compare_all(sides)


def _kernel_side(run: RunSide, compilation: Compilation | None, pair: MatchedPair[Compilation]) -> Side | None:
    """Return a side of the kernels' comparison; None if neither compilation has a kernel."""
    present = [each for each in (pair.left, pair.right) if each is not None and each.kernels]
    return side_of(run.report, compilation, run.text) if compilation is not None and present else None


def _compilation_comparison(
    pair: MatchedPair[Compilation], graphs: tuple[GraphDifference, ...], kernels: Comparison | None
) -> CompilationComparison:
    left, right = pair.left, pair.right
    either = left or right
    return CompilationComparison(
        left.id if left else "",
        right.id if right else "",
        either.frame.name if either else "",
        guard_difference(left.guards, right.guards) if left and right else None,
        graphs,
        kernels,
    )


def _graph_pairs(left: RunSide, right: RunSide, at: int, pair: MatchedPair[Compilation]) -> Iterator[_GraphPair]:
    if pair.left is not None and pair.right is not None:
        matches: Sequence[MatchedPair[FxGraph]] = graph_pairs(pair.left, pair.right)
    else:
        lone = (*(pair.left.last_graphs if pair.left else ()), *(pair.right.last_graphs if pair.right else ()))
        matches = [MatchedPair(graph, None) if pair.left else MatchedPair(None, graph) for graph in lone]
    for match in matches:
        yield _graph_pair(
            _reader(left, pair.left, match.left), _reader(right, pair.right, match.right), at, match, (left, right)
        )


def _reader(run: RunSide, compilation: Compilation | None, graph: FxGraph | None) -> Callable[[], Sequence[FxNode]]:
    return lambda: run.nodes(compilation, graph) if compilation is not None and graph is not None else ()


def _graph_pair(
    left_nodes: Callable[[], Sequence[FxNode]],
    right_nodes: Callable[[], Sequence[FxNode]],
    at: int,
    match: MatchedPair[FxGraph],
    runs: tuple[RunSide, RunSide],
) -> _GraphPair:
    """Compare two graphs; skips the alignment if the texts are equal or a run has no such graph."""
    left, right = match.left, match.right
    if left is None or right is None:
        either = left or right
        assert either is not None
        changes: dict[Change, int] = {"only left" if left else "only right": _node_count(either)}
        difference = GraphDifference(either.stage, left.id if left else "", right.id if right else "", changes)
        alone = UnmatchedNodes(at, either.id, either.stage, either.direction, True, left_nodes if left else right_nodes)
        return _GraphPair(difference, alone if left else None, None if left else alone)
    if _without_comments(runs[0].text(left.payload)) == _without_comments(runs[1].text(right.payload)):
        return _GraphPair(GraphDifference(left.stage, left.id, right.id, {"same": _node_count(left)}), None, None)
    union = graph_union(left_nodes(), right_nodes())
    only_left = [node.left for node in union.nodes if node.change == "only left" and node.left is not None]
    only_right = [node.right for node in union.nodes if node.change == "only right" and node.right is not None]
    return _GraphPair(
        GraphDifference(left.stage, left.id, right.id, union.changes()),
        UnmatchedNodes(at, left.id, left.stage, left.direction, False, lambda: only_left),
        UnmatchedNodes(at, right.id, right.stage, right.direction, False, lambda: only_right),
    )


def _differences(
    graphs: Sequence[_GraphPair], moved: Sequence[MovedNodes], pair: MatchedPair[Compilation]
) -> Iterator[GraphDifference]:
    """Yield the graph differences with the moved nodes as such.

    Of compilations without a match, only graphs with moved nodes. An input of a moved node is no change.
    """
    parts = {(graph.right, graph.graph): graph for graph in moved}
    for graph in graphs:
        difference, changes = graph.difference, dict(graph.difference.changes)
        for right, name in ((False, difference.left), (True, difference.right)):
            part = parts.get((right, name))
            if part is not None:
                changes["only right" if right else "only left"] = part.rest
                changes["from another graph" if right else "to another graph"] = part.elsewhere
        if pair.both or changes != graph.difference.changes:
            yield replace(difference, changes={change: count for change, count in changes.items() if count})


def _node_count(graph: FxGraph) -> int:
    return sum(count for op, count in graph.ops.items() if op != "output")


def _without_comments(text: str) -> list[str]:
    """Return the lines of a graph without comments, since comments contain file names of the run."""
    return [line for line in text.splitlines() if not line.lstrip().startswith("#")]


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
    """Return (left graph, right graph) → number of calls equal in order, if they are a large part."""
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

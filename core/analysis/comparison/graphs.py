"""Union of two graphs: every node of either graph once, with its change from left to right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.analysis.comparison.alignment import aligned, moved, renamed
from core.report import FxNode

Change = Literal["same", "changed", "moved", "only left", "only right"]
Frames = tuple[tuple[int, int], ...]
# Frames of the union as a film: left graph, both graphs, right graph.
LEFT, BOTH, RIGHT = range(3)
FRAMES: dict[tuple[bool, bool], Frames] = {
    (True, True): ((LEFT, RIGHT + 1),),
    (True, False): ((LEFT, RIGHT),),
    (False, True): ((BOTH, RIGHT + 1),),
}


@dataclass(frozen=True, slots=True)
class UnionNode:
    """A node of either graph under a name unique in the union: the left graph's name if it has the node.

    `inputs` are the nodes that it reads in either graph, by their names in the union.
    """

    name: str
    change: Change
    left: FxNode | None
    right: FxNode | None
    inputs: tuple[str, ...] = ()

    @property
    def frames(self) -> Frames:
        """Graphs that have the node: the left, the right, or both."""
        return FRAMES[self.left is not None, self.right is not None]


@dataclass(frozen=True, slots=True)
class GraphUnion:
    """Union of two graphs, in the order of the right graph; nodes of the left graph only follow their predecessor.

    An edge has the frames in which `target` reads `source`, both by their names in the union.
    """

    nodes: tuple[UnionNode, ...]
    edges: tuple[tuple[str, str, Frames], ...]

    def changes(self) -> dict[Change, int]:
        """Return the number of nodes per kind of change, without the output node."""
        return dict(Counter(node.change for node in self.nodes if _is_counted(node)))


def graph_union(left: Sequence[FxNode], right: Sequence[FxNode]) -> GraphUnion:
    """Return the union of two graphs."""
    matches = aligned(left, right)
    moves = moved(left, right, matches)
    partner = {**matches, **moves}
    names = _right_names(left, right, partner)
    left_nodes, right_nodes = (
        {left_node.name: left_node for left_node in left},
        {left_node.name: left_node for left_node in right},
    )
    left_names = {right_name: left_name for left_name, right_name in partner.items()}
    right_names = {left_node.name: partner.get(left_node.name, f"{left_node.name}.left") for left_node in left}
    nodes = []
    for name, in_left in _merged_names(left, right, left_names):
        left_node, right_node = (
            (left_nodes.get(name), right_nodes.get(partner.get(name, ""))) if in_left else (None, right_nodes[name])
        )
        change = _change(left_node, right_node, right_names, in_left and name in moves)
        reads = (
            *(left_node.inputs if left_node else ()),
            *(names.get(source, source) for source in (right_node.inputs if right_node else ())),
        )
        nodes.append(
            UnionNode(name if in_left else names[name], change, left_node, right_node, tuple(dict.fromkeys(reads)))
        )
    return GraphUnion(tuple(nodes), tuple(_edges(left, right, names)))


def _is_counted(node: UnionNode) -> bool:
    either = node.left or node.right
    return either is not None and either.op != "output"


def _right_names(left: Sequence[FxNode], right: Sequence[FxNode], partner: Mapping[str, str]) -> dict[str, str]:
    """Return the union's name for each node of the right graph."""
    left_names = {node.name for node in left}
    names = {right_name: left_name for left_name, right_name in partner.items()}
    for node in right:
        if node.name not in names:
            names[node.name] = f"{node.name}.right" if node.name in left_names else node.name
    return names


def _merged_names(
    left: Sequence[FxNode], right: Sequence[FxNode], left_names: Mapping[str, str]
) -> Iterator[tuple[str, bool]]:
    """Yield the names of left nodes (True), and of nodes that only the right graph has (False)."""
    behind: dict[str, list[str]] = {}
    anchor = ""
    matched = set(left_names.values())
    for node in left:
        if node.name in matched:
            anchor = node.name
        else:
            behind.setdefault(anchor, []).append(node.name)
    yield from ((name, True) for name in behind.get("", ()))
    for node in right:
        left_name = left_names.get(node.name)
        yield (left_name, True) if left_name else (node.name, False)
        yield from ((name, True) for name in behind.get(left_name or "-", ()))


def _change(left: FxNode | None, right: FxNode | None, right_names: Mapping[str, str], is_moved: bool) -> Change:
    """Return the change of a node; `right_names` maps left node names to right node names."""
    if left is None or right is None:
        return "only right" if left is None else "only left"
    if is_moved:
        return "moved"
    if left.op == "output":
        return "same"
    call = left.op != "placeholder" and (left.target, renamed(left.args, right_names)) != (right.target, right.args)
    return "changed" if call or left.meta != right.meta else "same"


def _edges(
    left: Sequence[FxNode], right: Sequence[FxNode], names: Mapping[str, str]
) -> Iterator[tuple[str, str, Frames]]:
    left_edges = {(source, node.name) for node in left for source in node.inputs}
    right_edges = {(names.get(source, source), names[node.name]) for node in right for source in node.inputs}
    for edge in dict.fromkeys((*sorted(left_edges), *sorted(right_edges))):
        yield *edge, FRAMES[edge in left_edges, edge in right_edges]

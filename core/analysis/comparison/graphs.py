"""Alignment of two graphs, and their union: each node once, with its change from left to right.

The alignment keeps the order of both graphs and matches as many nodes as possible: first by op, shape and module, then
in the gaps by op alone. Remaining nodes that compute the same from the same inputs are matched as moved nodes.

Myers' greedy algorithm finds the longest common subsequence: "An O(ND) Difference Algorithm and Its Variations"
(Algorithmica, 1986).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from core.report import FxNode

Change = Literal["same", "changed", "moved", "only left", "only right", "to another graph", "from another graph"]
Frames = tuple[tuple[int, int], ...]
# Frames of the union as a film: left graph, both graphs, right graph.
LEFT, BOTH, RIGHT = range(3)
FRAMES: dict[tuple[bool, bool], Frames] = {
    (True, True): ((LEFT, RIGHT + 1),),
    (True, False): ((LEFT, RIGHT),),
    (False, True): ((BOTH, RIGHT + 1),),
}
Key = Callable[[FxNode], Hashable]
# Longest part that is aligned by its calls if many nodes differ; a longer part is matched by node names.
MOST_ALIGNED = 1_000  #: limit: nodes that are aligned in two very different graphs
# Names by which AOTAutograd numbers inputs: an added input renames all inputs after it.
NUMBERED = re.compile(r"^(primals|arg|tangents|fwd_rng_state|bwd_rng_state)_?\d+(_\d+)?$")
NAME = re.compile(r"[A-Za-z_]\w*")
# Maximum number of unmatched elements; the time grows with its square.
MOST_STEPS = 600  #: limit: nodes in one of two compared graphs only


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
    """Union of two graphs in the order of the right graph.

    A node that only the left graph has follows its predecessor. An edge is `source`, `target`, and the graphs in
    which `target` reads `source`, with the union's names.
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
    """Yield the node names in the union's order: left names with True, right-only names with False."""
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


def aligned(left: Sequence[FxNode], right: Sequence[FxNode]) -> dict[str, str]:
    """Return left name → right name of nodes that match in both orders, inputs by their readers."""
    left_nodes, right_nodes = ([node for node in side if not _numbered(node)] for side in (left, right))
    matches = _matches_in_order(left_nodes, right_nodes)
    inputs = [{node.name: node for node in side if _numbered(node)} for side in (left, right)]
    matches |= _matching_inputs(left_nodes, {node.name: node for node in right_nodes}, inputs, matches)
    matched_right = set(matches.values())
    rest = [
        [node for node in inputs[0].values() if node.name not in matches],
        [node for node in inputs[1].values() if node.name not in matched_right],
    ]
    return matches | _matches_in_order(*rest)


def _numbered(node: FxNode) -> bool:
    return node.op == "placeholder" and NUMBERED.match(node.name) is not None


def _matching_inputs(
    left: Sequence[FxNode],
    right: Mapping[str, FxNode],
    inputs: Sequence[Mapping[str, FxNode]],
    matches: Mapping[str, str],
) -> dict[str, str]:
    """Return the matches of numbered inputs, left name → right name.

    Two inputs match if matched nodes read them at the same argument position, and if their `exact` keys are
    equal.
    """
    input_matches: dict[str, str] = {}
    matched_right: set[str] = set()
    for node in left:
        right_node = right.get(matches.get(node.name, ""))
        if right_node is None or len(node.inputs) != len(right_node.inputs):
            continue
        for left_name, right_name in zip(node.inputs, right_node.inputs, strict=True):
            left_input, right_input = inputs[0].get(left_name), inputs[1].get(right_name)
            if (
                left_input
                and right_input
                and left_name not in input_matches
                and right_name not in matched_right
                and exact(left_input) == exact(right_input)
            ):
                input_matches[left_name] = right_name
                matched_right.add(right_name)
    return input_matches


def _matches_in_order(left: Sequence[FxNode], right: Sequence[FxNode]) -> dict[str, str]:
    """Match nodes that are exactly equal, then nodes in the gaps between them that call the same target."""
    pairs = _matching_pairs(left, right, (0, len(left), 0, len(right)), exact)
    for gap in _gaps(pairs, len(left), len(right)):
        pairs = pairs + _matching_pairs(left, right, gap, loose)
    return {left[i].name: right[j].name for i, j in pairs}


def moved(left: Sequence[FxNode], right: Sequence[FxNode], matches: Mapping[str, str]) -> dict[str, str]:
    """Match the remaining nodes that compute the same from the same inputs at another position."""
    matched_right = set(matches.values())
    waiting: dict[Hashable, list[str]] = defaultdict(list)
    for node in right:
        if node.name not in matched_right and node.op.startswith("call_"):
            waiting[exact(node), node.inputs].append(node.name)
    moves: dict[str, str] = {}
    for node in left:
        if node.name not in matches and node.op.startswith("call_"):
            inputs = tuple(matches.get(name) or moves.get(name, "") for name in node.inputs)
            if waiting[exact(node), inputs]:
                moves[node.name] = waiting[exact(node), inputs].pop(0)
    return moves


def renamed(args: str, names: Mapping[str, str]) -> str:
    """Return the text of a call's arguments with renamed nodes."""
    return NAME.sub(lambda match: names.get(match.group(), match.group()), args)


def exact(node: FxNode) -> Hashable:
    """Return the key of a node independent of its position: op, shape, dtype, and module if recorded."""
    meta = (node.meta.dtype, node.meta.shape) if node.meta else None
    return (*_call_key(node), meta, node.module)


def loose(node: FxNode) -> Hashable:
    """Return the key of a node without shape and dtype."""
    return _call_key(node)


def _call_key(node: FxNode) -> tuple[str, str]:
    if node.op in ("placeholder", "get_attr"):
        return node.op, "" if _numbered(node) else node.name
    return node.op, "" if node.op == "output" else node.target


Part = tuple[int, int, int, int]
Pairs = list[tuple[int, int]]


def _matching_pairs(left: Sequence[FxNode], right: Sequence[FxNode], part: Part, key: Key) -> Pairs:
    """Return the matched index pairs of a part of both graphs, in order.

    Parts that differ a lot match by long common runs, or by node name if they are large.
    """
    low, high, right_low, right_high = part
    left_keys, right_keys = [key(node) for node in left[low:high]], [key(node) for node in right[right_low:right_high]]
    pairs = common(left_keys, right_keys)
    if pairs is None and max(len(left_keys), len(right_keys)) > MOST_ALIGNED:
        return [*_by_name(left, right, part, key)]
    if pairs is None:
        blocks = SequenceMatcher(None, left_keys, right_keys, autojunk=False).get_matching_blocks()
        pairs = [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]
    return [(low + i, right_low + j) for i, j in pairs]


def _gaps(pairs: Pairs, left_most: int, right_most: int) -> Iterator[Part]:
    """Yield each gap between matched pairs that has nodes of both graphs."""
    i = j = 0
    for at, to in [*pairs, (left_most, right_most)]:
        if at > i and to > j:
            yield i, at, j, to
        i, j = at + 1, to + 1


def _by_name(left: Sequence[FxNode], right: Sequence[FxNode], part: Part, key: Key) -> Iterator[tuple[int, int]]:
    """Yield index pairs of nodes with equal names and keys, in torch's order of names within an op."""
    low, high, right_low, right_high = part
    places = {node.name: right_low + index for index, node in enumerate(right[right_low:right_high])}
    last = -1
    for index, node in enumerate(left[low:high], low):
        place = places.get(node.name, -1)
        if place > last and key(node) == key(right[place]):
            yield index, place
            last = place


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]] | None:
    """Return the index pairs of a longest common subsequence; None if the sequences differ too much."""
    numbers: dict[Hashable, int] = {}
    left_numbers, right_numbers = (
        [numbers.setdefault(element, len(numbers)) for element in side] for side in (left, right)
    )
    if abs(len(left_numbers) - len(right_numbers)) > MOST_STEPS:
        return None
    reached = {1: 0}
    trace: list[dict[int, int]] = []
    for steps in range(min(MOST_STEPS, len(left_numbers) + len(right_numbers)) + 1):
        trace.append(dict(reached))
        for diagonal in range(-steps, steps + 1, 2):
            x = _start(reached, diagonal, steps)
            y = x - diagonal
            while x < len(left_numbers) and y < len(right_numbers) and left_numbers[x] == right_numbers[y]:
                x, y = x + 1, y + 1
            reached[diagonal] = x
            if x >= len(left_numbers) and y >= len(right_numbers):
                return _back(trace, len(left_numbers), len(right_numbers))
    return None


def _down(reached: dict[int, int], diagonal: int, steps: int) -> bool:
    """Return True if the step onto a diagonal takes an element of the right sequence, from above."""
    return diagonal == -steps or (diagonal != steps and reached[diagonal - 1] < reached[diagonal + 1])


def _start(reached: dict[int, int], diagonal: int, steps: int) -> int:
    """Return the position in the left sequence after one more step on a diagonal."""
    return reached[diagonal + 1] if _down(reached, diagonal, steps) else reached[diagonal - 1] + 1


def _back(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """Return the matched index pairs on the path taken."""
    pairs: list[tuple[int, int]] = []
    for steps in range(len(trace) - 1, -1, -1):
        reached, diagonal = trace[steps], x - y
        start = _start(reached, diagonal, steps)
        while x > start:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if steps:
            x, y = (x, y - 1) if _down(reached, diagonal, steps) else (x - 1, y)
    return pairs[::-1]

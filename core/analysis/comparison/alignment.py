"""Alignment of two graphs: matches nodes by what they compute, in the order of both graphs.

The alignment matches as many nodes as possible, first by op, shape and module, then in the gaps by op alone. Nodes left
over that compute the same from the same inputs are matched as moved nodes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from core.analysis.comparison.shortest import common
from core.report import FxNode

Key = Callable[[FxNode], Hashable]
# Longest part that is aligned by its calls if much differs; a longer one is matched by node names.
MOST_ALIGNED = 1_000
# Names by which AOTAutograd numbers inputs: an added input renames all inputs after it.
NUMBERED = re.compile(r"^(primals|arg|tangents|fwd_rng_state|bwd_rng_state)_?\d+(_\d+)?$")
NAME = re.compile(r"[A-Za-z_]\w*")


def aligned(left: Sequence[FxNode], right: Sequence[FxNode]) -> dict[str, str]:
    """Return the right graph's node name for each left node that has the same position in both.

    Numbered inputs are matched by the nodes that read them.
    """
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
    """Return the matches of inputs that matched nodes read at the same argument position, if they look similar."""
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
    """Yield each gap between two pairs."""
    i = j = 0
    for at, to in [*pairs, (left_most, right_most)]:
        if at > i and to > j:
            yield i, at, j, to
        i, j = at + 1, to + 1


def _by_name(left: Sequence[FxNode], right: Sequence[FxNode], part: Part, key: Key) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal names; within one op, torch numbers names in graph order."""
    low, high, right_low, right_high = part
    places = {node.name: right_low + index for index, node in enumerate(right[right_low:right_high])}
    last = -1
    for index, node in enumerate(left[low:high], low):
        place = places.get(node.name, -1)
        if place > last and key(node) == key(right[place]):
            yield index, place
            last = place

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
# Where much differs; beyond it names alone tell.
MOST_ALIGNED = 1_000
# How AOTAutograd numbers its inputs: another input before one gives it another name.
NUMBERED = re.compile(r"^(primals|arg|tangents|fwd_rng_state|bwd_rng_state)_?\d+(_\d+)?$")
NAME = re.compile(r"[A-Za-z_]\w*")


def aligned(left: Sequence[FxNode], right: Sequence[FxNode]) -> dict[str, str]:
    """Return the right graph's node name for each left node that has the same position in both.

    Numbered inputs are matched by the nodes that read them.
    """
    one, other = ([node for node in side if not _numbered(node)] for side in (left, right))
    found = _in_order(one, other)
    inputs = [{node.name: node for node in side if _numbered(node)} for side in (left, right)]
    found |= _read_alike(one, {node.name: node for node in other}, inputs, found)
    taken = set(found.values())
    rest = [
        [node for node in inputs[0].values() if node.name not in found],
        [node for node in inputs[1].values() if node.name not in taken],
    ]
    return found | _in_order(*rest)


def _numbered(node: FxNode) -> bool:
    return node.op == "placeholder" and NUMBERED.match(node.name) is not None


def _read_alike(
    left: Sequence[FxNode],
    right: Mapping[str, FxNode],
    inputs: Sequence[Mapping[str, FxNode]],
    known: Mapping[str, str],
) -> dict[str, str]:
    """Return the matches of inputs that matched nodes read at the same argument position, if they look similar."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for node in left:
        other = right.get(known.get(node.name, ""))
        if other is None or len(node.inputs) != len(other.inputs):
            continue
        for here, there in zip(node.inputs, other.inputs, strict=True):
            mine, others = inputs[0].get(here), inputs[1].get(there)
            if mine and others and here not in found and there not in taken and exact(mine) == exact(others):
                found[here] = there
                taken.add(there)
    return found


def _in_order(left: Sequence[FxNode], right: Sequence[FxNode]) -> dict[str, str]:
    """Match nodes that are exactly equal, then nodes in the gaps between them that call the same target."""
    pairs = _alike(left, right, (0, len(left), 0, len(right)), exact)
    for gap in _gaps(pairs, len(left), len(right)):
        pairs = pairs + _alike(left, right, gap, loose)
    return {left[i].name: right[j].name for i, j in pairs}


def moved(left: Sequence[FxNode], right: Sequence[FxNode], known: Mapping[str, str]) -> dict[str, str]:
    """Match the remaining nodes that compute the same from the same inputs at another position."""
    taken = set(known.values())
    waiting: dict[Hashable, list[str]] = defaultdict(list)
    for node in right:
        if node.name not in taken and node.op.startswith("call_"):
            waiting[exact(node), node.inputs].append(node.name)
    found: dict[str, str] = {}
    for node in left:
        if node.name not in known and node.op.startswith("call_"):
            inputs = tuple(known.get(name) or found.get(name, "") for name in node.inputs)
            if waiting[exact(node), inputs]:
                found[node.name] = waiting[exact(node), inputs].pop(0)
    return found


def renamed(args: str, names: Mapping[str, str]) -> str:
    """Return the text of a call's arguments with renamed nodes."""
    return NAME.sub(lambda match: names.get(match.group(), match.group()), args)


def exact(node: FxNode) -> Hashable:
    """Return the key of a node independent of its position: op, shape, dtype, and module if recorded."""
    meta = (node.meta.dtype, node.meta.shape) if node.meta else None
    return (*_called(node), meta, node.module)


def loose(node: FxNode) -> Hashable:
    """Return the key of a node without shape and dtype."""
    return _called(node)


def _called(node: FxNode) -> tuple[str, str]:
    if node.op in ("placeholder", "get_attr"):
        return node.op, "" if _numbered(node) else node.name
    return node.op, "" if node.op == "output" else node.target


Part = tuple[int, int, int, int]
Pairs = list[tuple[int, int]]


def _alike(left: Sequence[FxNode], right: Sequence[FxNode], part: Part, key: Key) -> Pairs:
    """Return the matched index pairs of a part of both graphs, in order.

    Parts that differ a lot match by long common runs, or by node name if they are large.
    """
    low, high, other_low, other_high = part
    one, other = [key(node) for node in left[low:high]], [key(node) for node in right[other_low:other_high]]
    found = common(one, other)
    if found is None and max(len(one), len(other)) > MOST_ALIGNED:
        return [*_by_name(left, right, part, key)]
    if found is None:
        blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
        found = [(block.a + step, block.b + step) for block in blocks for step in range(block.size)]
    return [(low + i, other_low + j) for i, j in found]


def _gaps(pairs: Pairs, most: int, other_most: int) -> Iterator[Part]:
    """Yield each gap between two pairs."""
    i = j = 0
    for at, to in [*pairs, (most, other_most)]:
        if at > i and to > j:
            yield i, at, j, to
        i, j = at + 1, to + 1


def _by_name(left: Sequence[FxNode], right: Sequence[FxNode], part: Part, key: Key) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal names; within one op, torch numbers names in graph order."""
    low, high, other_low, other_high = part
    places = {node.name: other_low + index for index, node in enumerate(right[other_low:other_high])}
    last = -1
    for index, node in enumerate(left[low:high], low):
        place = places.get(node.name, -1)
        if place > last and key(node) == key(right[place]):
            yield index, place
            last = place

"""X coordinates: every layer as close to its neighbours as its order allows, with straight edges if possible.

A layer is placed by isotonic regression in the L1 norm (pool adjacent violators on weighted medians): boxes that would
overlap join a block, and a block is placed at the weighted median of its boxes' preferred positions. A median, unlike a
mean, is exactly the preferred position of a majority, so chains become straight lines.
"""

from bisect import insort
from collections.abc import Sequence
from itertools import pairwise

from core.graph.layout.ranks import Neighbours

Wish = tuple[float, float]
GAP = 22.0
LANE_GAP = 10.0
PASSES = 5


class Block:
    """Touching boxes that move together.

    `wishes` are preferred positions for offset zero, in order of position.
    """

    __slots__ = ("at", "first", "middle", "wishes")

    def __init__(self, first: int, offset: float, wishes: list[Wish]) -> None:
        self.first = first
        self.middle = offset
        self.wishes = wishes
        self.at = weighted_median(wishes, -offset)

    def absorb(self, right: "Block") -> None:
        """Merge the block to the right."""
        if len(right.wishes) < 4:
            for wish in right.wishes:
                insort(self.wishes, wish)
        else:
            self.wishes = sorted(self.wishes + right.wishes)
        self.middle = (self.middle + right.middle) / 2
        self.at = weighted_median(self.wishes, -self.middle)


def weighted_median(wishes: Sequence[Wish], centre: float) -> float:
    """Return the weighted median of (position, weight) pairs.

    Of two equally good ones, the one nearer to the centre. Always taking the left one would move every split and join
    to the left, layer by layer.
    """
    half = sum(weight for _, weight in wishes) / 2
    total = 0.0
    for index, (place, weight) in enumerate(wishes):
        total += weight
        if total > half:
            return place
        if total == half:
            return min(place, wishes[index + 1][0], key=lambda end: abs(end - centre))
    return wishes[-1][0]


def centres(
    layers: list[list[int]], widths: list[float], real: int, before: Neighbours, after: Neighbours
) -> list[float]:
    """Return the x of each node's centre; nodes from index `real` on are bends of long edges."""
    x = [0.0] * len(widths)
    for layer in layers:
        offsets = _offsets(layer, widths, real)
        for node, offset in zip(layer, offsets, strict=True):
            x[node] = offset - offsets[-1] / 2
    for number in range(PASSES):
        downwards = number % 2 == 0
        last = number == PASSES - 1
        for layer in layers if downwards else reversed(layers):
            layer_wishes = [_wishes(node, before if downwards else after, x, real) for node in layer]
            if last:
                for node, wishes in zip(layer, layer_wishes, strict=True):
                    wishes.extend(_wishes(node, after, x, real))
                    wishes.sort()
            _place(layer, layer_wishes, _offsets(layer, widths, real), x)
    return x


def _offsets(layer: list[int], widths: list[float], real: int) -> list[float]:
    """Return the distances from the first centre to each centre at minimum spacing."""
    offsets = [0.0]
    for left, right in pairwise(layer):
        gap = GAP if left < real and right < real else LANE_GAP
        offsets.append(offsets[-1] + (widths[left] + widths[right]) / 2 + gap)
    return offsets


def _wishes(node: int, fixed: Neighbours, x: list[float], real: int) -> list[Wish]:
    """Return the preferred positions of a node.

    A bend gives a straight line more weight than a box does, as in dot.
    """
    wishes = [
        (x[neighbour], (4.0 if node >= real else 1.0) * (2.0 if neighbour >= real else 1.0))
        for neighbour in fixed[node]
    ]
    wishes.sort()
    return wishes or [(x[node], 0.01)]


def _place(layer: list[int], layer_wishes: list[list[Wish]], offsets: list[float], x: list[float]) -> None:
    blocks: list[Block] = []
    for index, wishes in enumerate(layer_wishes):
        offset = offsets[index]
        block = Block(index, offset, [(place - offset, weight) for place, weight in wishes])
        while blocks and blocks[-1].at > block.at:
            left = blocks.pop()
            left.absorb(block)
            block = left
        blocks.append(block)
    ends = [block.first for block in blocks[1:]] + [len(layer)]
    for block, end in zip(blocks, ends, strict=True):
        for index in range(block.first, end):
            x[layer[index]] = block.at + offsets[index]

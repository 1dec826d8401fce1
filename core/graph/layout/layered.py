"""Our layered layout: nearly linear in the graph's size, for graphs on which dot would take minutes.

The steps are Sugiyama's, for each connected part separately; the parts are then packed in rows. First, cycles
are removed and ranks are assigned. Barycentre sweeps down and up then order each layer. Finally, boxes are
placed as close to their neighbours as the order of the layer allows.

The placement is isotonic regression in the L1 norm (pool adjacent violators): boxes that would overlap join a
block, which is placed at the weighted median of their preferred positions. A median, unlike a mean, is
exactly the preferred position of a majority, so chains become straight lines. Edges are chains of cubic
Béziers from the bottom of a box to the top of another.
"""

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from core.graph.layout.model import (
    Box,
    BoxPlace,
    Curve,
    Edge,
    Layout,
    Neighbours,
    Pair,
    Point,
    neighbours,
    ranks,
    without_cycles,
)

ROW_GAP = 40.0
PART_GAP = 40.0
LOOP_WIDTH = 26.0
BEND_WIDTH = 4.0
LONGEST_BENT = 16  #: rows that a routed edge crosses
BENDS_PER_BOX = 4
SWEEPS = 6
Wish = tuple[float, float]
GAP = 22.0
LANE_GAP = 10.0
PASSES = 5
LANE_DISTANCE = 14.0
LANES = 12
LANE_PITCH = 5.0


class ConnectedPart:
    """A connected part of the graph, laid out from (0, 0)."""

    __slots__ = ("corners", "curves", "height", "width")

    def __init__(self, boxes: Sequence[Box], pairs: Sequence[Pair]) -> None:
        loops = {source for source, target in pairs if source == target}
        links = [pair for pair in pairs if pair[0] != pair[1]]
        forward = without_cycles(len(boxes), links)
        chains, rank = _with_bends(ranks(len(boxes), forward), forward)
        steps = [step for chain in chains.values() for step in pairwise(chain)]
        before, after = neighbours(len(rank), steps)
        layers = order_layers(rank, before, after)
        widths = [box.width + 2 * LOOP_WIDTH * (index in loops) for index, box in enumerate(boxes)]
        widths += [BEND_WIDTH] * (len(rank) - len(boxes))
        x = centres(layers, widths, len(boxes), before, after)
        bands = Bands.of(layers, x, widths, [box.height for box in boxes], ROW_GAP)

        curves: dict[Pair, Curve] = {}
        for pair, (source, target) in zip(links, forward, strict=True):
            chain = chains.get((source, target))
            curve = bent(chain, rank, x, boxes, bands) if chain else in_lane(source, target, rank, x, boxes, bands)
            curves[pair] = curve if pair == (source, target) else mirrored(curve)
        for node in loops:
            curves[node, node] = loop(x[node], bands.middle[rank[node]], boxes[node], LOOP_WIDTH)

        corners = [
            (x[index] - box.width / 2, bands.middle[rank[index]] - box.height / 2) for index, box in enumerate(boxes)
        ]
        left, right = _extent(widths, x, curves)
        self.width, self.height = right - left, bands.bottom[-1]
        self.corners = [(across - left, down) for across, down in corners]
        self.curves = {pair: moved(curve, -left, 0.0) for pair, curve in curves.items()}


def lay_out_layered(boxes: Sequence[Box], edges: Sequence[Edge]) -> Layout:
    """Lay out any graph, in time proportional to its size times a logarithm."""
    number = {box.id: index for index, box in enumerate(boxes)}
    pairs = [(number[edge.source], number[edge.target]) for edge in edges]
    members_of = _connected_parts(len(boxes), pairs)
    parts = [_part(members, boxes, part_pairs) for members, part_pairs in members_of]
    corners: list[tuple[float, float]] = [(0.0, 0.0)] * len(boxes)
    curves: dict[Pair, Curve] = {}
    width = height = 0.0
    for (members, _), part, (left, top) in zip(members_of, parts, _shelves(parts), strict=True):
        for member, (x, y) in zip(members, part.corners, strict=True):
            corners[member] = (x + left, y + top)
        for (source, target), curve in part.curves.items():
            curves[members[source], members[target]] = moved(curve, left, top)
        width, height = max(width, left + part.width), max(height, top + part.height)
    placed = tuple(BoxPlace(box.id, round(x, 1), round(y, 1)) for box, (x, y) in zip(boxes, corners, strict=True))
    return Layout(placed, tuple(curves[pair] for pair in pairs), round(width, 1), round(height, 1), "layered", "")


def _part(members: Sequence[int], boxes: Sequence[Box], pairs: Sequence[Pair]) -> ConnectedPart:
    local = {member: index for index, member in enumerate(members)}
    return ConnectedPart(
        [boxes[member] for member in members], [(local[source], local[target]) for source, target in pairs]
    )


def _connected_parts(count: int, pairs: Sequence[Pair]) -> list[tuple[list[int], list[Pair]]]:
    """Return the connected parts with their pairs, in the order of their first boxes."""
    before, after = neighbours(count, pairs)
    part_of = [-1] * count
    members: list[list[int]] = []
    for start in range(count):
        if part_of[start] >= 0:
            continue
        part_of[start] = len(members)
        reached = [start]
        for node in reached:
            for neighbour in (*before[node], *after[node]):
                if part_of[neighbour] < 0:
                    part_of[neighbour] = len(members)
                    reached.append(neighbour)
        members.append(sorted(reached))
    inside: list[list[Pair]] = [[] for _ in members]
    for pair in dict.fromkeys(pairs):
        inside[part_of[pair[0]]].append(pair)
    return list(zip(members, inside, strict=True))


def _shelves(parts: Sequence[ConnectedPart]) -> Iterator[tuple[float, float]]:
    """Yield the top-left corner of each part; the parts are packed in rows.

    The rows are filled so that the picture becomes about twice as wide as high, or as wide as its widest part.
    """
    area = sum((part.width + PART_GAP) * (part.height + PART_GAP) for part in parts)
    limit = max([sqrt(area) * 1.4, *(part.width for part in parts)])
    left = top = row_height = 0.0
    for part in parts:
        if left and left + part.width > limit:
            left, top, row_height = 0.0, top + row_height + PART_GAP, 0.0
        yield left, top
        left += part.width + PART_GAP
        row_height = max(row_height, part.height)


def _with_bends(rank: list[int], forward: Sequence[Pair]) -> tuple[dict[Pair, list[int]], list[int]]:
    """Return a chain of nodes for each pair, with a bend in each layer between, and all nodes' ranks.

    Very long edges, and edges over the limit of bends, get no chain.
    """
    left = BENDS_PER_BOX * len(rank) + 200
    ranked = list(rank)
    chains: dict[Pair, list[int]] = {}
    for source, target in sorted(dict.fromkeys(forward), key=lambda pair: rank[pair[1]] - rank[pair[0]]):
        bends = range(rank[source] + 1, rank[target])
        if len(bends) > LONGEST_BENT or len(bends) > left:
            break
        left -= len(bends)
        first = len(ranked)
        ranked.extend(bends)
        chains[source, target] = [source, *range(first, len(ranked)), target]
    return chains, ranked


def _extent(widths: list[float], x: list[float], curves: dict[Pair, Curve]) -> tuple[float, float]:
    sides = [x[node] - width / 2 for node, width in enumerate(widths)]
    sides += [x[node] + width / 2 for node, width in enumerate(widths)]
    sides += [point[0] for curve in curves.values() for point in curve]
    return min(sides), max(sides)


def order_layers(rank: list[int], before: Neighbours, after: Neighbours) -> list[list[int]]:
    """Return the layers from the top, each from left to right, with few crossings."""
    layers = _first_order(rank, before, after)
    place = [0] * len(rank)
    for layer in layers:
        _number(layer, place)
    for sweep in range(SWEEPS):
        downwards = sweep % 2 == 0
        fixed = before if downwards else after
        for layer in layers if downwards else reversed(layers):
            wanted = {node: _barycentre(node, fixed, place) for node in layer}
            layer.sort(key=wanted.__getitem__)
            _number(layer, place)
    return layers


def _first_order(rank: list[int], before: Neighbours, after: Neighbours) -> list[list[int]]:
    """Return the initial layers by a depth-first walk: the nodes of a branch start next to each other."""
    layers: list[list[int]] = [[] for _ in range(max(rank) + 1)]
    seen = [False] * len(rank)
    for start in sorted(range(len(rank)), key=rank.__getitem__):
        stack = [start]
        while stack:
            node = stack.pop()
            if seen[node]:
                continue
            seen[node] = True
            layers[rank[node]].append(node)
            stack.extend(reversed(after[node]))
    return layers


def _number(layer: list[int], place: list[int]) -> None:
    for index, node in enumerate(layer):
        place[node] = index


def _barycentre(node: int, fixed: Neighbours, place: list[int]) -> float:
    near = fixed[node]
    return sum(place[neighbour] for neighbour in near) / len(near) if near else place[node]


class Block:
    """Touching boxes that move together.

    `wishes` are preferred (position, weight) pairs of the block's boxes, in order of position. A box's offset in
    the layer is subtracted from its preferred positions.
    """

    __slots__ = ("at", "first", "middle", "wishes")

    def __init__(self, first: int, offset: float, wishes: list[Wish]) -> None:
        self.first = first
        self.middle = offset
        self.wishes = wishes
        self.at = weighted_median(wishes, -offset)

    def absorb(self, right: "Block") -> None:
        """Merge the right neighbour into this block."""
        if len(right.wishes) < 4:
            for wish in right.wishes:
                insort(self.wishes, wish)
        else:
            self.wishes = sorted(self.wishes + right.wishes)
        self.middle = (self.middle + right.middle) / 2
        self.at = weighted_median(self.wishes, -self.middle)


def weighted_median(wishes: Sequence[Wish], centre: float) -> float:
    """Return the weighted median of (position, weight) pairs.

    Of two medians, return the one nearer to the centre: always choosing the left median would move every split and join
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
    """Return a node's preferred (position, weight) pairs: the positions of its neighbours.

    Edges at bends weigh more, so that long edges become straight, as in dot. Without neighbours, the node prefers
    its own position.
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


class Reach:
    """Maximum of any range of values in constant time; stores the maximum of each power-of-two range."""

    __slots__ = ("_levels",)

    def __init__(self, values: Sequence[float]) -> None:
        self._levels = [list(values)]
        step = 1
        while 2 * step <= len(values):
            last = self._levels[-1]
            self._levels.append([max(pair) for pair in zip(last, last[step:], strict=False)])
            step *= 2

    def largest(self, first: int, last: int) -> float:
        """Return the maximum of the values `first` to `last`, both included."""
        level = (last - first + 1).bit_length() - 1
        return max(self._levels[level][first], self._levels[level][last + 1 - (1 << level)])


@dataclass(frozen=True, slots=True)
class Bands:
    """Layers as horizontal bands: their top, middle, bottom, and horizontal extent."""

    top: list[float]
    middle: list[float]
    bottom: list[float]
    left: Reach
    right: Reach

    @classmethod
    def of(
        cls, layers: list[list[int]], x: list[float], widths: list[float], heights: list[float], gap: float
    ) -> "Bands":
        """Return the bands of stacked layers; bends have no height."""
        left = Reach([widths[layer[0]] / 2 - x[layer[0]] for layer in layers])
        right = Reach([x[layer[-1]] + widths[layer[-1]] / 2 for layer in layers])
        bands = cls([], [], [], left, right)
        y = 0.0
        for layer in layers:
            height = max((heights[node] for node in layer if node < len(heights)), default=0.0)
            bands.top.append(y)
            bands.middle.append(y + height / 2)
            bands.bottom.append(y + height)
            y += height + gap
        return bands


def bent(chain: Sequence[int], rank: list[int], x: list[float], boxes: Sequence[Box], bands: Bands) -> Curve:
    """Return the curve through a chain of bends: vertical inside every layer, curved between layers."""
    source, target = chain[0], chain[-1]
    stops: list[Point] = [(x[source], bands.middle[rank[source]] + boxes[source].height / 2)]
    stops.append((x[source], bands.bottom[rank[source]]))
    for bend in chain[1:-1]:
        stops += [(x[bend], bands.top[rank[bend]]), (x[bend], bands.bottom[rank[bend]])]
    stops.append((x[target], bands.top[rank[target]]))
    stops.append((x[target], bands.middle[rank[target]] - boxes[target].height / 2))
    return _smooth(stops)


def in_lane(source: int, target: int, rank: list[int], x: list[float], boxes: Sequence[Box], bands: Bands) -> Curve:
    """Return a curve around all layers in between, on the nearer side: for edges too long for bends."""
    first, last = rank[source], rank[target]
    left, right = -bands.left.largest(first, last), bands.right.largest(first, last)
    shift = LANE_DISTANCE + first % LANES * LANE_PITCH
    to_left = x[source] + x[target] - 2 * left < 2 * right - x[source] - x[target]
    lane = left - shift if to_left else right + shift
    return _smooth(
        [
            (x[source], bands.middle[first] + boxes[source].height / 2),
            (x[source], bands.bottom[first]),
            (lane, bands.top[first + 1]),
            (lane, bands.bottom[last - 1]),
            (x[target], bands.top[last]),
            (x[target], bands.middle[last] - boxes[target].height / 2),
        ]
    )


def loop(x: float, middle: float, box: Box, reach: float) -> Curve:
    """Return the curve from a box's right side back to the box."""
    side, rise = x + box.width / 2, min(box.height / 4, 12.0)
    return _rounded(
        [(side, middle - rise), (side + reach, middle - rise), (side + reach, middle + rise), (side, middle + rise)]
    )


def mirrored(curve: Curve) -> Curve:
    """Return the same curve in the opposite direction."""
    return curve[::-1]


def moved(curve: Curve, across: float, down: float) -> Curve:
    """Return the curve moved by an offset, rounded to a tenth of a pixel."""
    return _rounded((x + across, y + down) for x, y in curve)


def _rounded(points: Iterable[Point]) -> Curve:
    return tuple((round(x, 1), round(y, 1)) for x, y in points)


def _smooth(stops: Sequence[Point]) -> Curve:
    """Return a chain of Béziers through the stops, vertical at each, without those on a line."""
    bends = [stops[0]]
    for index, stop in enumerate(stops[1:], start=1):
        if stop == bends[-1]:
            continue
        ahead = stops[index + 1] if index + 1 < len(stops) else None
        if ahead is not None and bends[-1][0] == stop[0] == ahead[0]:
            continue
        bends.append(stop)
    points = [bends[0]]
    for (x0, y0), (x1, y1) in pairwise(bends):
        middle = (y0 + y1) / 2
        points += [(x0, middle), (x1, middle), (x1, y1)]
    return tuple(points)

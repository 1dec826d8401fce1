"""Our layered layout: nearly linear in the graph's size, for graphs on which dot would take minutes.

The steps are Sugiyama's (open cycles, rank, order, place, route), one module each, for each connected part separately;
the parts are then packed in rows.

Order within each layer: barycentre sweeps down and up.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from math import sqrt

from core.graph.layout.model import Box, BoxPlace, Curve, Edge, Layout
from core.graph.layout.position import centres
from core.graph.layout.ranks import Neighbours, Pair, neighbours, ranks, without_cycles
from core.graph.layout.routes import Bands, bent, in_lane, loop, mirrored, moved

ROW_GAP = 40.0
PART_GAP = 40.0
LOOP_WIDTH = 26.0
BEND_WIDTH = 4.0
LONGEST_BENT = 16
BENDS_PER_BOX = 4
SWEEPS = 6


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
    """Yield top-left corners: parts in rows about as wide as the total height, at least as wide as the widest part."""
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
    """Return the chain of nodes for each pair, one per layer, and all ranks with the new bends.

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
    """Return the initial order: depth first from the top, so that a branch's nodes start next to each other."""
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

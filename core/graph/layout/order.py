"""Order within each layer: barycentre sweeps down and up."""

from core.graph.layout.ranks import Neighbours

SWEEPS = 6


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

"""Graph queries: node or group of an id, text search, neighbourhood, paths between nodes.

Export of a graph: DOT, JSON, and a digest of its content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

import msgspec

from core.graph.index import index_of
from core.graph.model import TOP, Edge, GraphModel, Node
from core.graph.tree import ancestors

MOST_HITS = 200
MOST_NEAR = 400
LONGEST_QUERY = 200
DIGEST_BYTES = 12
CONTROL = {code: " " for code in range(32) if code != 10} | {127: " "}


@dataclass(frozen=True, slots=True)
class Hit:
    """A search hit: its groups, outermost first, and its node; -1 for a group, the last one of the path."""

    path: tuple[int, ...]
    node: int


def find(model: GraphModel, element_id: str) -> Hit | None:
    """Return the node, row or group of an id.

    Otherwise the first node linked to it, such as to a kernel or a line.
    """
    place = index_of(model).places.get(element_id)
    if place is None:
        return None
    return hit_at(model, place) if place >= 0 else Hit(_path(model, ~place), TOP)


def hit_at(model: GraphModel, node: int) -> Hit:
    """Return the hit of a node, by its index."""
    return Hit(_path(model, model.nodes[node].group), node)


def _path(model: GraphModel, group: int) -> tuple[int, ...]:
    return tuple(ancestors(group, index_of(model).parents))[::-1]


def search(model: GraphModel, text: str) -> tuple[int, list[Hit]]:
    """Return the number of matching nodes, and the best matches (at most 200): names and ops, then shapes and modules.

    All words must occur, in any case, in a node's id, label, detail, rows or module.
    """
    words = text[:LONGEST_QUERY].lower().split()
    if not words:
        return 0, []
    texts = index_of(model).texts
    hits = [node for node, searched in enumerate(texts) if all(word in searched for word in words)]
    hits.sort(key=lambda node: _rank(model.nodes[node], words))
    return len(hits), [hit_at(model, node) for node in hits[:MOST_HITS]]


def _rank(node: Node, words: Sequence[str]) -> int:
    names = (node.label.lower(), node.id.partition(":")[2].lower())
    joined = " ".join(words)
    if joined in names:
        return 0
    if any(name.startswith(joined) for name in names):
        return 1
    return 2 if all(any(word in name for name in names) for word in words) else 3


def neighbourhood(model: GraphModel, element_id: str, hops: int) -> GraphModel | None:
    """Return the nodes at most `hops` edges from a node, in both directions, without groups: the nearest 400.

    None if there is no such node.
    """
    start = _node(model, element_id)
    if start is None:
        return None
    before, after = index_of(model).neighbours
    seen = {start: None}
    border = [start]
    for _ in range(hops):
        reached = [near for node in border for near in (*before[node], *after[node])]
        border = [node for node in dict.fromkeys(reached) if node not in seen][: MOST_NEAR - len(seen)]
        seen.update(dict.fromkeys(border))
    return part(model, seen)


def between(model: GraphModel, source: str, target: str) -> GraphModel | None:
    """Return all nodes on the shortest paths from one node to another, or in the opposite direction, without groups.

    None if there is no path, or no such node.
    """
    ends = _node(model, source), _node(model, target)
    if ends[0] is None or ends[1] is None:
        return None
    before, after = index_of(model).neighbours
    nodes = _shortest(ends[0], ends[1], before, after) or _shortest(ends[1], ends[0], before, after)
    return part(model, nodes[:MOST_NEAR]) if nodes else None


def _shortest(start: int, goal: int, before: Sequence[Sequence[int]], after: Sequence[Sequence[int]]) -> list[int]:
    """Return the nodes on any shortest path, from the goal backwards; empty if the goal is unreachable."""
    distance = {start: 0}
    front = [start]
    while front and goal not in distance:
        reached = dict.fromkeys(near for node in front for near in after[node] if near not in distance)
        distance.update(dict.fromkeys(reached, distance[front[0]] + 1))
        front = list(reached)
    if goal not in distance:
        return []
    nodes = {goal: None}
    for node in (queue := [goal]):
        nearer = [near for near in before[node] if distance.get(near) == distance[node] - 1 and near not in nodes]
        nodes.update(dict.fromkeys(nearer))
        queue += dict.fromkeys(nearer)
    return list(nodes)


def part(model: GraphModel, nodes: Iterable[int]) -> GraphModel:
    """Return the graph of some nodes with the edges between them, without groups."""
    chosen = sorted(nodes)
    place = {node: index for index, node in enumerate(chosen)}
    _, outgoing = index_of(model).edges_by_end
    edges = [model.edges[number] for node in chosen for number in outgoing[node]]
    return GraphModel(
        tuple(replace(model.nodes[node], group=TOP) for node in chosen),
        tuple(_renumbered(edge, place) for edge in edges if edge.target in place),
        (),
        tuple(replace(overlay, values=tuple(overlay.values[node] for node in chosen)) for overlay in model.overlays),
    )


def _renumbered(edge: Edge, place: dict[int, int]) -> Edge:
    return replace(edge, source=place[edge.source], target=place[edge.target])


def _node(model: GraphModel, element_id: str) -> int | None:
    hit = find(model, element_id)
    return None if hit is None or hit.node == TOP else hit.node


def as_json(model: GraphModel) -> bytes:
    """Return the graph as JSON."""
    return msgspec.json.encode(model)


def digest(model: GraphModel, *more: object) -> str:
    """Return a short text that changes exactly when the graph or the additional values change."""
    return blake2b(msgspec.json.encode((model, more)), digest_size=DIGEST_BYTES).hexdigest()


def as_dot(model: GraphModel) -> str:
    """Return the graph in DOT, groups as clusters; all external text is quoted."""
    lines = ["digraph {", "node [shape=box]", *_inside(model, TOP, "")]
    lines += [f"n{edge.source} -> n{edge.target}{_attributes(label=edge.label)}" for edge in model.edges]
    return "\n".join([*lines, "}", ""])


def _inside(model: GraphModel, group: int, indent: str) -> Iterator[str]:
    for member in index_of(model).children[group]:
        if member >= 0:
            node = model.nodes[member]
            rows = [row.label for row in node.rows]
            yield f"{indent}n{member}{_attributes(label=_lines(node.label, node.detail, *rows), id=node.id)}"
            continue
        subgroup = model.groups[~member]
        yield f"{indent}subgraph cluster_{~member} {{"
        yield f"{indent}  label={quoted(_lines(subgroup.label, subgroup.detail))}"
        yield from _inside(model, ~member, indent + "  ")
        yield f"{indent}}}"


def _lines(*texts: str) -> str:
    return "\n".join(filter(None, texts))


def _attributes(**texts: str) -> str:
    attributes = ", ".join(f"{name}={quoted(text)}" for name, text in texts.items() if text)
    return f" [{attributes}]" if attributes else ""


def quoted(text: str) -> str:
    """Return a text as a plain DOT string, without markup, entities, and escapes for node or graph names."""
    plain = text.translate(CONTROL).replace("&", "&amp;").replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'

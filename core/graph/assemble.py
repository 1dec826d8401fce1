"""Assembly of a grouped graph from nodes, edges, and the origins of the nodes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.graph.facts import groups_with_facts
from core.graph.helpers import fold_helpers
from core.graph.model import Edge, Frames, GraphModel, Node, Overlay
from core.graph.modules import Origin, grow
from core.graph.overlays import ONE_BY_ONE, named_overlays, standard_overlays
from core.graph.stacks import stack
from core.graph.traits import Trait
from core.graph.tree import arrange, chunk, simplify

# Most nodes of a graph that is shown without folding.
SMALL = 60
MakeNode = Callable[[int, int], Node]


class Link(NamedTuple):
    """An edge by the numbers of its ends in the graph's own order."""

    source: int
    target: int
    label: str = ""
    bytes: int = 0
    frames: Frames = ()


@dataclass(frozen=True, slots=True)
class Material:
    """Input of a graph, by node in the graph's own order: origins, kinds (equal for equal nodes), traits and FX names.

    `parameters` are element counts by name; `source` is the user's own file; `ops` the number of ops in the nodes,
    since a node may have several; `similar` is True if layers that are only similar are folded, too.
    """

    origins: Sequence[Origin]
    kinds: Sequence[Hashable]
    traits: Sequence[Trait]
    names: Sequence[str]
    edges: Sequence[Link]
    parameters: Mapping[str, int | None]
    source: str = ""
    partition: Mapping[str, str] | None = None
    errors: Mapping[str, float] | None = None
    standings: Mapping[str, str] | None = None
    segments: Mapping[str, str] | None = None
    costs_note: str = ONE_BY_ONE
    ops: int = 0
    similar: bool = False


def assemble(material: Material, make: MakeNode) -> GraphModel:
    """Group, order and paint the nodes; `make` returns the node of a number and a group."""
    root = grow(material.origins, material.source)
    stack(root, material.kinds, _reads(len(material.origins), material.edges), similar=material.similar)
    if max(len(material.origins), material.ops) > SMALL:
        fold_helpers(root, material.origins)
    simplify(root)
    chunk(root)
    arrangement = arrange(root)
    nodes = tuple(make(number, group) for number, group in zip(arrangement.order, arrangement.group_of, strict=True))
    traits = [material.traits[number] for number in arrangement.order]
    edges = _placed_edges(material.edges, arrangement.order)
    groups = groups_with_facts(arrangement, nodes, edges, traits, material.parameters)
    names = [material.names[number] for number in arrangement.order]
    overlays: list[Overlay] = standard_overlays(nodes, traits, material.costs_note)
    overlays += named_overlays(names, material.partition, material.errors, material.standings, material.segments)
    return GraphModel(nodes, edges, groups, tuple(overlays))


def _reads(count: int, edges: Sequence[Link]) -> list[list[int]]:
    reads: list[list[int]] = [[] for _ in range(count)]
    for edge in edges:
        reads[edge.target].append(edge.source)
    return reads


def _placed_edges(edges: Sequence[Link], order: Sequence[int]) -> tuple[Edge, ...]:
    place = [0] * len(order)
    for index, number in enumerate(order):
        place[number] = index
    return tuple(Edge(place[link[0]], place[link[1]], link[2], link[3], link[4]) for link in edges)

"""Display graph of two graphs: every node of either once, painted by its change."""

from __future__ import annotations

from dataclasses import replace

from core.analysis.comparison import Change, GraphUnion, UnionNode
from core.graph.fx import film_model
from core.graph.model import GraphModel, Overlay
from core.report import FxNode

DIFFERENCE = "difference"
# Changes by rank: a folded group is painted by the last one among its nodes.
CHANGES: tuple[Change, ...] = ("same", "moved", "only left", "only right", "changed")
NOTE = "From the left run's graph to the right one's; a folded group is `changed` where any node in it is."


def union_model(union: GraphUnion, source: str = "") -> GraphModel:
    """Return the union as a film of three frames: the left graph, both, and the right graph."""
    model = film_model(
        [(_drawn_node(node), node.frames) for node in union.nodes],
        union.edges,
        source=source,
        states={node.name: _versions(node) for node in union.nodes if node.change == "changed"},
    )
    places = {f"n:{node.name}": CHANGES.index(node.change) for node in union.nodes}
    values = tuple(places.get(node.id) for node in model.nodes)
    painted = Overlay(DIFFERENCE, "difference", "category", "", values, "largest", CHANGES, NOTE)
    return replace(model, overlays=(painted, *model.overlays))


def _drawn_node(node: UnionNode) -> FxNode:
    """Return the node of the left graph, otherwise of the right one, under its name in the union."""
    version = node.left or node.right
    assert version is not None
    return replace(version, name=node.name, inputs=node.inputs)


def _versions(node: UnionNode) -> list[tuple[int, FxNode]]:
    """Return the versions of a changed node, each with its first frame."""
    return [(frame, version) for frame, version in ((0, node.left), (2, node.right)) if version is not None]

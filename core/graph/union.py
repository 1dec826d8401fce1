"""Two graphs as one drawing: every node of either at one place, painted by what became of it."""

from __future__ import annotations

from dataclasses import replace

from core.analysis.comparison import Change, GraphUnion, UnionNode
from core.graph.fx import film_model
from core.graph.model import GraphModel, Overlay
from core.report import FxNode

DIFFERENCE = "difference"
# In the order in which a folded group takes one of them, the last that it holds.
CHANGES: tuple[Change, ...] = ("same", "moved", "only left", "only right", "changed")
NOTE = "From the left run's graph to the right one's; a folded group is `changed` where any node in it is."


def union_model(union: GraphUnion, source: str = "") -> GraphModel:
    """The union as a film of three frames: the left graph, both at once, and the right graph."""
    model = film_model(
        [(_drawn(node), node.frames) for node in union.nodes],
        union.edges,
        source=source,
        states={node.name: _states(node) for node in union.nodes if node.change == "changed"},
    )
    places = {f"n:{node.name}": CHANGES.index(node.change) for node in union.nodes}
    values = tuple(places.get(node.id) for node in model.nodes)
    painted = Overlay(DIFFERENCE, "difference", "category", "", values, "largest", CHANGES, NOTE)
    return replace(model, overlays=(painted, *model.overlays))


def _drawn(node: UnionNode) -> FxNode:
    """The node as the left graph has it, under its name in the union."""
    found = node.left or node.right
    assert found is not None
    return replace(found, name=node.name, inputs=node.inputs)


def _states(node: UnionNode) -> list[tuple[int, FxNode]]:
    """What a node that changed is, from which frame on."""
    return [(frame, found) for frame, found in ((0, node.left), (2, node.right)) if found is not None]

"""Ops between the parts of a model are folded, so that the parts are what one sees first."""

from core.graph.assemble import SMALL
from core.graph.fx import fx_model
from core.graph.model import TOP, GraphModel
from core.report import FxNode
from tests.support.reports.fx_nodes import fx

ROOT = "L['self']"


def model_of(layers: int, helpers: int) -> list[FxNode]:
    """Inputs, ops of the model itself, and layers of ten ops each."""
    nodes = [fx("x", op="placeholder", target="x")]
    last = "x"
    for number in range(helpers):
        nodes.append(fx(f"h{number}", [last], ROOT, "Model"))
        last = f"h{number}"
    for layer in range(layers):
        for number in range(10):
            nodes.append(fx(f"l{layer}_{number}", [last], f"{ROOT}.layers.{layer}", "Layer"))
            last = f"l{layer}_{number}"
    return nodes


def groups(model: GraphModel, parent: int = TOP) -> list[tuple[str, int]]:
    return [(group.label, group.count) for group in model.groups if group.parent == parent]


def test_three_ops_between_the_parts_of_a_large_graph_are_one_group() -> None:
    assert groups(fx_model(model_of(8, 3))) == [("ops", 3), ("Layer", 80)]


def test_two_ops_stay_as_they_are() -> None:
    assert groups(fx_model(model_of(8, 2))) == [("Layer", 80)]


def test_a_small_graph_is_left_as_it_is() -> None:
    nodes = model_of(5, 9)
    assert len(nodes) == SMALL
    assert groups(fx_model(nodes)) == [("Layer", 50)]


def test_inputs_are_not_helpers() -> None:
    model = fx_model(model_of(8, 3))
    assert [node.group for node in model.nodes if node.id == "n:x"] == [TOP]

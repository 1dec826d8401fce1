"""Ops between the parts of a model are folded, so that the parts are what one sees first."""

from core.graph import SMALL, TOP, fx_model
from core.graph.model import GraphModel
from core.report import FxNode
from pages.components.graph.wire import opened
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


def test_a_model_opens_as_its_layers() -> None:
    nodes = [
        fx(node.name, node.inputs, node.module.replace(ROOT, f"{ROOT}.model"), node.module_class or "Model")
        if node.module
        else node
        for node in model_of(8, 3)
    ]
    nodes.append(fx("loss", [nodes[-1].name], ROOT, "Causal"))
    model = fx_model(nodes)
    shown = opened(model)

    assert [model.groups[level.group].label for level in shown] == ["model"]
    inside = {model.groups[item.group].label for item in shown[0].items if item.group != TOP}
    assert inside == {"ops", "Layer"}


def test_an_encoder_and_a_decoder_open_both_as_their_layers() -> None:
    nodes = [fx("x", op="placeholder", target="x")]
    for part, kind in (("encoder", "Encoder"), ("decoder", "Decoder")):
        nodes.append(fx(f"{part}_add", [nodes[-1].name], f"{ROOT}.{part}", kind))
        for number in range(2):
            nodes.append(fx(f"{part}_norm{number}", [nodes[-1].name], f"{ROOT}.{part}.norm", "LayerNorm"))
        for layer in range(4):
            for number in range(10):
                path = f"{ROOT}.{part}.layers.{layer}"
                nodes.append(fx(f"{part}{layer}_{number}", [nodes[-1].name], path, f"{kind}Layer"))
    model = fx_model(nodes)
    assert [model.groups[level.group].label for level in opened(model)] == ["encoder", "decoder"]

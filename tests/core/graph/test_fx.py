"""What is drawn of an FX graph's nodes: their parameters, and their share of what was measured."""

import pytest

from core.graph.fx import fx_model
from tests.support.reports.fx_nodes import fx, kernel, overlay


@pytest.mark.parametrize(("parameters", "more"), [(2, ()), (3, ()), (4, ("+1",)), (5, ("+2",))])
def test_a_node_shows_its_first_three_parameters_and_how_many_more(parameters: int, more: tuple[str, ...]) -> None:
    names = [f"l_self_parameters_p{index}_" for index in range(parameters)]
    nodes = [*(fx(name, op="placeholder") for name in names), fx("y", names)]
    (node,) = fx_model(nodes).nodes
    assert node.chips == (*(f"p{index}" for index in range(min(parameters, 3))), *more)


def test_measured_seconds_of_a_kernel_are_shared_by_its_nodes_alone() -> None:
    nodes = [fx("x", op="placeholder", target="x"), fx("a", ["x"]), fx("b", ["a"], meta="f32 24"), fx("c", ["b"])]
    one, other = kernel("one"), kernel("other")
    kernels = {"a": [one], "b": [one], "c": [other], "gone": [one]}
    # a reads and writes 32 numbers, b reads 32 and writes 24.
    shares = {"a": 64 / 120, "b": 56 / 120}
    model = fx_model(nodes, kernels, seconds={"one": 3.0})
    found = dict(zip("xabc", overlay(model, "time"), strict=True))
    assert found == {"x": None, "a": pytest.approx(3 * shares["a"]), "b": pytest.approx(3 * shares["b"]), "c": None}

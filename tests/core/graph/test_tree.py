"""No level of a graph holds more than can be seen at once."""

import pytest

from benchmarks.synthetic import synthetic_nodes
from core.graph import fx_model, levels_below
from tests.support.fx_nodes import fx


def test_a_graph_without_modules_is_cut_into_runs_so_that_no_level_is_large() -> None:
    model = fx_model(synthetic_nodes(3000, modules=False))
    assert model.groups[0].label == "ops 1–200"
    assert max(len(shown.items) for shown in levels_below(model, budget_s=0.0)) <= 400


@pytest.mark.parametrize(("count", "labels"), [(400, []), (401, ["ops 1–200", "ops 201–400", "ops 401–401"])])
def test_a_level_holds_400_ops_before_it_is_cut(count: int, labels: list[str]) -> None:
    nodes = [fx(f"a{index}", [f"a{index - 1}"] if index else []) for index in range(count)]
    assert [group.label for group in fx_model(nodes).groups] == labels

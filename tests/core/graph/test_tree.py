"""No level of a graph holds more than can be seen at once."""

import pytest

from benchmarks.synthetic import synthetic_nodes
from core.graph.fx import fx_model
from core.graph.layout import ladder
from core.graph.levels import levels_below
from core.graph.model import Fact
from core.graph.modules import module_at
from core.graph.placing import common_path
from core.report import Module, module_path
from tests.support.reports.fx_nodes import fx, kernel


def test_a_graph_without_modules_is_cut_into_runs_so_that_no_level_is_large() -> None:
    model = fx_model(synthetic_nodes(3000, modules=False))
    assert model.groups[0].label == "ops 1–200"
    assert max(len(shown.items) for shown in levels_below(model, budget_s=0.0)) <= 400


@pytest.mark.parametrize(("count", "labels"), [(400, []), (401, ["ops 1–200", "ops 201–400", "ops 401–401"])])
def test_a_level_holds_400_ops_before_it_is_cut(count: int, labels: list[str]) -> None:
    nodes = [fx(f"a{index}", [f"a{index - 1}"] if index else []) for index in range(count)]
    assert [group.label for group in fx_model(nodes).groups] == labels


def test_levels_share_their_time_and_where_none_is_left_the_simpler_layout_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ladder, "_memory", type(ladder._memory)())
    model = fx_model(synthetic_nodes(300))
    assert {bool(shown.note) for shown in levels_below(model, budget_s=0.0) if shown.edges} == {True}


@pytest.mark.parametrize(
    ("paths", "common"),
    [
        (["L['self'].a.x", "L['self'].a.y"], "L['self']['a']"),
        (["L['self'].a.x", "L['self'].a.y", "L['self'].b.x"], "L['self']"),
        (["L['self'].a", "L['self'].a.x"], "L['self']['a']"),
        (["L['one'].a", "L['other'].a"], ""),
        ([], ""),
    ],
)
def test_the_module_that_holds_all_is_the_deepest_they_share(paths: list[str], common: str) -> None:
    found = module_at(common_path([module_path(path) for path in paths]), {("self", "a"): "Attention"})
    assert found == Module(common, "Attention" if common == "L['self']['a']" else "")


@pytest.mark.parametrize(("count", "told"), [(3, "f32[1], f32[2], f32[3]"), (4, "f32[1], f32[2], f32[3] and 1 more")])
def test_three_shapes_are_reported_and_how_many_more(count: int, told: str) -> None:
    inputs = [fx(f"x{i}", op="placeholder", target=f"x{i}", meta=f"f32 {i + 1}") for i in range(count)]
    nodes = [
        *inputs,
        *(fx(name, read, "L['self'].up", "Up") for name, read in (("a", [i.name for i in inputs]), ("b", ["a"]))),
    ]
    assert dict(fact[:2] for fact in fx_model(nodes).groups[0].facts)["in"] == told


def test_a_group_has_the_measured_time_of_its_nodes_and_without_any_none() -> None:
    nodes = [fx("x", op="placeholder", target="x")]
    for up, (one, other) in (("up", "ab"), ("down", "cd")):
        nodes += [fx(one, [nodes[-1].name], f"L['self'].{up}", "Up"), fx(other, [one], f"L['self'].{up}", "Up")]
    groups = fx_model(nodes, {"a": [kernel("k")], "b": [kernel("k")]}, seconds={"k": 3.0}).groups
    found = {group.label: [fact for fact in group.facts if "time" in fact.name] for group in groups}
    assert found == {"up": [Fact("time (measured)", 3.0, "s"), Fact("share of time", 1.0, "share")], "down": []}

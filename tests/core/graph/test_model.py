"""Graphs in groups: the hierarchy of modules and lines, stacks, facts, overlays."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.synthetic import synthetic_nodes
from core.graph.fx import film_model, fx_model
from core.graph.levels import digest, level, levels_below
from core.graph.model import Fact, GraphModel
from core.report import FxNode, module_path
from tests.support.reports.fx_nodes import FILE, fx, overlay


def tree(model: GraphModel) -> list[tuple[str, str, str, int, int]]:
    return [(group.id, group.label, group.detail, group.first, group.last) for group in model.groups]


def layer(path: str, source: str, number: int, target: str = "torch.ops.aten.tanh.default") -> list[FxNode]:
    first = fx(f"a{number}", [source], path, "Block")
    return [first, fx(f"b{number}", [first.name], path, "Block", target=target)]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("L['self'].layers.0.attn", ("self", "layers", "0", "attn")),
        ("L['self']._modules['layers']._modules['0'].attn", ("self", "layers", "0", "attn")),
        ("getattr(L['self'].layer1, '0').conv", ("self", "layer1", "0", "conv")),
        ("L['self'].layers[0].attn@1", ("self", "layers", "0", "attn")),
        ("L__self___layers_0_attn_proj", ("self", "layers", "0", "attn_proj")),
        ("L['model']", ("model",)),
        ("layers.0", ("self", "layers", "0")),
        ("", ("self",)),
    ],
)
def test_a_modules_path_becomes_clean_segments(text: str, path: tuple[str, ...]) -> None:
    assert module_path(text) == path


def test_nodes_are_in_their_modules_with_the_class_as_detail() -> None:
    nodes = [
        fx("x", op="placeholder", target="x"),
        fx("a", ["x"], "L['self'].block.norm", "LayerNorm"),
        fx("b", ["a"], "L['self'].block.norm", "LayerNorm"),
        fx("c", ["b"], "L['self'].block", "Block"),
        fx("d", ["c"], "L['self']", "Model"),
    ]
    model = fx_model(nodes)
    assert tree(model) == [
        ("m:block", "block", "Block", 1, 4),
        ("m:block.norm", "norm", "LayerNorm", 1, 3),
    ]
    assert [node.group for node in model.nodes] == [-1, 1, 1, 0, -1]


def test_a_module_of_one_op_and_a_list_around_one_module_are_no_levels_of_their_own() -> None:
    nodes = [
        fx("a", ["x"], "L['self'].blocks.0.mlp", "MLP"),
        fx("b", ["a"], "L['self'].blocks.0.mlp", "MLP"),
        fx("c", ["b"], "L['self'].head", "Linear"),
    ]
    assert tree(fx_model(nodes)) == [("m:blocks.0.mlp", "blocks.0.mlp", "MLP", 0, 2)]


def test_several_roots_are_distinguished() -> None:
    nodes = [
        *[fx(f"a{i}", [], "L['model'].up", "Up") for i in range(2)],
        *[fx(f"b{i}", [], "L['loss'].up", "Loss") for i in range(2)],
    ]
    assert [group.label for group in fx_model(nodes).groups] == ["model.up", "loss.up"]


def test_alike_layers_become_a_stack() -> None:
    nodes = [node for i in range(12) for node in layer(f"L['self'].layers.{i}", f"b{i - 1}" if i else "x", i)]
    model = fx_model(nodes)
    stack, *layers = model.groups
    assert (stack.label, stack.detail, stack.kind, stack.count) == ("Block", "× 12", "stack", 24)
    assert Fact("modules", "layers.0 to layers.11") in stack.facts
    assert [(group.label, group.parent, group.kind) for group in layers] == [
        (f"layers.{i}", 0, "module") for i in range(12)
    ]


@pytest.mark.parametrize("count", [1, 2])
def test_two_alike_layers_are_a_stack_and_one_is_none(count: int) -> None:
    nodes = [node for i in range(count) for node in layer(f"L['self'].layers.{i}", f"b{i - 1}" if i else "x", i)]
    assert ("stack" in [group.kind for group in fx_model(nodes).groups]) is (count == 2)


def test_layers_of_a_backward_graph_stack_from_the_last_to_the_first() -> None:
    nodes = [node for i in (2, 1, 0) for node in layer(f"L['self'].layers.{i}", f"b{i + 1}" if i < 2 else "x", i)]
    assert fx_model(nodes).groups[0].detail == "× 3"


@pytest.mark.parametrize("change", ["target", "shape", "edge", "gap", "class"])
def test_layers_that_differ_do_not_stack(change: str) -> None:
    one = layer("L['self'].layers.0", "x", 0)
    two = layer(f"L['self'].layers.{2 if change == 'gap' else 1}", "b0", 1)
    if change == "target":
        two = layer("L['self'].layers.1", "b0", 1, target="torch.ops.aten.cos.default")
    if change == "shape":
        two[0] = fx("a1", ["b0"], "L['self'].layers.1", "Block", meta="f32 4 9")
    if change == "edge":
        two[1] = fx("b1", ["b0"], "L['self'].layers.1", "Block", target="torch.ops.aten.tanh.default")
    if change == "class":
        two = [fx(n.name, n.inputs, n.module, "Other", target=n.target) for n in two]
    assert [group.kind for group in fx_model([*one, *two]).groups].count("stack") == 0


def test_without_modules_runs_of_a_source_line_are_the_groups() -> None:
    nodes = [
        fx("a", ["x"], line=7, code="y = f(x)"),
        fx("b", ["a"], line=7, code="y = f(x)"),
        fx("c", ["b"], line=8, code="z = y"),
        fx("d", ["c"], line=7, code="y = f(x)"),
        fx("e", ["d"], line=7, code="y = f(x)"),
    ]
    assert tree(fx_model(nodes, source=FILE)) == [
        ("l:7", "y = f(x)", "m.py:7", 0, 2),
        ("l:7#2", "y = f(x)", "m.py:7", 3, 5),
    ]


def test_a_joint_graph_falls_into_forward_and_backward() -> None:
    nodes = [fx(name, [], "L['self'].up", "Up") for name in ("a", "b", "c", "d")]
    directions = {"a": "forward", "b": "forward", "c": "backward", "d": "backward"}
    model = fx_model(nodes, directions=directions)
    assert tree(model) == [
        ("m:forward/", "forward", "", 0, 2),
        ("m:forward/up", "up", "Up", 0, 2),
        ("m:backward/", "backward", "", 2, 4),
        ("m:backward/up", "up", "Up", 2, 4),
    ]
    assert [group.kind for group in model.groups] == ["direction", "module", "direction", "module"]


def test_parameters_are_chips_and_count_once_for_a_group() -> None:
    weight = fx("l_self_modules_up_parameters_weight_", op="placeholder", target="w", meta="f32 10 20")
    nodes = [
        weight,
        fx("a", [weight.name], "L['self'].up", "Up"),
        fx("b", ["a", weight.name], "L['self'].up", "Up"),
    ]
    model = fx_model(nodes)
    assert [node.chips for node in model.nodes] == [("up.weight",), ("up.weight",)]
    assert model.groups[0].facts[0] == Fact("parameters", 200, "count")


def test_many_inputs_are_chips_and_the_output_is_not_drawn() -> None:
    inputs = [fx(f"arg{i}_1", op="placeholder", target=f"arg{i}_1") for i in range(9)]
    nodes = [*inputs, fx("a", [node.name for node in inputs]), fx("output", ["a"], op="output", target="output")]
    model = fx_model(nodes)
    assert [(node.id, node.chips) for node in model.nodes] == [("n:a", ("arg0_1", "arg1_1", "arg2_1", "+6"))]


def test_a_groups_facts_say_what_flows_in_and_out_and_its_share() -> None:
    nodes = [
        fx("x", op="placeholder", target="x"),
        fx("a", ["x"], "L['self'].up", "Up", meta="f32 2"),
        fx("b", ["a"], "L['self'].up", "Up", meta="f32 3"),
        fx("c", ["b"], meta="f32 4"),
    ]
    facts = {fact.name: fact.value for fact in fx_model(nodes).groups[0].facts}
    assert facts == {
        "share of bytes": pytest.approx((136 + 20) / (136 + 20 + 28)),
        "time by bytes and FLOPs": pytest.approx((136 + 20) / (136 + 20 + 28)),
        "in": "f32[4, 8]",
        "out": "f32[3]",
    }


def test_no_share_is_reported_where_most_shapes_are_symbolic() -> None:
    nodes = [
        fx("x", op="placeholder", target="x"),
        fx("a", ["x"], "L['self'].up", "Up", meta="f32 s27"),
        fx("b", ["a"], "L['self'].up", "Up", meta="f32 s27"),
        fx("c", ["b"], meta="f32 4"),
    ]
    facts = {fact.name: fact.value for fact in fx_model(nodes).groups[0].facts}
    assert facts == {"in": "f32[4, 8]", "out": "f32[s27]"}


def test_a_group_that_much_flows_into_names_the_first_values() -> None:
    inputs = [fx(f"x{i}", op="placeholder", target=f"x{i}", meta=f"f32 {i + 1}") for i in range(5)]
    nodes = [
        *inputs,
        fx("a", [node.name for node in inputs], "L['self'].up", "Up"),
        fx("b", ["a"], "L['self'].up", "Up"),
    ]
    facts = {fact.name: fact.value for fact in fx_model(nodes).groups[0].facts}
    assert facts["in"] == "f32[1], f32[2], f32[3] and 2 more"


def test_overlays_say_none_for_what_was_not_recorded() -> None:
    nodes = [fx("a", meta="f32 s0 8"), fx("b", ["a"], meta=None), fx("c", ["b"], "L['self'].n", "Norm", meta="bf16 4")]
    model = fx_model(nodes, partition={"a": "saved"}, errors={"b": 1e-3})
    assert overlay(model, "shapes") == ("dynamic: s0", None, "static")
    assert overlay(model, "dtype") == ("f32", None, "bf16")
    assert overlay(model, "module") == (None, None, "Norm")
    assert overlay(model, "kernel") == (None, None, None)
    assert overlay(model, "bytes") == (None, None, None)
    assert overlay(model, "partition") == ("saved", None, None)
    assert overlay(model, "error") == (None, 1e-3, None)
    assert [item.name for item in fx_model(nodes).overlays][-1] == "shapes"


def test_a_film_keeps_the_frames_of_nodes_and_edges() -> None:
    model = film_model(
        [(fx("a"), ((0, 3),)), (fx("b", ["a"]), ((1, 3),))], [("a", "b", ((1, 3),)), ("gone", "b", ((0, 1),))]
    )
    assert [node.frames for node in model.nodes] == [((0, 3),), ((1, 3),)]
    assert [(edge.source, edge.target, edge.frames) for edge in model.edges] == [(0, 1, ((1, 3),))]


def test_a_version_of_a_node_is_called_as_the_node_is() -> None:
    x, a = fx("x", op="placeholder", target="arg"), fx("a", ["x"], target="torch.ops.aten.relu.default")
    later = fx("a", ["x"], target="torch.ops.aten.gelu.default")
    model = film_model([(x, ()), (a, ())], [], states={"x": ((0, x),), "a": ((0, a), (2, later))})
    assert [[(version.frame, version.label) for version in node.versions] for node in model.nodes] == [
        [(0, "x")],
        [(0, "relu"), (2, "gelu")],
    ]


def test_the_digest_shows_content_and_nothing_else() -> None:
    nodes = synthetic_nodes(300)
    assert digest(fx_model(nodes)) == digest(fx_model(nodes))
    assert digest(fx_model(nodes)) != digest(fx_model(nodes[:-1]))
    assert digest(fx_model(nodes), {"k": "#fff"}) != digest(fx_model(nodes), {"k": "#000"})


MODULES = st.sampled_from(
    ["", "L['self']", *(f"L['self'].{path}" for path in ("a", "a.b", "l.0", "l.1", "l.1.x", "l.2"))]
)


@st.composite
def fx_graphs(draw: st.DrawFn) -> list[FxNode]:
    """Up to 40 nodes in any modules, each reading up to three earlier ones."""
    modules = draw(st.lists(MODULES, min_size=1, max_size=40))
    nodes = []
    for index, module in enumerate(modules):
        reads = draw(st.sets(st.integers(0, index - 1), max_size=3)) if index else set()
        nodes.append(fx(f"n{index}", [f"n{read}" for read in sorted(reads)], module, "M" if module else ""))
    return nodes


@settings(max_examples=60)
@given(fx_graphs())
def test_every_node_and_every_edge_is_in_exactly_one_level(nodes: list[FxNode]) -> None:
    model = fx_model(nodes)
    shown = list(levels_below(model, budget_s=0.0))
    assert sorted(item.node for each in shown for item in each.items if item.node >= 0) == list(range(len(nodes)))
    assert sorted(item.group for each in shown for item in each.items if item.group >= 0) == list(
        range(len(model.groups))
    )
    assert sum(edge.count for each in shown for edge in each.edges) == len(model.edges)
    if all(edge.count <= 6 for each in shown for edge in each.edges):
        ends = sorted(pair for each in shown for edge in each.edges for pair in edge.ends)
        assert ends == sorted((edge.source, edge.target) for edge in model.edges)


@settings(max_examples=60)
@given(fx_graphs())
def test_a_group_covers_a_range_of_nodes_and_parents_come_first(nodes: list[FxNode]) -> None:
    model = fx_model(nodes)
    for index, node in enumerate(model.nodes):
        around = [number for number, group in enumerate(model.groups) if group.first <= index < group.last]
        assert (around[-1] if around else -1) == node.group
    for number, group in enumerate(model.groups):
        assert group.parent < number
        assert group.parent == -1 or (
            model.groups[group.parent].first <= group.first and group.last <= model.groups[group.parent].last
        )


@settings(max_examples=30)
@given(fx_graphs())
def test_edges_of_a_level_join_the_items_that_hold_their_ends(nodes: list[FxNode]) -> None:
    model = fx_model(nodes)
    for shown in levels_below(model, budget_s=0.0):
        ranges = [
            (item.node, item.node + 1)
            if item.node >= 0
            else (model.groups[item.group].first, model.groups[item.group].last)
            for item in shown.items
        ]
        for edge in shown.edges:
            for source, target in edge.ends:
                assert ranges[edge.source][0] <= source < ranges[edge.source][1]
                assert ranges[edge.target][0] <= target < ranges[edge.target][1]


def test_items_of_one_rank_share_their_centre() -> None:
    nodes = [fx("a"), fx("b", ["a"]), fx("c", ["a"], meta=None), fx("d", ["b", "c"])]
    items = level(fx_model(nodes), budget_s=10.0).items
    centres = [item.y + item.height / 2 for item in items]
    assert centres[1] == centres[2]
    assert len(set(centres)) == 3

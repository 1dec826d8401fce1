"""Two graphs as one: which nodes are the same, and what became of the others."""

from core.analysis.comparison.graphs import GraphUnion, graph_union
from core.report import FxNode, TensorMeta
from core.report.nodes import Op

F32 = TensorMeta("f32", ("8", "4"))


def graph(*lines: str) -> tuple[FxNode, ...]:
    """Nodes as `name = target(args)`; one without a call is an input."""
    nodes: list[FxNode] = []
    for number, line in enumerate(lines):
        name, _, call = line.partition(" = ")
        target, _, args = call.removesuffix(")").partition("(")
        inputs = tuple(dict.fromkeys(word for word in args.split(", ") if word in {node.name for node in nodes}))
        op: Op = "output" if name == "output" else "call_function" if call else "placeholder"
        nodes.append(FxNode(name, op, target or name, args, inputs, F32, number))
    return tuple(nodes)


def told(found: GraphUnion) -> list[tuple[str, str]]:
    return [(node.name, node.change) for node in found.nodes]


def test_equal_graphs_are_the_same_node_by_node() -> None:
    one = graph("x", "relu = relu(x)", "exp = exp(relu)", "output = output(exp)")
    found = graph_union(one, one)
    assert found.changes() == {"same": 3}
    assert found.edges == (
        ("exp", "output", ((0, 3),)),
        ("relu", "exp", ((0, 3),)),
        ("x", "relu", ((0, 3),)),
    )


def test_a_node_between_others_is_added_and_its_reader_changes() -> None:
    left = graph("x", "relu = relu(x)", "exp = exp(relu)", "output = output(exp)")
    right = graph("x", "relu = relu(x)", "mul = mul(relu, 2)", "exp = exp(mul)", "output = output(exp)")
    found = graph_union(left, right)
    assert told(found) == [
        ("x", "same"),
        ("relu", "same"),
        ("mul", "only right"),
        ("exp", "changed"),
        ("output", "same"),
    ]
    assert [edge for edge in found.edges if edge[2] != ((0, 3),)] == [
        ("relu", "exp", ((0, 2),)),
        ("mul", "exp", ((1, 3),)),
        ("relu", "mul", ((1, 3),)),
    ]


def test_other_names_alone_are_no_difference() -> None:
    left = graph("x", "mul = mul(x, 2)", "mul_1 = mul(mul, 3)", "output = output(mul_1)")
    right = graph("x", "mul_7 = mul(x, 2)", "mul_8 = mul(mul_7, 3)", "output = output(mul_8)")
    assert graph_union(left, right).changes() == {"same": 3}


def test_numbered_inputs_are_what_the_same_nodes_read() -> None:
    left = graph("arg0_1", "arg1_1", "arg2_1", "mul = mul(arg0_1, arg1_1)", "add = add(mul, arg2_1)")
    right = graph("arg0_1", "arg1_1", "mul = sin(arg0_1)", "add = add(mul, arg1_1)")
    found = graph_union(left, right)
    changes = dict(told(found))
    assert (changes["arg0_1"], changes["arg2_1"], changes["add"]) == ("same", "same", "changed")


def test_what_computes_the_same_from_the_same_at_another_place_has_moved() -> None:
    left = graph("x", "sin = sin(x)", "cos = cos(x)", "exp = exp(x)", "output = output(sin, cos, exp)")
    right = graph("x", "cos = cos(x)", "exp = exp(x)", "sin = sin(x)", "output = output(sin, cos, exp)")
    assert graph_union(left, right).changes() == {"same": 3, "moved": 1}


def test_a_name_that_means_another_node_on_the_right_gets_a_name_of_its_own() -> None:
    left = graph("x", "mul = sin(x)", "output = output(mul)")
    right = graph("x", "mul = cos(x)", "output = output(mul)")
    found = graph_union(left, right)
    assert told(found) == [("x", "same"), ("mul", "only left"), ("mul.right", "only right"), ("output", "same")]
    assert ("mul.right", "output", ((1, 3),)) in found.edges


def test_another_shape_is_a_change() -> None:
    left = graph("x", "relu = relu(x)")
    right = tuple(FxNode(n.name, n.op, n.target, n.args, n.inputs, TensorMeta("bf16", ("8", "4")), 1) for n in left)
    assert graph_union(left, right).changes() == {"changed": 2}

"""Graphs as torch prints them, on small literal texts."""

import pytest

from core.report import FxNode, Module, Place, TensorMeta
from core.trace.parsers.fx_text import parse_graph, parse_graphs, parse_meta

PLACE = Place("/m.py", 7, "forward")
X = TensorMeta("f32", ("8", "64"), ("64", "1"), "cpu")


def graph(*lines: str, arguments: str = 'x: "f32[8, 64][64, 1]cpu"') -> tuple[FxNode, ...]:
    """The nodes of a graph of these statements, without its placeholders."""
    body = "\n".join(f"        {line}" for line in lines)
    text = f"class GraphModule(torch.nn.Module):\n    def forward(self, {arguments}):\n{body}\n"
    return tuple(node for node in parse_graph(text) if node.op != "placeholder")


def test_placeholder_takes_the_name_of_its_alias() -> None:
    text = (
        'class GraphModule(torch.nn.Module):\n    def forward(self, L_x_: "f32[8, 64][64, 1]cpu", n: '
        '"Sym(s0)"):\n        l_x_ = L_x_\n        return (l_x_,)\n'
    )
    assert parse_graph(text) == (
        FxNode("n", "placeholder", "n", "", (), None, 2),
        FxNode("l_x_", "placeholder", "L_x_", "", (), X, 2),
        FxNode("output", "output", "output", "(l_x_,)", ("l_x_",), None, 4),
    )


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("y = torch.relu(x);  x = None", FxNode("y", "call_function", "torch.relu", "x", ("x",), None, 3)),
        ('y: "f32[8]cpu" = x.sum(1, keepdim = True)',
         FxNode("y", "call_method", "sum", "x, 1, keepdim = True", ("x",), TensorMeta("f32", ("8",), (), "cpu"), 3)),
        ("y = x.relu()", FxNode("y", "call_method", "relu", "x", ("x",), None, 3)),
        ("y = self.layers_0(x)",
         FxNode("y", "call_module", "layers_0", "x", ("x",), None, 3)),
        ('y = getattr(getattr(self.layers, "0").mlp, "1")(x)',
         FxNode("y", "call_module", "layers.0.mlp.1", "x", ("x",), None, 3)),
        ('y = getattr(self, "0")', FxNode("y", "get_attr", "0", "", (), None, 3)),
        ('y = getattr(self.layers, "0").weight', FxNode("y", "get_attr", "layers.0.weight", "", (), None, 3)),
        ('y = getattr(x, "shape")', FxNode("y", "call_function", "getattr", 'x, "shape"', ("x",), None, 3)),
        ("y = self.weight", FxNode("y", "get_attr", "weight", "", (), None, 3)),
        ("y = self.block.weight", FxNode("y", "get_attr", "block.weight", "", (), None, 3)),
        ("y = x + 1", FxNode("y", "call_function", "operator.add", "x + 1", ("x",), None, 3)),
        ("y = 2 ** x", FxNode("y", "call_function", "operator.pow", "2 ** x", ("x",), None, 3)),
        ("y = x @ x", FxNode("y", "call_function", "operator.matmul", "x @ x", ("x",), None, 3)),
        ("y = -x", FxNode("y", "call_function", "operator.neg", "-x", ("x",), None, 3)),
        ("y = x >= 0", FxNode("y", "call_function", "operator.ge", "x >= 0", ("x",), None, 3)),
        ("y = x & x", FxNode("y", "call_function", "operator.and_", "x & x", ("x",), None, 3)),
        ("y = x[(slice(None, 2, None), 0)]",
         FxNode("y", "call_function", "operator.getitem", "x[(slice(None, 2, None), 0)]", ("x",), None, 3)),
        ("y = x.shape", FxNode("y", "call_function", "builtins.getattr", "x.shape", ("x",), None, 3)),
        ("y = torch.ops.aten.mul.Tensor(x, x)",
         FxNode("y", "call_function", "torch.ops.aten.mul.Tensor", "x, x", ("x",), None, 3)),
        ("y = torch.cond(x, self.a, self.b, (x,))",
         FxNode("y", "call_function", "torch.cond", "x, self.a, self.b, (x,)", ("x",), None, 3)),
        ("y = torch.f(x, 'é')", FxNode("y", "call_function", "torch.f", "x, 'é'", ("x",), None, 3)),
        ("y = torch.f(2, other = [x])", FxNode("y", "call_function", "torch.f", "2, other = [x]", ("x",), None, 3)),
        ("y = torch.f(x,\n            dim = 1)", FxNode("y", "call_function", "torch.f", "x, dim=1", ("x",), None, 3)),
    ],
)  # fmt: skip
def test_statement_is_a_node(statement: str, expected: FxNode) -> None:
    assert graph(statement) == (expected,)


def test_in_place_operator_is_the_node_that_is_named_after_it() -> None:
    found = graph("y = torch.sin(x)", "y += x", 'iadd: "f32[8, 64][64, 1]cpu" = y;  y = None', "return (iadd,)")
    assert found[1:] == (
        FxNode("iadd", "call_function", "operator.iadd", "y, x", ("y", "x"), X, 5),
        FxNode("output", "output", "output", "(iadd,)", ("iadd",), None, 6),
    )


def test_item_assignment_is_the_node_that_is_named_after_it() -> None:
    found = graph("y = torch.sin(x)", "x[(0, 1)] = y;  setitem = x;  x = y = setitem = None")
    assert found[1:] == (FxNode("setitem", "call_function", "operator.setitem", "x, y", ("x", "y"), None, 4),)


@pytest.mark.parametrize(
    "before",
    [
        "",
        "Annotation: {'a': True} ",
        "ac_graph_id: 2 - PREFER_RECOMPUTE ",
        "recompute: MUST_SAVE ",
        "Annotation: {'a': 1} ac_graph_id: 1 ",
        "seq_nr: 4 # ",
    ],
)
def test_line_is_read_whatever_torch_says_before_it(before: str) -> None:
    head = ("# File: /m.py:3 in g, code: z = 1", "z = x.cos()")
    found = graph(*head, f"# {before}File: /m.py:7 in f, code: y = x.sin() # File: no", "y = x.sin()")
    assert (found[1].source, found[1].code) == (Place("/m.py", 7, "f"), "y = x.sin() # File: no")


def test_recomputed_node_without_a_stack_has_no_line() -> None:
    head = ("# File: /m.py:3 in g, code: z = 1", "z = x.cos()")
    found = graph(*head, "# ac_graph_id: 2 - MUST_SAVE No stacktrace found for following nodes", "y = x.sin()")
    assert (found[1].source, found[1].code) == (None, "")


def test_node_knows_the_line_in_the_comment_above_it() -> None:
    found = graph(
        "# File: /m.py:7 in forward, code: y = x.relu()  # é",
        "y = x.relu()",
        "z = y.sin()",
        "# No stacktrace found for following nodes",
        "w = z.cos()",
    )
    assert [(node.source, node.code) for node in found] == [
        (PLACE, "y = x.relu()  # é"), (PLACE, "y = x.relu()  # é"), (None, ""),
    ]  # fmt: skip


def test_graph_is_the_outermost_of_nested_modules() -> None:
    text = """class GraphModule(torch.nn.Module):
    def forward(self, x):
        y = self.body(x)
        return (y,)

    class body(torch.nn.Module):
        def forward(self, a):
            b = a.sin()
            return (b,)
"""
    assert [node.name for node in parse_graph(text)] == ["x", "y", "output"]
    assert [[node.name for node in nodes] for nodes in parse_graphs(text)] == [
        ["x", "y", "output"],
        ["a", "b", "output"],
    ]


def test_the_attribute_of_a_nested_graph_has_its_nodes() -> None:
    text = """class GraphModule(torch.nn.Module):
    def forward(self, x):
        body = self.body
        y = torch.ops.higher_order.invoke_subgraph(body, 'body', x)
        return (y,)

    class body(torch.nn.Module):
        def forward(self, a):
            branch = self.branch
            b = a.sin()
            return (b,)

        class branch(torch.nn.Module):
            def forward(self, a):
                return (a,)
"""
    (body,) = (node for node in parse_graph(text) if node.op == "get_attr")
    assert [node.name for node in body.graph] == ["a", "branch", "b", "output"]
    assert [node.name for node in body.graph[1].graph] == ["a", "output"]


def test_lambda_class_and_bare_function_are_graphs_too() -> None:
    body = "    def forward(self, x):\n        return (x,)\n"
    assert [node.op for node in parse_graph("class <lambda>(torch.nn.Module):\n" + body)] == ["placeholder", "output"]
    assert [node.op for node in parse_graph("def forward(self, x):\n    return (x,)\n")] == ["placeholder", "output"]


def test_modules_are_given_to_their_nodes() -> None:
    text = "def forward(self, x):\n    y = x.sin()\n    return (y,)\n"
    nodes = parse_graph(text, {"y": Module("L['self'].up", "Linear")})
    assert [(node.module, node.module_class) for node in nodes] == [
        ("", ""), ("L['self'].up", "Linear"), ("", ""),
    ]  # fmt: skip


def test_of_a_module_path_and_class_one_alone_is_kept() -> None:
    text = "def forward(self, x):\n    y = x.sin()\n    z = y.cos()\n    return (z,)\n"
    nodes = parse_graph(text, {"y": Module("", "MLP"), "z": Module("L['self'].up", "")})
    assert [(node.module, node.module_class) for node in nodes[1:3]] == [("", "MLP"), ("L['self'].up", "")]


@pytest.mark.parametrize("text", ["", "pass", "x = 1"])
def test_text_without_a_forward_is_no_graph(text: str) -> None:
    assert parse_graph(text) == ()


def test_text_that_is_no_python_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        parse_graph("def forward(:")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("f32[8, 64][64, 1]cpu", X),
        ("f32[][]cuda:0", TensorMeta("f32", (), (), "cuda:0")),
        ("bf16[s0, 2*s1]", TensorMeta("bf16", ("s0", "2*s1"))),
        ("Sym(s0)", None),
        ("", None),
    ],
)
def test_meta_is_read(text: str, expected: TensorMeta | None) -> None:
    assert parse_meta(text) == expected

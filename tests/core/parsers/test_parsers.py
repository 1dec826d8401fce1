"""The parsers: golden reports of recorded traces, and each text format on small literal inputs."""

import json
from pathlib import Path
from typing import Any

import pytest

from core import build_report, from_json, load_graph, to_json
from core.code.output_code import FoundKernel, direction, find_kernels
from core.parsers import parse_graph
from core.parsers.dynamo import parse_graph_break, parse_recompile_reasons
from core.parsers.fx_text import parse_graphs, parse_meta
from core.report import Frame, FxNode, GraphBreak, Phase, Place, TensorMeta
from tests.support.places import TRACES

SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))
PLACE = Place("/m.py", 7, "forward")
X = TensorMeta("f32", ("8", "64"), ("64", "1"), "cpu")


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_trace_gives_the_golden_report(scenario: str) -> None:
    golden = from_json((TRACES / scenario / "report.json").read_bytes())
    assert build_report(TRACES / scenario / "trace.log", strict=True) == golden
    assert golden.problems == ()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_report_survives_json(scenario: str) -> None:
    report = build_report(TRACES / scenario / "trace.log")
    assert from_json(to_json(report)) == report
    assert from_json(to_json(report, indent=2)) == report


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_graph_of_a_trace_has_its_nodes(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    for compilation in build_report(log).compilations:
        for graph in compilation.graphs:
            nodes = load_graph(log, compilation, graph)
            names = {node.name for node in nodes}
            assert sum(node.op.startswith("call_") for node in nodes) == graph.calls
            assert [node.op for node in nodes].count("output") == 1
            assert all(set(node.inputs) <= names for node in nodes)


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


def test_lambda_class_and_bare_function_are_graphs_too() -> None:
    body = "    def forward(self, x):\n        return (x,)\n"
    assert [node.op for node in parse_graph("class <lambda>(torch.nn.Module):\n" + body)] == ["placeholder", "output"]
    assert [node.op for node in parse_graph("def forward(self, x):\n    return (x,)\n")] == ["placeholder", "output"]


def test_modules_are_given_to_their_nodes() -> None:
    text = "def forward(self, x):\n    y = x.sin()\n    return (y,)\n"
    assert [(node.module, node.module_class) for node in parse_graph(text, {"y": ("L['self'].up", "Linear")})] == [
        ("", ""), ("L['self'].up", "Linear"), ("", ""),
    ]  # fmt: skip


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


def test_graph_break_is_read() -> None:
    text = """Graph break in user code at /m.py:9
Graph Break Reason: Call to `torch._dynamo.graph_break()`
  Explanation: User-inserted graph break.
    Message: None
  Hint: Remove the call.
  Hint: Or keep it.

  Developer debug context: Called with args `[]`

 For more details about this graph break, please visit: https://example.org/gb/gb0025.html

User code traceback:
  File "/m.py", line 20, in outer
    return inner(x)
           ^^^^^^^^
  File "/m.py", line 9, in inner
    torch._dynamo.graph_break()
"""
    stack = (Frame("/m.py", 20, "outer", "return inner(x)"), Frame("/m.py", 9, "inner", "torch._dynamo.graph_break()"))
    assert parse_graph_break(text) == GraphBreak(
        reason="Call to `torch._dynamo.graph_break()`",
        explanation="User-inserted graph break. Message: None",
        hints=("Remove the call.", "Or keep it."),
        context="Called with args `[]`",
        registry_id="GB0025",
        file="/m.py",
        line=9,
        code="torch._dynamo.graph_break()",
        stack=stack,
        compilations=(),
    )


@pytest.mark.parametrize("text", ["", "something else", "\n\n"])
def test_graph_break_of_another_form_is_kept_as_text(text: str) -> None:
    found = parse_graph_break(text)
    assert (found.reason, found.file, found.line, found.stack) == (text.strip(), "", 0, ())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('["0/0: size mismatch. expected 8, actual 16", "[0/1]: n == '
         '2"]', [("0/0", "size mismatch. expected 8, actual 16"), ("0/1", "n == 2")]),
        ("0/1: first\n  goes on\n0/0: second", [("0/1", "first\n  goes on"), ("0/0", "second")]),
        ('"!2/0/1: x"', [("!2/0/1", "x")]),
        ("no id", [("", "no id")]),
        ("", [("", "")]),
    ],
)  # fmt: skip
def test_recompile_reasons_are_read(text: str, expected: list[tuple[str, str]]) -> None:
    assert parse_recompile_reasons(text) == expected


CPP = """# AOT ID: ['0_inference']
import torch
cpp_fused_relu_0 = async_compile.cpp_pybinding(['const float*', 'float*'], r'''
extern "C" void kernel() {}
''')


async_compile.wait(globals())
def call(args):
    # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.addmm]
    # [Provenance debug handles] extern_kernels.addmm:1
    extern_kernels.addmm(arg0, arg1, out=buf0)
    buf1, buf2 = torch.ops.aten.sort.default(buf0)
    buf3 = torch.ops.aten.view_as_real.default(buf1)
    buf4 = torch.ops.aten._conj.default(buf1)
    reinterpret = torch.ops.inductor._reinterpret_tensor(buf0, (8,))
    # [Provenance debug handles] cpp_fused_relu_0:2
    cpp_fused_relu_0(buf0)
    cpp_fused_relu_0(buf1)
"""
TRITON = """# AOT ID: ['3_backward']
triton_per_fused_sum_1 = async_compile.triton('triton_per_fused_sum_1', '''
@triton_heuristics.persistent_reduction(
    size_hints={'x': 8},
)
''', device_str='cuda')

def call(args):
        triton_per_fused_sum_1.run(arg0, buf0, 8, stream=stream0)
"""


@pytest.mark.parametrize(
    ("text", "way", "expected"),
    [
        (CPP, "inference", [
            FoundKernel("cpp_fused_relu_0", "cpp", False, "C++ loops", 3, 5, [18, 19], [2]),
            FoundKernel("extern_kernels.addmm", "extern", True, "extern", 12, 12, [12], [1]),
            FoundKernel("torch.ops.aten.sort.default", "extern", True, "extern", 13, 13, [13], []),
        ]),
        (
            TRITON,
            "backward",
            [FoundKernel("triton_per_fused_sum_1", "triton", False, "persistent reduction", 2, 6, [9], [])],
        ),
        ("", "", []),
    ],
    ids=["cpp", "triton", "empty"],
)  # fmt: skip
def test_kernels_are_found_in_output_code(text: str, way: str, expected: list[FoundKernel]) -> None:
    assert direction(text) == way
    assert find_kernels(text) == expected


def phases(tmp_path: Path, *events: dict[str, Any]) -> tuple[Phase, ...]:
    head = "V1121 03:34:01.171000 5351 torch/_dynamo/utils.py:1] "
    log = tmp_path / "events.log"
    log.write_text("".join(f"{head}{json.dumps({'chromium_event': {'tid': 0, **event}})}\n" for event in events))
    return build_report(log, strict=True).phases


def event(kind: str, name: str, ts: float, **args: str) -> dict[str, Any]:
    return {"ph": kind, "name": name, "ts": ts, "args": args}


def test_phases_nest(tmp_path: Path) -> None:
    events = [event("B", "a", 1, compile_id="0/0"), event("B", "b", 2), event("E", "b", 3), event("E", "a", 4)]
    assert phases(tmp_path, *events) == (Phase("a", "0/0", 1, 4, 0), Phase("b", "0/0", 2, 3, 1))


def test_phase_that_never_ends_has_no_end(tmp_path: Path) -> None:
    assert phases(tmp_path, event("B", "a", 1), event("B", "b", 2), event("E", "b", 3)) == (
        Phase("a", "", 1, None, 0), Phase("b", "", 2, 3, 1),
    )  # fmt: skip


def test_phase_that_was_left_open_ends_with_the_one_around_it(tmp_path: Path) -> None:
    found = phases(tmp_path, event("B", "a", 1), event("B", "b", 2), event("E", "a", 3), event("E", "b", 4))
    assert found == (Phase("a", "", 1, 3, 0), Phase("b", "", 2, 3, 1))


def test_phases_of_threads_are_apart(tmp_path: Path) -> None:
    other = {"tid": 1}
    found = phases(
        tmp_path, event("B", "a", 1), event("B", "b", 2) | other, event("E", "a", 3), event("E", "b", 4) | other
    )
    assert found == (Phase("a", "", 1, 3, 0), Phase("b", "", 2, 4, 2, thread=1))


def test_what_threads_do_beside_a_phase_does_not_end_it(tmp_path: Path) -> None:
    here = {"compile_id": "0/0"}
    nowhere = {"compile_id": "None"}
    found = phases(
        tmp_path,
        event("B", "load", 1, **here),
        event("B", "file", 2, **here),
        event("E", "file", 3, **here),
        event("B", "file", 4, **nowhere),
        event("B", "wait", 5, **here),
        event("B", "file", 6, **nowhere),
        event("E", "file", 7, **nowhere),
        event("B", "file", 8, **nowhere),
        event("E", "file", 9, **nowhere),
        event("E", "file", 10, **nowhere),
        event("E", "wait", 11, **here),
        event("E", "load", 12, **here),
    )
    assert found == (
        Phase("load", "0/0", 1, 12, 0),
        Phase("file", "0/0", 2, 3, 1),
        Phase("file", "0/0", 4, 7, 2, thread=1),
        Phase("wait", "0/0", 5, 11, 1),
        Phase("file", "0/0", 6, 9, 4, thread=2),
        Phase("file", "0/0", 8, 10, 3, thread=1),
    )

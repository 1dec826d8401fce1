"""Graphs that a library dumps under its own names, in each form in which torch prints a graph."""

from pathlib import Path

import pytest

from core import build_report
from core.analysis.film import film
from core.report import Compilation, FxNode, TensorMeta
from core.trace.parsers.build import load_graph
from core.trace.parsers.fx_text import is_printed_graph, parse_graph
from core.views.fx_graph import GraphStages
from tests.support.logs import record

READABLE = """class <lambda>(torch.nn.Module):
    def forward(self, x: "f32[8][1]cpu"):
        # No stacktrace found for following nodes
        sin: "f32[8][1]cpu" = torch.ops.aten.sin.default(x);  x = None
        return (sin,)"""
LISTING = """graph():
    %x : [num_users=1] = placeholder[target=x]
    %y : torch.Tensor [num_users=0] = placeholder[target=y](default=3)
    %p : [num_users=1] = get_attr[target=block.p]
    %gelu : [#users=1] = call_function[target=torch.ops.aten.gelu.default](args = (%x,), kwargs = {approximate: tanh})
    %cat : [num_users=1] = call_method[target=sum](args = (%gelu, [0], %p), kwargs = {})
    return (cat,)"""
TABLE = """opcode         name    target                args               kwargs
-------------  ------  --------------------  -----------------  -----------------------
placeholder    x_1     x_1                   ()                 {}
call_function  gelu    aten.gelu.default     (x_1,)             {'approximate': 'tanh'}
call_function  sum_1   aten.sum.dim_IntList  (gelu, [0], True)  {}
output         output  output                ((sum_1,),)        {}"""
PROGRAM = """ExportedProgram:
    class GraphModule(torch.nn.Module):
        def forward(self, x: "f32[8]"):
            # File: /m.py:7 in forward, code: return x.sin()
            sin: "f32[8]" = torch.ops.aten.sin.default(x);  x = None
            return (sin,)

Graph signature:
    # inputs
    x: USER_INPUT
Range constraints: {u0: VR[0, 4]}
"""


def dumped(folder: Path, *records: tuple[str, str]) -> Compilation:
    """The one compilation of a log with these graphs by name."""
    log = folder / "trace.log"
    ids = {"frame_id": 0, "frame_compile_id": 0}
    log.write_bytes(b"".join(record({"graph_dump": {"name": name}, **ids}, text) for name, text in records))
    (compilation,) = build_report(log, strict=True).compilations
    return compilation


def test_a_listing_has_the_nodes_that_python_code_has() -> None:
    assert parse_graph(LISTING) == (
        FxNode("x", "placeholder", "x", "", (), None, 2),
        FxNode("y", "placeholder", "y", "", (), None, 3),
        FxNode("p", "get_attr", "block.p", "", (), None, 4),
        FxNode("gelu", "call_function", "torch.ops.aten.gelu.default", "x, approximate: tanh", ("x",), None, 5),
        FxNode("cat", "call_method", "sum", "gelu, [0], p", ("gelu", "p"), None, 6),
        FxNode("output", "output", "output", "(cat,)", ("cat",), None, 7),
    )


def test_a_table_has_the_nodes_that_python_code_has() -> None:
    assert parse_graph(TABLE) == (
        FxNode("x_1", "placeholder", "x_1", "", (), None, 3),
        FxNode("gelu", "call_function", "aten.gelu.default", "x_1, 'approximate': 'tanh'", ("x_1",), None, 4),
        FxNode("sum_1", "call_function", "aten.sum.dim_IntList", "gelu, [0], True", ("gelu",), None, 5),
        FxNode("output", "output", "output", "(sum_1,)", ("sum_1",), None, 6),
    )


def test_the_graph_of_an_exported_program_keeps_its_lines() -> None:
    (x, sin, output) = parse_graph(PROGRAM)
    assert (x.line, sin.line, output.line) == (3, 5, 6)
    assert (sin.target, sin.meta, sin.code) == (
        "torch.ops.aten.sin.default",
        TensorMeta("f32", ("8",)),
        "return x.sin()",
    )


@pytest.mark.parametrize("text", [READABLE, LISTING, TABLE, PROGRAM, f"# graph 0\n{READABLE}", f"\n{LISTING}"])
def test_a_printed_graph_is_known_by_its_beginning(text: str) -> None:
    assert is_printed_graph(text)


@pytest.mark.parametrize(
    "text", ["", "graph", "class A:\n    pass", "def _runtime_wrapper(args):", '{"a": 1}', "%x : "]
)
def test_other_texts_are_no_graphs(text: str) -> None:
    assert not is_printed_graph(text)


def test_a_dumped_graph_is_drawn_under_its_own_name(tmp_path: Path) -> None:
    compilation = dumped(tmp_path, ("vllm_piecewise split", READABLE), ("listed", LISTING), ("listed", TABLE))
    assert [(graph.id, graph.name, graph.stage, graph.calls) for graph in compilation.graphs] == [
        ("vllm_piecewise_split", "vllm_piecewise split", "dumped", 1),
        ("listed", "listed", "dumped", 2),
        ("listed.2", "listed", "dumped", 2),
    ]
    nodes = load_graph(tmp_path / "trace.log", compilation, compilation.graphs[1])
    assert [node.name for node in nodes] == ["x", "y", "p", "gelu", "cat", "output"]
    (group,) = GraphStages(compilation.graphs).groups
    assert (group.label, len(group.graphs)) == ("dumped", 3)
    assert GraphStages.describe(compilation.graphs[0]) == "dumped as vllm_piecewise split"


def test_the_graphs_that_ddp_splits_are_drawn_too(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    ids = {"frame_id": 0, "frame_compile_id": 0}
    split = record({"optimize_ddp_split_graph": {}, **ids}, READABLE)
    log.write_bytes(split + record({"optimize_ddp_split_child": {"name": "submod_0"}, **ids}, READABLE))
    (compilation,) = build_report(log, strict=True).compilations
    assert [graph.name for graph in compilation.graphs] == ["optimize_ddp_split_graph", "submod_0"]


def test_a_record_that_is_no_graph_stays_unread(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    config = record({"artifact": {"name": "settings_of_mine", "encoding": "json"}}, '{"a": 1}')
    code = record({"graph_dump": {"name": "inductor_aot_header_code", "type": "cpp"}}, "#include <a>")
    log.write_bytes(config + code)
    report = build_report(log, strict=True)
    assert report.compilations == ()
    assert report.unparsed == {"artifact:settings_of_mine": 1, "graph_dump:inductor_aot_header_code": 1}


def test_dumps_around_passes_are_steps_of_one_film(tmp_path: Path) -> None:
    changed = READABLE.replace("sin", "cos")
    other = READABLE.replace("x", "grad")
    compilation = dumped(
        tmp_path,
        ("before_fusion", READABLE),
        ("split", READABLE),
        ("after_fusion", changed),
        ("02_reorder", READABLE),
        ("submod_0", other),
    )
    (segment,) = film(compilation, lambda graph: load_graph(tmp_path / "trace.log", compilation, graph))
    assert segment.id == "dumped"
    assert [(frame.title, frame.added, frame.removed) for frame in segment.frames] == [
        ("before_fusion", (), ()),
        ("after_fusion", ("cos",), ("sin",)),
        ("02_reorder", ("sin",), ("cos",)),
    ]

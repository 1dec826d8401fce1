"""Logs whose records have no compile id: exports, and packages ahead of time; and older names of a record."""

import json
from pathlib import Path

import pytest

from core import build_report
from core.analysis.findings import findings
from core.analysis.verdict import verdict
from core.analysis.work import captured_ops
from core.report import Report
from core.trace.index import index_of
from core.trace.parsers.build import build_in_parts
from core.views.verdict import sentence
from tests.support.logs import record
from tests.support.places import TRACES

IDS = ("frame_id", "frame_compile_id", "attempt")
FX = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2]"):
        sin: "f32[2]" = torch.sin(x)
        return (sin,)"""


ROOTS = {
    "-": "torch_dynamo_resume_in_forward_at_15",
    "-.2": "torch_dynamo_resume_in_forward_at_17",
    "-.3": "forward",
    "-.4": "torch_dynamo_resume_in_forward_at_15",
    "-.5": "torch_dynamo_resume_in_forward_at_17",
    "-.6": "torch_dynamo_resume_in_forward_at_17",
}


def read(tmp_path: Path, *records: bytes) -> Report:
    log = tmp_path / "trace.log"
    log.write_bytes(b"".join(records))
    return build_report(log, strict=True)


def without_ids(scenario: str) -> list[bytes]:
    """A recorded log as torch writes it where Dynamo has no part: without its records and without ids."""
    found = []
    for line in (TRACES / scenario / "trace.log").read_bytes().split(b"\n"):
        prefix, mark, rest = line.partition(b"] {")
        if not mark or line.startswith(b"\t"):
            found.append(line)
            continue
        header = json.loads(b"{" + rest)
        found.append(prefix + b"] " + json.dumps({k: v for k, v in header.items() if k not in IDS}).encode())
    return [b"\n".join(found)]


def test_records_without_compile_ids_are_divided_where_another_graph_begins(tmp_path: Path) -> None:
    named = build_report(TRACES / "foreign" / "trace.log")
    report = read(tmp_path, *without_ids("foreign"))
    assert [(one.id, one.status, one.frame.name) for one in report.compilations] == [
        (id_, "ok", name) for id_, name in ROOTS.items()
    ]
    graphs, kernels = (
        [sum(len(getattr(one, name)) for one in logged.compilations) for logged in (report, named)]
        for name in ("graphs", "kernels")
    )
    assert (graphs[0], kernels[0]) == (graphs[1], kernels[1])
    assert report.unparsed == named.unparsed


def test_a_record_that_belongs_to_nothing_counts_as_not_shown(tmp_path: Path) -> None:
    metrics = record({"compilation_metrics": {"co_name": "f"}})
    symbol = record({"create_unbacked_symbol": {"symbol": "u0", "vr": "[0, 1]", "user_stack": [], "stack": []}})
    mapping = {"artifact": {"name": "inductor_provenance_tracking_node_mappings", "encoding": "json"}}
    report = read(tmp_path, metrics, symbol, record(mapping, '{"cppCodeToPost": {}}'))
    assert report.compilations == ()
    assert report.unparsed == report.kinds
    graph = record({"aot_inference_graph": {}}, FX)
    placed = read(tmp_path, metrics, symbol, record(mapping, '{"cppCodeToPost": {}}'), graph)
    assert [compilation.id for compilation in placed.compilations] == ["-"]
    assert placed.unparsed == {"artifact:inductor_provenance_tracking_node_mappings": 1}


def phase(name: str, kind: str, at_s: float) -> bytes:
    return record({"chromium_event": {}}, json.dumps({"name": name, "ph": kind, "ts": at_s * 1e6, "args": {}}))


EXPORTED = "ExportedProgram:\n" + "\n".join(f"    {line}" for line in FX.split("\n")) + "\nGraph signature:\n"
SYMBOL = {"symbol": "s0", "vr": "[2, 8]", "user_stack": [], "source": "L['x'].size()[0]", "val": "4"}
EXPORTER = {"stack": [{"filename": "/torch/export/_trace.py", "line": 9, "name": "_export"}]}
KERNELS = """extern "C"  void  cpp_fused_sin_0(const float* in_ptr0,
                       float* out_ptr0);
extern "C"  void  cpp_fused_sin_0(const float* in_ptr0,
                       float* out_ptr0)
{
    {
    }
}"""
WRAPPER = """    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(buf0, arg0_1));
        launchKernel(kernels.triton_poi_fused_0, grid, stream);
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_cpu_addmm_out(buf1, buf0));"""


def code(name: str, text: str) -> bytes:
    return record({"graph_dump": {"name": name, "type": "cpp"}}, text)


@pytest.mark.parametrize(
    ("records", "name", "words"),
    [
        ([record({"exported_program": {}}, EXPORTED)], "export", "Export without Dynamo: 1 graph."),
        (
            [record({"create_symbol": SYMBOL | EXPORTER})],
            "export",
            "Export without Dynamo: its graph was not recorded, which TORCH_DTRACE does.",
        ),
        ([record({"aot_inference_graph": {}}, FX)], "AOTAutograd", "AOTAutograd without Dynamo: 1 graph."),
        (
            [record({"artifact": {"name": "after_post_grad_graph"}}, FX), code("inductor_aot_kernel_code", KERNELS)],
            "AOTInductor",
            "AOTInductor without Dynamo: 1 graph, 1 op fused into 1 kernel.",
        ),
        (
            [record({"artifact": {"name": "after_post_grad_graph"}}, FX)],
            "Inductor",
            "Inductor without Dynamo: 1 graph.",
        ),
        (
            [record({"graph_dump": {"name": "mine"}}, FX)],
            "graphs",
            "Graphs without Dynamo: 1 graph.",
        ),
    ],
)
def test_what_dynamo_has_no_part_in_is_named_after_what_compiled_it(
    tmp_path: Path, records: list[bytes], name: str, words: str
) -> None:
    report = read(tmp_path, *records)
    assert [(compilation.frame.name, compilation.status) for compilation in report.compilations] == [
        (name, "ok" if report.compilations[0].graphs else "empty")
    ]
    assert sentence(verdict(report)) == words


def test_an_export_ends_with_its_program_and_what_follows_is_another_compilation(tmp_path: Path) -> None:
    program = record({"exported_program": {}}, EXPORTED)
    lowered = [record({"aot_inference_graph": {}}, FX), record({"artifact": {"name": "after_post_grad_graph"}}, FX)]
    symbol = record({"create_symbol": SYMBOL | EXPORTER})
    report = read(tmp_path, symbol, program, *lowered, *lowered, symbol, program)
    assert [(one.id, [graph.id for graph in one.graphs], len(one.symbols)) for one in report.compilations] == [
        ("export", ["exported_program"], 1),
        ("-", ["aot_inference_graph", "inductor_post_grad_graph"], 0),
        ("-.2", ["aot_inference_graph", "inductor_post_grad_graph"], 1),
        ("export.2", ["exported_program"], 0),
    ]


def test_a_strict_export_is_finished_by_metrics_without_an_id(tmp_path: Path) -> None:
    captured = record({"dynamo_output_graph": {}, "frame_id": 0, "frame_compile_id": 0}, FX)
    metrics = record({"compilation_metrics": {}})
    assert [one.status for one in read(tmp_path, captured).compilations] == ["not finished"]
    whole = read(tmp_path, captured, metrics)
    assert [(one.status, one.frame.name) for one in whole.compilations] == [("ok", "strict export")]
    assert build_in_parts(index_of(tmp_path / "trace.log", None), lambda compilation: compilation) == whole


def test_what_compiled_autograd_captured_has_its_id(tmp_path: Path) -> None:
    captured = record({"compiled_autograd_graph": {}, "compiled_autograd_id": 0}, FX)
    compiled = record({"dynamo_output_graph": {}, "compiled_autograd_id": 0, "frame_id": 1, "frame_compile_id": 0}, FX)
    report = read(tmp_path, captured, compiled)
    assert [(one.id, one.frame.name, one.status) for one in report.compilations] == [
        ("!0", "compiled autograd !0", "ok"),
        ("!0/1/0", "", "not finished"),
    ]
    assert verdict(report).graphs == 1


def test_the_kernels_of_a_package_are_those_that_its_code_defines_and_calls(tmp_path: Path) -> None:
    graph = record({"artifact": {"name": "after_post_grad_graph"}}, FX)
    logged = [code("inductor_aot_wrapper_code", WRAPPER), code("inductor_aot_kernel_code", KERNELS)]
    (package,) = read(tmp_path, graph, *logged).compilations
    assert [(kernel.name, kernel.language, kernel.lines, kernel.call_lines) for kernel in package.kernels] == [
        ("aoti_torch_cpu_addmm_out", "extern", (1, 1), (1, 3)),
        ("triton_poi_fused_0", "triton", (2, 2), (2,)),
        ("cpp_fused_sin_0", "cpp", (3, 8), ()),
    ]
    assert {kernel.graph for kernel in package.kernels} == {"inductor_post_grad_graph.inference"}
    mapped = {
        "aoti_torch_cpu_addmm_out:1": ["addmm"],
        "cpp_fused_sin_0:2": ["sin"],
        "aoti_torch_cpu_addmm_out:3": ["mm"],
    }
    name = "inductor_provenance_tracking_node_mappings"
    mapping = record({"artifact": {"name": name, "encoding": "json"}}, json.dumps({"cppCodeToPost": mapped}))
    (package,) = read(tmp_path, graph, *logged, mapping).compilations
    assert [kernel.origins for kernel in package.kernels] == [("addmm", "mm"), (), ("sin",)]


def test_packaging_ahead_of_time_is_no_process_with_a_warm_cache(tmp_path: Path) -> None:
    spans = [phase("compile_fx_aot", "B", 0), phase("compile_file", "B", 1), phase("compile_file", "E", 20)]
    graph = record({"aot_inference_graph": {}}, FX)
    report = read(tmp_path, *spans, phase("compile_fx_aot", "E", 21), graph)
    assert sentence(verdict(report)) == "AOTInductor without Dynamo: 1 graph."
    assert not any("of Dynamo tracing left" in finding.advice for finding in findings(report))


def test_the_recompile_limit_is_that_of_torchs_metrics(tmp_path: Path) -> None:
    config = json.dumps({"accumulated_recompile_limit": 256, "recompile_limit": 1_000_000})
    metrics = {"compilation_metrics": {"dynamo_config": config}, "frame_id": 0, "frame_compile_id": 0}
    counters = read(tmp_path, record(metrics)).counters
    assert counters is not None
    assert counters.recompile_limit == 1_000_000
    assert build_report(TRACES / "foreign" / "trace.log").counters is None


def ids(compile_id: int = 0) -> dict[str, int]:
    return {"frame_id": 0, "frame_compile_id": compile_id}


def test_what_inductor_lowers_has_two_names_and_is_kept_once(tmp_path: Path) -> None:
    older = record({"artifact": {"name": "after_post_grad_graph"}, **ids()}, FX)
    newer = record({"artifact": {"name": "inductor_post_grad_graph"}, **ids()}, FX)
    for logged in ([older], [older, newer], [newer, older]):
        (compilation,) = read(tmp_path, *logged).compilations
        assert [(graph.id, graph.targets) for graph in compilation.graphs] == [
            ("inductor_post_grad_graph", {"torch.sin": 1})
        ]


def test_captured_ops_are_those_of_dynamos_graph_before_torch_has_counted_them(tmp_path: Path) -> None:
    lowered = FX.replace("return", 'cos: "f32[2]" = torch.cos(sin)\n        return')
    logged = [record({"dynamo_output_graph": {}, **ids()}, FX), record({"aot_inference_graph": {}, **ids()}, lowered)]
    (compilation,) = read(tmp_path, *logged).compilations
    assert [graph.calls for graph in compilation.graphs] == [1, 2]
    assert captured_ops(compilation) == 1

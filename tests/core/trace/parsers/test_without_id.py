"""Logs whose records have no compile id: exports, and packages ahead of time; and older names of a record."""

import json
from pathlib import Path

import pytest

from core import build_report
from core.analysis import captured_ops, sentence, verdict
from core.analysis.findings import findings
from core.report import Report
from tests.support.logs import record
from tests.support.places import TRACES

IDS = ("frame_id", "frame_compile_id", "attempt")
FX = """class GraphModule(torch.nn.Module):
    def forward(self, x: "f32[2]"):
        sin: "f32[2]" = torch.sin(x)
        return (sin,)"""


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


def test_what_has_no_compile_id_is_a_compilation_without_one(tmp_path: Path) -> None:
    named = build_report(TRACES / "foreign" / "trace.log")
    report = read(tmp_path, *without_ids("foreign"))
    (only,) = report.compilations
    assert (only.id, only.status) == ("-", "ok")
    assert len(only.graphs) == sum(len(compilation.graphs) for compilation in named.compilations)
    assert len(only.kernels) == sum(len(compilation.kernels) for compilation in named.compilations)
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


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("exported_program", "Dynamo compiled nothing in this log: it is an export by torch.export."),
        ("link", "The log has no compile ids."),
    ],
)
def test_the_headline_says_what_a_log_is_of_that_dynamo_has_no_part_in(tmp_path: Path, kind: str, words: str) -> None:
    report = read(tmp_path, record({kind: {}}, "…"), record({"aot_inference_graph": {}}, FX))
    assert sentence(verdict(report)) == words


def test_packaging_ahead_of_time_is_no_process_with_a_warm_cache(tmp_path: Path) -> None:
    spans = [phase("compile_fx_aot", "B", 0), phase("compile_file", "B", 1), phase("compile_file", "E", 20)]
    graph = record({"aot_inference_graph": {}}, FX)
    report = read(tmp_path, *spans, phase("compile_fx_aot", "E", 21), graph)
    assert (
        sentence(verdict(report))
        == "Dynamo compiled nothing in this log: AOTInductor compiled a package ahead of time."
    )
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

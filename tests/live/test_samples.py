"""Every sample, run for real: our counts are torch's own, and tlparse reads our logs."""

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from core import Report, Run, build_report
from core.analysis.kernels.kernel import FALLBACK
from core.analysis.kernels.ledger import ledger
from core.graph.launches import launches
from core.graph.overlays import ops_without_launch
from core.ops.costs import CALLS, op_class
from core.report import Compilation
from core.trace.parsers.build import load_graph, load_text
from tests.live.witness import Both

pytestmark = pytest.mark.torch

NO_BREAK = "Dynamo recompile limit exceeded"


@pytest.fixture
def run(both: Both) -> Run:
    return both.run


@pytest.fixture
def report(both: Both) -> Report:
    return both.report


def counted(report: Report, group: str) -> dict[str, int]:
    assert report.counters is not None
    return report.counters.dynamo.get(group, {})


def dynamo_graphs(compilation: Compilation) -> list[Any]:
    return [graph for graph in compilation.graphs if graph.stage == "dynamo_output_graph"]


def test_run_is_done_and_compiled_results_are_the_same(run: Run, report: Report) -> None:
    assert (run.status().state, run.status().reason, report.error) == ("done", "", None)
    assert report.calls
    assert [item for call in report.calls for item in call.differences if item.same is not True] == []


def test_every_record_is_read(run: Run, report: Report) -> None:
    log = run.log_path()
    assert log is not None
    assert report.problems == ()
    assert build_report(log, strict=True) == report


def test_graphs_are_as_many_as_torch_counts(report: Report) -> None:
    graphs = [graph for compilation in report.compilations for graph in dynamo_graphs(compilation)]
    assert len(graphs) == counted(report, "stats").get("unique_graphs", 0)


def test_ops_are_as_many_as_torch_counts(report: Report) -> None:
    ours = {
        compilation.id: sum(graph.calls for graph in dynamo_graphs(compilation)) for compilation in report.compilations
    }
    torchs = {compilation.id: compilation.graph_op_count or 0 for compilation in report.compilations}
    assert ours == torchs


def test_scheduler_nodes_before_fusion_are_as_many_as_torch_counts(report: Report) -> None:
    assert report.counters is not None
    before = sum(len(schedule.before) for compilation in report.compilations for schedule in compilation.schedules)
    assert before == report.counters.inductor["ir_nodes_pre_fusion"]


def test_extern_calls_are_as_many_as_torch_counts(report: Report) -> None:
    nodes = [
        node for compilation in report.compilations for schedule in compilation.schedules for node in schedule.after
    ]
    extern = [node for node in nodes if node.kind == "ExternKernelSchedulerNode"]
    assert len(extern) == counted(report, "inductor").get("extern_calls", 0)


def test_fallbacks_are_as_many_as_the_scheduler_has(report: Report) -> None:
    for compilation in report.compilations:
        nodes = [node for schedule in compilation.schedules for node in schedule.after if "FallbackKernel" in node.ops]
        rows = [row for row in ledger(report, compilation) if row.kind == FALLBACK]
        assert len(rows) == len(nodes)


def test_graph_breaks_are_as_many_as_torch_counts(report: Report) -> None:
    breaks = [compilation for item in report.graph_breaks for compilation in item.compilations]
    assert len(breaks) == report.kinds.get("artifact:dynamo_graph_break_reason", 0)
    counters = [*counted(report, "graph_break").items(), *counted(report, "unimplemented").items()]
    assert len(breaks) == sum(count for reason, count in counters if not reason.startswith(NO_BREAK))


def test_every_compilation_after_the_first_of_a_frame_has_its_reasons(report: Report) -> None:
    recompiled = {item.compilation for item in report.recompiles}
    again = {compilation.id for compilation in report.compilations if not compilation.id.endswith("/0")}
    assert recompiled == again


def test_tlparse_reads_the_log(run: Run, tmp_path: Path) -> None:
    tlparse = Path(sys.executable).parent / "tlparse"
    command = [str(tlparse), str(run.log_path()), "-o", str(tmp_path / "out"), "--no-browser"]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_hulls_of_fusion_are_the_launches_in_the_wrappers_syntax_tree(run: Run, report: Report) -> None:
    log = run.log_path()
    assert log is not None
    for compilation in report.compilations:
        kernels = {kernel.id: kernel for kernel in compilation.kernels}
        for schedule in compilation.schedules:
            graph = compilation.lowered(schedule.direction)
            written = [kernel.output_code for kernel in compilation.kernels if kernel.direction == schedule.direction]
            if schedule.subgraph or graph is None or not written:
                continue
            nodes = {node.name: node for node in load_graph(log, compilation, graph)}
            drawn = launches(schedule, nodes, kernels)
            calls = [node for node in ast.walk(ast.parse(load_text(log, written[0]))) if isinstance(node, ast.Call)]
            functions = Counter(ast.unparse(call.func).removesuffix(".run") for call in calls)
            launched = Counter(kernels[launch.kernel].name for launch in drawn if launch.kernel)
            assert launched == {name: functions[name] for name in launched}
            members = {name for launch in drawn for name in launch.members} | set(ops_without_launch(schedule, nodes))
            calls_of = {name for name, node in nodes.items() if node.op in CALLS and op_class(node.target) != "view"}
            assert calls_of <= members

"""Entries of the command palette for recorded runs, and their bounds."""

from dataclasses import replace

from core import Report
from core.report import Compilation, FxGraph, FxNode, Setting
from core.trace.parsers.build import load_graph
from core.views.palette import PaletteView, RunEntryGroup
from tests.support.logs import recorded_report
from tests.support.places import TRACES

MEASURED = TRACES / "measured" / "trace.log"
REPORT = recorded_report(MEASURED)


def nodes_of(compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
    return load_graph(MEASURED, compilation, graph)


def entries(*groups: RunEntryGroup) -> list[tuple[str, str, str]]:
    return [(entry.id, entry.label, entry.detail) for group in groups for entry in group.entries]


def shared(group: RunEntryGroup) -> tuple[str, str, str, int]:
    return group.detail, group.compilation, group.graph, group.left_out


def test_a_compilation_has_its_frame_and_its_number_of_ops() -> None:
    (group,) = PaletteView(REPORT).compilations(2)
    assert entries(group) == [("0/0", "[0/0] TransformerBlock.forward", "17 ops")]
    assert shared(group) == ("", "", "", 0)


def test_a_failed_compilation_has_its_status() -> None:
    (compilation,) = REPORT.compilations
    failed = replace(REPORT, compilations=(replace(compilation, status="failed"),))
    assert entries(*PaletteView(failed).compilations(1)) == [("0/0", "[0/0] TransformerBlock.forward", "failed")]


def test_kernels_come_slowest_first_with_the_rest_counted() -> None:
    (group,) = PaletteView(REPORT).kernels(3)
    assert entries(group) == [
        ("k:0/0.inference.extern_kernels.addmm#421", "extern_kernels.addmm", "up · addmm · 1.44 ms"),
        ("k:0/0.inference.extern_kernels.addmm#433", "extern_kernels.addmm", "down · addmm · 1.37 ms"),
        ("k:0/0.inference.extern_kernels.addmm#385", "extern_kernels.addmm", "attention.qkv · addmm · 1.03 ms"),
    ]
    assert shared(group) == ("[0/0]", "0/0", "", 6)


def test_nodes_are_those_of_the_captured_and_of_the_lowered_graph_the_largest_first() -> None:
    lowered, captured = PaletteView(REPORT).nodes(2_000, nodes_of)
    assert shared(lowered) == ("after the post-grad passes [0/0]", "0/0", "inductor_post_grad_graph.inference", 0)
    assert shared(captured) == ("captured by Dynamo [0/0]", "0/0", "dynamo_output_graph", 0)
    assert entries(lowered)[:2] == [
        ("n:var_mean", "var_mean", "aten.var_mean.correction"),
        ("n:getitem", "getitem", "operator.getitem"),
    ]
    assert (len(lowered.entries), len(captured.entries)) == (50, 17)


def test_graphs_without_a_place_among_the_nodes_are_not_read() -> None:
    graphs: list[str] = []

    def read(compilation: Compilation, graph: FxGraph) -> tuple[FxNode, ...]:
        graphs.append(graph.id)
        return nodes_of(compilation, graph)

    (group,) = PaletteView(REPORT).nodes(3, read)
    assert [label for _, label, _ in entries(group)] == ["var_mean", "getitem", "getitem_1"]
    assert (group.left_out, graphs) == (64, ["inductor_post_grad_graph.inference"])


def test_a_run_without_a_compilation_has_no_entries() -> None:
    view = PaletteView(Report(Setting()))
    assert (view.compilations(1), view.kernels(1), view.nodes(1, nodes_of)) == ((), (), ())

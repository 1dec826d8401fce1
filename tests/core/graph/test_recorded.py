"""An FX graph with what a report knows of its nodes: sides, decisions, kernels, and how far they are from eager."""

from dataclasses import replace
from pathlib import Path

import pytest

from core import build_report
from core.analysis.memory import partitions
from core.analysis.numerics import node_standings
from core.graph.fusion import fusion_model
from core.graph.fx import NodesOf, divided_graph, recorded_model, source_path
from core.graph.model import GraphModel
from core.graph.overlays import SEGMENT
from core.report import Call, Compilation, Difference, EagerCall, FxGraph, Report, Source
from core.trace.parsers.build import load_graph
from tests.support.logs import recorded_report
from tests.support.numerics import GRAPH
from tests.support.pipelines import pipeline_log
from tests.support.places import TRACES
from tests.support.reports.films import reader
from tests.support.reports.fx_nodes import overlay


def painted(model: GraphModel, name: str) -> dict[str, object]:
    pairs = zip(model.nodes, overlay(model, name), strict=True)
    return {node.id.removeprefix("n:"): value for node, value in pairs if value is not None}


def side_of(model: GraphModel) -> dict[str, str]:
    """Node → the outermost group that it stands in."""
    outermost = [group for group in model.groups if group.parent == -1]
    return {
        node.id.removeprefix("n:"): group.label for group in outermost for node in model.nodes[group.first : group.last]
    }


def divided(directory: Path) -> tuple[Report, Compilation, FxGraph, NodesOf]:
    """A run of the accelerator's with the graph that it divided."""
    log = directory / "trace.log"
    log.write_bytes(pipeline_log())
    report = build_report(log)
    compilation = report.compilations[0]
    return report, compilation, compilation.graphs[0], reader(log, compilation)


def test_each_node_of_a_joint_graph_stands_on_the_side_that_computes_it() -> None:
    log = TRACES / "foreign" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[1]
    nodes_of = reader(log, compilation)
    joint = compilation.graph("aot_joint_graph")
    assert joint is not None
    decisions = partitions(compilation, nodes_of)[0].decisions
    model = recorded_model(report, compilation, joint, nodes_of)
    sides = side_of(model)
    assert set(sides.values()) == {"forward", "backward"}
    told = {name: decision for name, decision in decisions.items() if name in sides}
    assert {name for name, decision in told.items() if decision == "backward"} == {
        name for name in told if sides[name] == "backward"
    }
    # What was dropped stands where what it reads stands.
    inputs = {node.name: node.inputs for node in nodes_of(joint)}
    for name in ("permute_3", "permute_4"):
        if name in sides:
            assert sides[name] == (
                "backward" if any(sides.get(read) == "backward" for read in inputs[name]) else "forward"
            )
    assert painted(model, "partition")["mm"] == "backward"


def test_a_graph_of_one_side_has_no_partition() -> None:
    log = TRACES / "foreign" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[1]
    forward = compilation.graph("aot_forward_graph")
    assert forward is not None
    model = recorded_model(report, compilation, forward, reader(log, compilation))
    assert "partition" not in [found.name for found in model.overlays]
    assert set(side_of(model).values()) & {"forward", "backward"} == set()


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ((Difference("output", True, max_abs=1e-6),), 1e-6),
        ((Difference("output", True, max_abs=1e-6), Difference("output", True, max_abs=3e-6)), 3e-6),
        ((Difference("output", True, max_abs=1e-6), Difference("input", True, max_abs=1.0)), 1e-6),
        ((Difference("output", None, max_abs=1.0),), None),
        ((Difference("output", False, "strides"),), None),
        ((), None),
    ],
)
def test_the_one_output_of_a_model_that_became_one_graph_is_as_far_from_eager_as_was_measured(
    differences: tuple[Difference, ...], expected: float | None
) -> None:
    log = TRACES / "transformer_block" / "trace.log"
    report = replace(recorded_report(log), calls=(Call(0, "", 1.0, 1.0, differences),))
    (compilation,) = report.compilations
    nodes_of = reader(log, compilation)
    graph = compilation.graph("inductor_post_grad_graph.inference")
    assert graph is not None
    assert not report.graph_breaks
    (output,) = (node for node in nodes_of(graph) if node.op == "output")
    model = recorded_model(report, compilation, graph, nodes_of)
    shown = [found.name for found in model.overlays if found.name == "error"]
    assert shown == ([] if expected is None else ["error"])
    if expected is not None:
        assert {name: value for name, value in painted(model, "error").items() if value is not None} == {
            output.inputs[0]: expected
        }
    twice = replace(report, compilations=(compilation, compilation))
    assert "error" not in [found.name for found in recorded_model(twice, compilation, graph, nodes_of).overlays]


def test_nodes_that_were_held_against_float64_are_painted_by_it() -> None:
    log = TRACES / "transformer_block" / "trace.log"
    report = replace(recorded_report(log), graph_numerics=(GRAPH,))
    (compilation,) = report.compilations
    nodes_of = reader(log, compilation)
    captured, lowered = compilation.graphs[0], compilation.lowered_graphs[0]
    model = recorded_model(report, compilation, captured, nodes_of)

    assert painted(model, "error") == {"layer_norm": 2e-7, "linear": 0.0, "gelu": 0.5, "x_1": 0.5}
    assert painted(model, "numerics") == node_standings(GRAPH)
    # A folded group is painted as the worst of its nodes.
    whole = next(number for number, found in enumerate(model.overlays) if found.name == "numerics")
    assert model.overlays[whole].folded == "largest"
    of_lowered = recorded_model(report, compilation, lowered, nodes_of)
    assert "numerics" not in [found.name for found in of_lowered.overlays]


def test_the_file_is_the_one_that_ran_or_else_the_first_frames() -> None:
    report = recorded_report(TRACES / "foreign" / "trace.log")
    assert source_path(report) == "/compileboard/tests/traces/foreign/script.py"
    (first,) = recorded_report(TRACES / "transformer_block" / "trace.log").sources[:1]
    assert isinstance(first, Source)
    assert source_path(replace(report, sources=(first,))) == first.path
    assert source_path(replace(report, compilations=())) == ""


def test_a_graph_that_the_accelerator_divided_is_painted_by_its_segments(tmp_path: Path) -> None:
    report, compilation, graph, nodes_of = divided(tmp_path)
    model = recorded_model(report, compilation, graph, nodes_of)
    assert painted(model, SEGMENT) == {
        **dict.fromkeys(("x", "w", "b", "output"), "input or output"),
        **dict.fromkeys(("mm", "add", "relu", "mul", "softmax"), "segment_0"),
        "cumsum": "torch: no kernel for aten.cumsum.default",
    }
    assert divided_graph(compilation, compilation.pipelines[0]) == graph


def test_a_graph_at_another_stage_has_no_segments(tmp_path: Path) -> None:
    report, compilation, graph, nodes_of = divided(tmp_path)
    other = replace(graph, stage="dynamo_output_graph")
    model = recorded_model(report, replace(compilation, graphs=(other,)), other, nodes_of)
    assert SEGMENT not in [found.name for found in model.overlays]
    assert divided_graph(replace(compilation, graphs=(other,)), compilation.pipelines[0]) is None


@pytest.mark.parametrize("name", ["transformer_block", "training_step"])
def test_a_launch_names_as_many_of_eagers_calls_as_are_drawn_in_it(name: str) -> None:
    log = TRACES / name / "trace.log"
    for compilation in recorded_report(log).compilations:
        kernels = {kernel.id: kernel for kernel in compilation.kernels}
        for schedule in compilation.schedules:
            graph = compilation.lowered(schedule.direction)
            assert graph is not None
            nodes = {node.name: node for node in load_graph(log, compilation, graph)}
            calls = tuple(EagerCall(f"aten.call_{node}.default", (node,), 0) for node in nodes)
            model = fusion_model(replace(schedule, eager_calls=calls), nodes, kernels)
            for group in (group for group in model.groups if group.kind in ("launch", "library")):
                drawn = {
                    key for node in model.nodes[group.first : group.last] for frame, key in node.joins if not frame
                }
                named = [str(fact.value).partition(" ")[0] for fact in group.facts if fact.name == "eager"]
                assert named == ([str(len(drawn))] if drawn else [])

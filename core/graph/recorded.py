"""Display graph of a report's FX graph, with kernels, times, partitioner decisions and accelerator segments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from core.analysis import partitions
from core.analysis.kernels import kernel_seconds
from core.analysis.numerics import node_errors, node_standings, numerics_of
from core.analysis.pipeline import node_segments
from core.graph.fx import fx_model
from core.graph.model import GraphModel
from core.graph.overlays import annotation_overlays
from core.report import Compilation, FxGraph, FxNode, GraphNumerics, Kernel, Pipeline, Report

DROPPED, GONE = "dropped", "removed by an earlier pass"
END = "input or output"
NodesOf = Callable[[FxGraph], tuple[FxNode, ...]]


def recorded_model(report: Report, compilation: Compilation, graph: FxGraph, nodes_of: NodesOf) -> GraphModel:
    """Return an FX graph with all recorded data of its nodes; `nodes_of` reads a graph's nodes."""
    nodes = nodes_of(graph)
    decisions = _decisions(compilation, graph, nodes, nodes_of)
    compared = _compared(report, compilation, graph)
    model = fx_model(
        nodes,
        kernels_of(compilation, graph),
        source=source_path(report),
        directions=_directions(nodes, decisions) if decisions else None,
        seconds=kernel_seconds(report, compilation),
        partition=decisions or None,
        errors=node_errors(compared) if compared else _errors(report, graph, nodes) or None,
        standings=node_standings(compared) if compared else None,
        segments=_segments(compilation, graph, nodes),
    )
    reported = annotation_overlays(report, compilation.id, model.nodes, (node.name for node in nodes))
    return replace(model, overlays=(*model.overlays, *reported))


def divided_graph(compilation: Compilation, pipeline: Pipeline) -> FxGraph | None:
    """Return the graph that the accelerator partitioned into a pipeline's segments.

    None if the log lacks it.
    """
    stage = f"aot_{pipeline.direction}_graph"
    return next((graph for graph in reversed(compilation.graphs) if graph.stage == stage), None)


def _segments(compilation: Compilation, graph: FxGraph, nodes: Iterable[FxNode]) -> dict[str, str] | None:
    """Return node → accelerator segment for a partitioned graph; None for other graphs."""
    pipeline = next(
        (pipeline for pipeline in compilation.pipelines if divided_graph(compilation, pipeline) == graph), None
    )
    if pipeline is None:
        return None
    ends = {node.name: END for node in nodes if not node.op.startswith("call_")}
    return {**ends, **node_segments(pipeline)}


def _compared(report: Report, compilation: Compilation, graph: FxGraph) -> GraphNumerics | None:
    """Return the node accuracies of the graph, for Dynamo's graph only."""
    numerics = numerics_of(report, compilation.id) if graph.stage == "dynamo_output_graph" else None
    return numerics if numerics is not None and node_errors(numerics) else None


def source_path(report: Report) -> str:
    """Return the path of the compiled file in the run's stack frames.

    For an imported log, the first frame's file.
    """
    if report.sources:
        return report.sources[0].path
    return next((compilation.frame.file for compilation in report.compilations if compilation.frame.file), "")


def kernels_of(compilation: Compilation, graph: FxGraph) -> dict[str, list[Kernel]]:
    """Return FX node → its kernels, for the graph that Inductor lowered."""
    kernels: dict[str, list[Kernel]] = {}
    for kernel in compilation.kernels:
        if kernel.graph == graph.id:
            for name in kernel.origins:
                kernels.setdefault(name, []).append(kernel)
    return kernels


def _decisions(compilation: Compilation, graph: FxGraph, nodes: Iterable[FxNode], nodes_of: NodesOf) -> dict[str, str]:
    """Return node → partitioner decision for a joint graph; empty for other graphs."""
    if graph.direction != "joint":
        return {}
    partition = next(
        (partition for partition in partitions(compilation, nodes_of) if partition.graph == graph.id), None
    )
    if partition is None:
        return {}
    removed = {node.name: GONE for node in nodes if node.op.startswith("call_")} if partition.recorded else {}
    return {**removed, **dict.fromkeys(partition.dropped, DROPPED), **partition.decisions}


def _errors(report: Report, graph: FxGraph, nodes: Sequence[FxNode]) -> dict[str, float]:
    """Return the largest difference from eager by node: only known for a model with one output and one graph."""
    is_single = (
        len(report.compilations) == 1 and not report.graph_breaks and graph.direction in ("", "forward", "inference")
    )
    outputs = [node.inputs for node in nodes if node.op == "output"]
    compared = [
        difference.max_abs
        for call in report.calls
        for difference in call.differences
        if (difference.what, difference.kind) == ("output", "value") and difference.same is not None
    ]
    if not (is_single and compared and len(outputs) == 1 and len(outputs[0]) == 1):
        return {}
    return {outputs[0][0]: max(compared)}


def _directions(nodes: Iterable[FxNode], decisions: Mapping[str, str]) -> dict[str, str]:
    """Return the direction of each node of a joint graph; a dropped node gets the direction of its inputs."""
    sides: dict[str, str] = {}
    for node in nodes:
        decision = decisions.get(node.name, GONE)
        reads_backward = decision in (DROPPED, GONE) and any(sides.get(name) == "backward" for name in node.inputs)
        sides[node.name] = "backward" if decision == "backward" or reads_backward else "forward"
    return sides

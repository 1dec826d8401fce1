"""Accuracy of graph nodes: the first node that is less accurate than eager."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal, get_args

from core.analysis.numerics.results import error_words, numerics, numerics_sentence
from core.analysis.numerics.standing import standing
from core.base.words import agree, count, number
from core.report import GraphNumerics, NodeAccuracy, Report

GraphStanding = Literal["not compared", "not told", "as right as eager", "differs", "first to differ"]
# Accuracy classes of nodes, the least informative first.
STANDINGS: tuple[GraphStanding, ...] = get_args(GraphStanding)


def numerics_of(report: Report, compilation: str) -> GraphNumerics | None:
    """Return the node accuracies of a compilation's graph; None if not recorded."""
    return next((graph for graph in report.graph_numerics if graph.compilation == compilation), None)


def first_inaccurate(graph: GraphNumerics) -> NodeAccuracy | None:
    """Return the first executed node whose compiled value is less accurate than eager's."""
    return next((node for node in graph.nodes if node.accuracy is not None and node.accuracy.same is False), None)


def node_standings(graph: GraphNumerics) -> dict[str, GraphStanding]:
    """Return node name → accuracy class."""
    first = first_inaccurate(graph)
    return {node.name: "first to differ" if node is first else _accuracy_class(node) for node in graph.nodes}


def node_errors(graph: GraphNumerics) -> dict[str, float]:
    """Return node name → compiled error against float64, for nodes that have one."""
    return {
        node.name: node.accuracy.compiled_error
        for node in graph.nodes
        if node.accuracy is not None and node.accuracy.compiled_error is not None
    }


def _accuracy_class(node: NodeAccuracy) -> GraphStanding:
    if node.accuracy is None:
        return "not compared"
    if node.accuracy.same is None:
        return "not told"
    return "as right as eager" if node.accuracy.same else "differs"


def graph_sentence(graph: GraphNumerics, calls: Mapping[str, str] | None = None) -> str:
    """Return the first differing node in words, or that no node differs; `calls` are the nodes' targets by name."""
    first, compared = first_inaccurate(graph), [node for node in graph.nodes if node.accuracy is not None]
    if not compared:
        return f"No node was compared: {graph.reason or 'the graph has none that computes a tensor'}."
    if first is None or first.accuracy is None:
        same = sum(standing(node.accuracy) == "the same bits" for node in compared if node.accuracy)
        nodes = f"{count(len(compared), 'node')} that {agree(len(compared), 'was', 'were')} compared"
        if same == len(compared):
            return f"Compiled gives the same bits as eager in the {nodes}."
        return (
            f"Compiled is as right as eager in the {nodes}; {number(same)} {agree(same, 'has', 'have')} the same bits."
        )
    differing = sum(node.accuracy.same is False for node in compared if node.accuracy)
    of = f"{number(differing)} of {count(len(compared), 'node')} {agree(differing, 'differs', 'differ')}"
    called = f", `{calls[first.name]}`" if calls and first.name in calls else ""
    return f"{of}, first `{first.name}`{called}: {error_words(first.accuracy)}."


def node_words(graph: GraphNumerics, name: str) -> str:
    """Return a node's accuracy in words; empty if the graph has no such value."""
    node = next((node for node in graph.nodes if node.name == name), None)
    if node is None or node.accuracy is None:
        return f"not compared: {node.left_out}" if node is not None and node.left_out else ""
    return f"{node_standings(graph)[name]}: {error_words(node.accuracy)}"


def numerics_lines(report: Report) -> list[str]:
    """Return the accuracy of a run: a sentence for its results and one per graph; empty if not recorded."""
    run_numerics = numerics(report)
    graphs = [f"[{graph.compilation}] ".removeprefix("[] ") + graph_sentence(graph) for graph in report.graph_numerics]
    return [*([f"numerics: {numerics_sentence(run_numerics)}"] if run_numerics else []), *graphs]


def left_out_words(graph: GraphNumerics) -> str:
    """Return how many nodes were not compared, and why; empty if all were."""
    reasons = Counter(node.left_out or "not reached" for node in graph.nodes if node.accuracy is None)
    listed = "; ".join(f"{reason} ({number(times)})" for reason, times in reasons.items())
    return f"{count(reasons.total(), 'node')} not compared: {listed}." if listed else ""


def outputs_words(graph: GraphNumerics) -> str:
    """Return whether adding node values to the outputs changed the graph's own outputs."""
    if not graph.parts:
        return ""
    source = f"Compiled values are from {count(graph.parts, 'compilation')} with them among the graph's outputs"
    if graph.changed is None:
        return f"{source}, which may change what is fused."
    if graph.changed == 0:
        return f"{source}, which left its own outputs the same to the bit."
    return f"{source}, which changed its own outputs by up to {number(graph.changed)} of their norm."

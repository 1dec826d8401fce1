"""The nodes of the graphs: which is the first that is not as right as eager."""

from __future__ import annotations

from collections import Counter
from typing import Literal, get_args

from core.analysis.numerics.results import error_words
from core.analysis.numerics.standing import standing
from core.report import GraphNumerics, NodeAccuracy, Report
from core.words import agree, count, number

GraphStanding = Literal["not compared", "not told", "as right as eager", "differs", "first to differ"]
# From what says nothing to what says most.
STANDINGS: tuple[GraphStanding, ...] = get_args(GraphStanding)


def numerics_of(report: Report, compilation: str) -> GraphNumerics | None:
    """The nodes of a compilation's graph; None where they were not recorded."""
    return next((found for found in report.graph_numerics if found.compilation == compilation), None)


def first_apart(found: GraphNumerics) -> NodeAccuracy | None:
    """The first node, in the order in which they run, whose compiled value is not as right as eager's."""
    return next((node for node in found.nodes if node.accuracy is not None and node.accuracy.same is False), None)


def node_standings(found: GraphNumerics) -> dict[str, GraphStanding]:
    """Where each node stands, by its name."""
    first = first_apart(found)
    return {node.name: "first to differ" if node is first else _standing(node) for node in found.nodes}


def node_errors(found: GraphNumerics) -> dict[str, float]:
    """Compiled's error against float64 by node, for those that have one."""
    return {
        node.name: node.accuracy.compiled_error
        for node in found.nodes
        if node.accuracy is not None and node.accuracy.compiled_error is not None
    }


def _standing(node: NodeAccuracy) -> GraphStanding:
    if node.accuracy is None:
        return "not compared"
    if node.accuracy.same is None:
        return "not told"
    return "as right as eager" if node.accuracy.same else "differs"


def graph_sentence(found: GraphNumerics) -> str:
    """Which node is the first that differs, or that none does."""
    first, compared = first_apart(found), [node for node in found.nodes if node.accuracy is not None]
    if not compared:
        return f"No node was compared: {found.reason or 'the graph has none that computes a tensor'}."
    if first is None or first.accuracy is None:
        same = sum(standing(node.accuracy) == "the same bits" for node in compared if node.accuracy)
        bits = f", {number(same)} of them to the bit" if same else ""
        return f"All {count(len(compared), 'compared node')} are as right as eager{bits}."
    differing = sum(node.accuracy.same is False for node in compared if node.accuracy)
    of = f"{number(differing)} of {count(len(compared), 'node')} {agree(differing, 'differs', 'differ')}"
    return f"{of}, first {first.name}: {error_words(first.accuracy)}."


def left_out_words(found: GraphNumerics) -> str:
    """How many nodes were not compared, and why; empty if all were."""
    reasons = Counter(node.left_out or "not reached" for node in found.nodes if node.accuracy is None)
    return "; ".join(f"{count(times, 'node')} not compared: {reason}" for reason, times in reasons.items())


def outputs_words(found: GraphNumerics) -> str:
    """Whether giving the values out changed what the graph itself gives."""
    if not found.parts:
        return ""
    how = "" if found.parts == 1 else f", in {count(found.parts, 'part')}"
    given = f"Compiled values were added to the graph's outputs{how}, which may change what is fused"
    if found.changed is None:
        return f"{given}; by how much was not looked at."
    if found.changed == 0:
        return f"{given}; the graph's own outputs stayed the same to the bit."
    return f"{given}: its own outputs changed by up to {number(found.changed)} of their norm."

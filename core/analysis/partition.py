"""Forward and backward: the graph of each joint node, and the values saved for the backward."""

from __future__ import annotations

from collections.abc import Iterable

from core.analysis.dynamo.frames import NodesOf
from core.report import Compilation, FxGraph, FxNode, KeptValue, Partition, SavedValue, Stage, tensor_size
from core.report.inductor import Decision

HALVES: tuple[Stage, Stage] = ("aot_forward_graph", "aot_backward_graph")


def partitions(compilation: Compilation, nodes_of: NodesOf) -> tuple[Partition, ...]:
    """Return the partition of each joint graph: recorded, or derived from the joint, forward and backward graphs."""
    recorded = tuple(partition for partition in compilation.partitions if not partition.subgraph)
    if recorded:
        return recorded
    joint_partitions = []
    for index, joint in enumerate(compilation.graphs):
        if joint.stage == "aot_joint_graph":
            rest = compilation.graphs[index + 1 :]
            forward, backward = (_first(rest, stage) for stage in HALVES)
            if forward is not None and backward is not None:
                joint_partitions.append(derived(joint.id, nodes_of(joint), nodes_of(forward), nodes_of(backward)))
    return tuple(joint_partitions)


def _first(graphs: tuple[FxGraph, ...], stage: Stage) -> FxGraph | None:
    """Return the next graph of a stage before another joint graph begins."""
    for graph in graphs:
        if graph.stage == "aot_joint_graph":
            return None
        if graph.stage == stage:
            return graph
    return None


def derived(
    graph: str, joint: tuple[FxNode, ...], forward: tuple[FxNode, ...], backward: tuple[FxNode, ...]
) -> Partition:
    """Derive the partition from the three graphs; nodes renamed by passes count as dropped and new.

    A node of both graphs is saved if it is an input of the backward, and recomputed otherwise.
    """
    forward_nodes = {node.name: node for node in forward if node.op != "output"}
    backward_nodes = {node.name: node for node in backward if node.op != "output"}
    names = dict.fromkeys([node.name for node in joint if node.op != "output"] + [*forward_nodes, *backward_nodes])
    decisions = {
        name: decision for name in names if (decision := _decision(name, forward_nodes, backward_nodes)) is not None
    }
    saved = tuple(_saved(forward_nodes[name]) for name, decision in decisions.items() if decision == "saved")
    dropped = tuple(name for name in names if name not in decisions)
    return Partition(graph, False, decisions, saved, {}, {}, dropped)


def _decision(name: str, forward: dict[str, FxNode], backward: dict[str, FxNode]) -> Decision | None:
    if name not in forward:
        return "backward" if name in backward else None
    if name not in backward:
        return "forward"
    return "saved" if backward[name].op == "placeholder" else "recomputed"


def _saved(node: FxNode) -> SavedValue:
    kind = "other" if node.meta is None else "input" if node.op == "placeholder" else "activation"
    return SavedValue(node.name, kind, tensor_bytes(node))


def tensor_bytes(node: FxNode) -> int | None:
    """Return the bytes of a node's value: elements times item size; None for symbolic sizes and non-tensors."""
    return tensor_size(node.meta.dtype, node.meta.shape) if node.meta else None


def saved_values(partition: Partition) -> tuple[SavedValue, ...]:
    """Return the values saved for the backward, largest first; unknown sizes last."""
    return tuple(sorted(partition.saved, key=lambda value: (value.bytes is None, -(value.bytes or 0), value.name)))


def saved_bytes(values: Iterable[SavedValue | KeptValue], kind: str) -> int:
    """Return the bytes of all values of one kind (`activation`, `input`) with a known size."""
    return sum(value.bytes or 0 for value in values if value.kind == kind)

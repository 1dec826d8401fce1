"""A graph divided: segments for the accelerator, by torch's own partitioner, in the order in which they run."""

from __future__ import annotations

from operator import getitem

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from core.accelerator.lowering import KERNELS
from core.accelerator.support import Support

PREFIX = "segment_"


def divide(graph: GraphModule, support: Support) -> tuple[str, ...]:
    """Replace what the accelerator takes by modules, in place; returns their names in the order in which they run."""
    partitioner = CapabilityBasedPartitioner(graph, support, allows_single_node_partition=True)
    proposed = [_working(list(partition.nodes)) for partition in partitioner.propose_partitions()]
    fuse_by_partitions(graph, [dict.fromkeys(nodes) for nodes in proposed if nodes], prefix=PREFIX)
    return _renumbered(graph)


def _renumbered(graph: GraphModule) -> tuple[str, ...]:
    """The partitioner's numbers are in no order; give each module the number of its place."""
    calls = [node for node in graph.graph.nodes if node.op == "call_module"]
    modules = [getattr(graph, call.target) for call in calls]
    for call in calls:
        delattr(graph, call.target)
    for index, (call, module) in enumerate(zip(calls, modules, strict=True)):
        call.target = f"{PREFIX}{index}"
        setattr(graph, call.target, module)
    graph.recompile()
    return tuple(call.target for call in calls)


def _working(nodes: list[Node]) -> set[Node]:
    """Return the nodes without views that only others read, which torch runs; empty if only views are left."""
    inside = set(nodes)
    while outward := {node for node in inside if _is_outward(node, inside)}:
        inside -= outward
    return inside if any(not _is_free(node) for node in inside) else set()


def _is_outward(node: Node, inside: set[Node]) -> bool:
    """Return True if a view is read outside only; the outputs of one op are either all left to torch, or none."""
    if not _is_free(node):
        return False
    source = node.args[0] if node.target is getitem else None
    if source is None:
        return not set(node.users) & inside
    return _is_free(source) and not any(set(item.users) & inside for item in source.users)


def _is_free(node: Node) -> bool:
    return KERNELS[node.target].free

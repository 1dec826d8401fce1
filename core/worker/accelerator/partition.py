"""A graph divided: segments for the accelerator, by torch's own partitioner, in the order in which they run."""

from __future__ import annotations

from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.utils.fuser_utils import fuse_by_partitions

from core.worker.accelerator.lowering import KERNELS
from core.worker.accelerator.support import Support

PREFIX = "segment_"


def divide(graph: GraphModule, support: Support) -> tuple[str, ...]:
    """Replace what the accelerator takes by modules, in place; returns their names in the order in which they run."""
    partitioner = CapabilityBasedPartitioner(graph, support, allows_single_node_partition=True)
    proposed = [_working(list(partition.nodes)) for partition in partitioner.propose_partitions()]
    fuse_by_partitions(graph, [dict.fromkeys(nodes) for nodes in proposed if nodes], prefix=PREFIX)
    graph.recompile()
    return tuple(node.target for node in graph.graph.nodes if node.op == "call_module")


def _working(nodes: list[Node]) -> set[Node]:
    """Without views at the edges, which are torch's: at the end those that only others read, at the beginning those of
    what is nobody's here; nothing where only views are left.
    """
    inside = set(nodes)
    changed = True
    while changed:
        outward = {node for node in inside if _is_free(node) and not set(node.users) & inside and not _is_item(node)}
        inside -= outward
        changed = bool(outward)
    return inside if any(not _is_free(node) for node in inside) else set()


def _is_free(node: Node) -> bool:
    return KERNELS[node.target].free


def _is_item(node: Node) -> bool:
    """Whether it is one of several outputs: it stays with the op that makes it."""
    return not hasattr(node.target, "_schema")

"""Recorder of eager's calls: the ATen op that each FX node of a lowered graph was decomposed from."""

import re
from collections.abc import Hashable, Iterable, Iterator
from math import prod
from operator import getitem
from typing import Any

from torch import Tensor
from torch.fx import Graph, Node
from torch.nn.functional import interpolate

from core.ops.costs import op_class
from core.report import EagerCall
from core.worker.recorders.traffic import hint

UPSAMPLE = "aten.upsample"
# Ops with an index that read all of their source; the others read as much as they write.
SCATTERS = re.compile(r"scatter|index_put")


def eager_calls(graph: Graph, *, backward: bool) -> tuple[EagerCall, ...]:
    """Return the ATen calls that the nodes of a lowered graph were decomposed from, in graph order.

    Torch records the original op of a node, the node of Dynamo's graph, and autograd's sequence number. Views are left
    out, and in a backward also the forward's ops that it computes again: eager has their values saved.
    """
    computed = [node for node in graph.nodes if _is_computed(node)]
    known = {hint: _identity(node) for node in reversed(computed) if _is_from_trace(node) for hint in _hints(node)}
    calls: dict[Hashable, list[Node]] = {}
    for node in computed:
        if not (backward and node.meta.get("partitioner_tag") == "is_forward"):
            calls.setdefault(_key(node, known), []).append(node)
    return tuple(_call(nodes) for together in calls.values() for nodes in _apart(together))


def _is_computed(node: Node) -> bool:
    """Return True for a node that computes a part of an op that the user or autograd called."""
    original = _original(node)
    # AOTAutograd adds a `copy_` for each input that the user's in-place op changed.
    if node.op != "call_function" or not original or str(node.target) == "aten.copy_.default":
        return False
    return not _is_view(node) and op_class(original) != "view" and bool(_hints(node))


def _original(node: Node) -> str:
    """Return the op that a node was decomposed from, or a user's Triton call; otherwise empty."""
    target = str(node.target)
    own = target if target.startswith("triton_kernel_wrapper") else str(node.meta.get("original_aten") or "")
    return next((f"{UPSAMPLE}{'_backward' if key.startswith('fwd') else ''}" for key, _ in _interpolated(node)), own)


def _interpolated(node: Node) -> Iterator[tuple[str, str]]:
    """Yield Dynamo's call of `interpolate` that a node is from, which torch decomposes earlier."""
    for key in ("source_fn_stack", "fwd_source_fn_stack"):
        stack = node.meta.get(key) or [("", None)]
        if stack[-1][1] is interpolate:
            yield key, stack[-1][0]


def _traced(node: Node) -> str:
    """Return the name of the node of Dynamo's graph that a node was traced from; empty in a backward."""
    traced = node.meta.get("from_node") or ()
    return traced[0].name if traced else ""


def _is_from_trace(node: Node) -> bool:
    """Return True for a node with its place in Dynamo's graph, or in autograd's for a backward."""
    return bool(_traced(node)) or (node.meta.get("partitioner_tag") == "is_backward" and _number(node) is not None)


def _number(node: Node) -> int | None:
    """Return autograd's sequence number of a node's op, or None; without autograd, that of the op before."""
    number = node.meta.get("seq_nr", -1)
    return number if number >= 0 else None


def _identity(node: Node) -> Hashable:
    """Return what nodes of one call share; a Dynamo node may call an op twice, as autocast does."""
    return _original(node), _number(node), _traced(node)


def _hints(node: Node) -> list[Hashable]:
    """Return what leads to a node's call: autograd's number, Dynamo's node and the user's line."""
    hints = (_number(node), _traced(node) or None, node.meta.get("stack_trace"))
    return [(_original(node), hint) for hint in hints if hint is not None]


def _key(node: Node, known: dict[Hashable, Hashable]) -> Hashable:
    """Return a key that nodes of one call share; an op that was not decomposed is a call by itself.

    A node that replaced others may have lost a part of its identity: its call is that of a node with the same hint.
    """
    original = _original(node)
    if original == str(node.target):
        return node
    if original.startswith(UPSAMPLE):
        return original, *next(_interpolated(node))
    hints = _hints(node)
    own = _identity(node) if _number(node) is not None and _is_from_trace(node) else None
    return own or next((known[hint] for hint in hints if hint in known), hints[0])


def _apart(nodes: list[Node]) -> Iterator[list[Node]]:
    """Yield the nodes of each call.

    Nodes of the same op that read nothing from each other are calls of their own, such as the casts of autocast for one
    linear layer. A `_foreach` op is one call for all tensors.
    """
    together = set(nodes)
    same = len({node.target for node in nodes}) == 1 and "_foreach_" not in _original(nodes[0])
    if same and not any(read in together for node in nodes for read in node.all_input_nodes):
        yield from ([node] for node in nodes)
    else:
        yield nodes


def _call(nodes: list[Node]) -> EagerCall:
    inside = set(nodes)
    targets = [str(node.target) for node in nodes]
    gathers = any(op_class(target) == "embedding" and not SCATTERS.search(target) for target in targets)
    written = sum(_elements_bytes(node) for node in nodes if any(user not in inside for user in _readers(node)))
    reads: dict[Node, dict[Node, int]] = {}
    for node in nodes:
        for read in node.all_input_nodes:
            source = _source(read)
            if (source.all_input_nodes[0] if _is_element(source) else source) not in inside:
                reads.setdefault(source, {})[read] = _elements_bytes(read)
    # Several views of one value, such as query, key and value of attention, are at most the value.
    sizes = (min(sum(views.values()), _elements_bytes(source)) for source, views in reads.items())
    moved = written + sum(min(size, written) if gathers else size for size in sizes)
    return EagerCall(_original(nodes[0]), tuple(node.name for node in nodes), moved)


def _source(node: Node) -> Node:
    """Return the node whose memory a value is in: the value itself, or what it is a view of."""
    while _is_view(node) and not _is_element(node) and node.all_input_nodes:
        node = node.all_input_nodes[0]
    return node


def _is_view(node: Node) -> bool:
    return node.op == "call_function" and (_is_element(node) or op_class(str(node.target)) == "view")


def _is_element(node: Node) -> bool:
    """Return True for one of several results of an op."""
    return node.target is getitem


def _readers(node: Node) -> Iterator[Node]:
    """Yield the nodes that read a value, also through views, and the output."""
    for user in node.users:
        if _is_view(user):
            yield from _readers(user)
        else:
            yield user


def _elements_bytes(node: Node) -> int:
    """Return the bytes of a node's value in memory; an expanded dimension counts once."""
    value = node.meta.get("val")
    tensors: Iterable[Any] = value if isinstance(value, (tuple, list)) else (value,)
    return sum(_tensor_bytes(tensor) for tensor in tensors if isinstance(tensor, Tensor))


def _tensor_bytes(tensor: Tensor) -> int:
    if tensor.is_sparse or tensor.is_mkldnn:
        return 0
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return prod(_size(size) for size, stride in sizes if _size(stride)) * tensor.element_size()


def _size(size: Any) -> int:
    return hint(size if isinstance(size, int) else size.node.expr)

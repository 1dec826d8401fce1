"""FLOPs of library calls and templates: torch's own count, and the formula of attention where torch has none."""

from __future__ import annotations

import math
from typing import Any

from torch._dynamo.utils import counters
from torch._inductor.fx_utils import count_flops_fx
from torch.fx import Node as FxNode
from torch.fx.node import map_arg

from core.ops import op_class
from core.worker.recorders.traffic import hint

Node = Any


class FlopCounts:
    """The FLOPs of the scheduler nodes of one graph. Torch runs a call on fake tensors to count them; calls that are
    alike are counted once.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int | None] = {}

    def of(self, node: Node) -> int | None:
        """The FLOPs of a node that is a library call or a template."""
        if not (node.is_extern() or node.is_template()):
            return None
        fx_node = None if node.node is None else node.node.get_origin_node()
        if fx_node is None:
            return _counted(node)
        alike = (fx_node.target, *map(_form, (*fx_node.args, *fx_node.kwargs.items())))
        if alike not in self._known:
            self._known[alike] = _counted(node)
        return self._known[alike]


def _form(argument: Any) -> str:
    """What the FLOPs of a call depend on: a tensor's shape, anything else itself."""
    if not isinstance(argument, FxNode):
        return str(map_arg(argument, _form))
    value = argument.meta.get("val")
    return str(tuple(value.shape) if hasattr(value, "shape") else value)


def _counted(node: Node) -> int | None:
    """Torch's count, whose own counter of them stays as it is."""
    counted = counters["inductor"]["flop_count"]
    found = node.estimate_flops()
    counters["inductor"]["flop_count"] = counted
    return _of_call(node.node) if found is None else hint(found)


def _of_call(ir_node: Any) -> int | None:
    """The count for a call that has no FX node of its own to estimate by: one with several results, as attention."""
    called = getattr(ir_node, "op_overload", None)
    found = [origin for origin in ir_node.get_origins() if origin.target == called] if called is not None else []
    if len(found) != 1:
        return None
    if op_class(str(called)) == "attention":
        return attention_flops(found[0])
    counted = count_flops_fx(found[0])
    return None if counted is None else hint(getattr(getattr(counted, "node", None), "expr", counted))


def attention_flops(fx_node: Any) -> int | None:
    """Two products of queries, keys and values (five in the backward) in every head of the queries, masks not regarded.

    As torch.utils.flop_counter.sdpa_flop_count and sdpa_backward_flop_count, which do not know the CPU's kernel.
    """
    backward = "backward" in str(fx_node.target)
    tensors: list[Any] = [getattr(item, "meta", {}).get("val") for item in fx_node.args[backward : 3 + backward]]
    shapes = [tuple(map(_size, tensor.shape)) for tensor in tensors if hasattr(tensor, "shape")]
    if len(shapes) != 3 or any(len(shape) != 4 for shape in shapes):
        return None
    (*heads, queries, width), (*_, keys, _), (*_, values) = shapes
    each = 3 * width + 2 * values if backward else width + values
    return 2 * math.prod(heads) * queries * keys * each


def _size(size: Any) -> int:
    return hint(size if isinstance(size, int) else size.node.expr)

"""FLOPs of library calls and templates: torch's own count, and the formula of attention where torch has none."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Any

from torch.fx import Node as FxNode
from torch.fx.node import map_arg
from torch.utils.flop_counter import flop_registry

from core.ops import op_class
from core.worker.recorders.traffic import hint

Node = Any


class FlopCounts:
    """The FLOPs of the scheduler nodes of one graph; calls that are alike are counted once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], int | None] = {}

    def of(self, node: Node) -> int | None:
        """The FLOPs of a node that is a library call or a template."""
        if node.node is None or not (node.is_extern() or node.is_template()):
            return None
        fx_node = node.node.get_origin_node()
        if fx_node is None:
            return _of_call(node.node)
        alike = (fx_node.target, *map(_form, (*fx_node.args, *fx_node.kwargs.items())))
        if alike not in self._known:
            self._known[alike] = _counted(fx_node)
        return self._known[alike]


def _form(argument: Any) -> str:
    """Return a key for the FLOPs of a call: a tensor's shape, any other argument itself."""
    if not isinstance(argument, FxNode):
        return str(map_arg(argument, _form))
    value = argument.meta.get("val")
    return str(tuple(value.shape) if hasattr(value, "shape") else value)


def _counted(fx_node: FxNode) -> int | None:
    """Torch's formula for the op, with the tensors of the graph; torch itself calls the op on fake ones for it."""
    formula = flop_registry.get(getattr(fx_node.target, "overloadpacket", fx_node.target))
    if formula is None or any("val" not in part.meta for part in (fx_node, *fx_node.all_input_nodes)):
        return None
    args, kwargs = map_arg((fx_node.args, fx_node.kwargs), lambda part: part.meta["val"])
    # A formula may be the user's own.
    with suppress(Exception):
        return _size(formula(*args, **kwargs, out_val=fx_node.meta["val"]))
    return None


def _of_call(ir_node: Any) -> int | None:
    """The count for a call that has no FX node of its own to count by: one with several results, as attention."""
    called = getattr(ir_node, "op_overload", None)
    found = [origin for origin in ir_node.get_origins() if origin.target == called] if called is not None else []
    if len(found) != 1:
        return None
    return attention_flops(found[0]) if op_class(str(called)) == "attention" else _counted(found[0])


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

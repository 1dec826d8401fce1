"""Counts of FX nodes and output code: views by schema, kernels by `ast`, FLOPs by torch's formulas."""

from __future__ import annotations

import ast
import operator
from typing import Any

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._pytree import tree_map_only
from torch.utils.flop_counter import flop_registry


def computing(module: Any) -> list[Any]:
    """Return the nodes of a graph that compute.

    The nodes of flex attention's subgraphs are included, since they become part of its kernel.
    """
    nodes = [node for node in module.graph.nodes if node.op.startswith("call_")]
    for node in module.graph.nodes:
        if node.op == "get_attr" and any("flex_attention" in str(user.target) for user in node.users):
            subgraph = getattr(module, node.target)
            nodes += computing(subgraph) if isinstance(subgraph, torch.fx.GraphModule) else []
    return nodes


def is_view(node: Any) -> bool:
    """Return True if the result is a view of an argument by torch's schema, or if the node is a `getitem`."""
    return node.target is operator.getitem or bool(getattr(node.target, "is_view", False))


def generated_calls(code: str) -> dict[str, int]:
    """Return kernel → number of call sites, for kernels that an output code defines or calls."""
    tree = ast.parse(code)
    defined = {
        target.id
        for statement in tree.body
        if isinstance(statement, ast.Assign)
        and isinstance(statement.value, ast.Call)
        and ast.unparse(statement.value.func).startswith("async_compile.")
        for target in statement.targets
        if isinstance(target, ast.Name)
    }
    counts: dict[str, int] = {}
    for node in ast.walk(tree):
        name = ast.unparse(node.func).removesuffix(".run") if isinstance(node, ast.Call) else ""
        if name in defined or name.startswith(("extern_kernels.", "aten.", "torch.ops.", "inductor_ops.")):
            counts[name] = counts.get(name, 0) + 1
    return {name: count for name, count in counts.items() if name in defined or not moves_nothing(name)}


def moves_nothing(name: str) -> bool:
    """Return True if a call in an output code moves no data: a view, a reinterpretation, or a size."""
    op: Any = torch
    for part in ["ops", *name.removeprefix("torch.ops.").split(".")]:
        op = getattr(op, part, None)
    if op is not None and hasattr(op, "overloads"):
        op = getattr(op, op.overloads()[0])
    return "reinterpret" in name or name.endswith((".item", ".size", ".stride")) or bool(getattr(op, "is_view", False))


def flops(node: Any) -> int:
    """Return the FLOPs of a matmul, a convolution or attention; 0 for other nodes."""
    packet = getattr(node.target, "overloadpacket", None)
    formula = ATTENTION.get(packet) or flop_registry.get(packet)
    if formula is None:
        return 0
    values = tree_map_only(torch.fx.Node, lambda value: value.meta["val"], (node.args, node.kwargs, node.meta["val"]))
    with unset_fake_temporarily():
        args, kwargs, out = tree_map_only(torch.Tensor, without_symbols, values)
    return int(formula(*args, **kwargs, out_val=out))


def without_symbols(tensor: torch.Tensor) -> torch.Tensor:
    """Return a meta tensor with this call's sizes; comparing symbolic sizes would specialize them."""
    return torch.empty(
        [size.node.hint if isinstance(size, torch.SymInt) else size for size in tensor.shape], device="meta"
    )


def attention_flops(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    """Return the FLOPs of two matmuls per query head; torch has no formula for attention on a CPU."""
    batch, heads, length, width = query.shape
    return int(2 * batch * heads * length * key.shape[-2] * (width + value.shape[-1]))


def attention_backward_flops(_grad: Any, query: Any, key: Any, value: Any, *_: Any, **__: Any) -> int:
    """Return the FLOPs of five matmuls: the scores, and the gradients of weights, values, queries, keys."""
    batch, heads, length, width = query.shape
    return int(2 * batch * heads * length * key.shape[-2] * (3 * width + 2 * value.shape[-1]))


ATTENTION: dict[Any, Any] = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: attention_flops,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: attention_backward_flops,
}

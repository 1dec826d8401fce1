"""The accelerator's kernel table: the instruction of each ATen op, and why some calls are refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import getitem
from typing import Any

import torch
from torch.fx import Node

from core.accelerator.builder import F32, Builder
from core.accelerator.elementwise import BINARY, SPECIAL, UNARY, binary, unary
from core.accelerator.program import Opcode, Reduction, StepOp, double_bits

aten = torch.ops.aten


@dataclass(frozen=True, slots=True)
class OpKernel:
    """Lowering of an op, and the reason if a call is refused; the reason is empty for supported calls.

    `indices` is True if int64 is allowed; a `free` op touches no memory.
    """

    lower: Callable[[Builder, Node], None]
    refuse: Callable[[Node], str] = lambda node: ""
    indices: bool = False
    free: bool = False


def argument(node: Node, name: str) -> Any:
    """An argument by its name in the op's schema, or its default."""
    for index, known in enumerate(node.target._schema.arguments):
        if known.name == name:
            given = node.kwargs.get(name, known.default_value if known.has_default_value() else None)
            return node.args[index] if index < len(node.args) else given
    raise KeyError(name)


def rank(node: Any) -> int:
    """Dimensions of a node's value."""
    return len(node.meta["val"].shape)


def _view(builder: Builder, node: Node) -> None:
    builder.env[node] = builder.view_of(node, node.args[0])


def _views(builder: Builder, node: Node) -> None:
    """Several views of one tensor; the items that are taken of them are what is read."""
    builder.env[node] = tuple(builder.view_of(node, node.args[0], index) for index in range(len(node.meta["val"])))


def _item(builder: Builder, node: Node) -> None:
    builder.env[node] = builder.env[node.args[0]][node.args[1]]


def _mm(builder: Builder, node: Node) -> None:
    to = builder.fresh(node)
    builder.product(node.name, builder.env[node.args[0]], builder.env[node.args[1]], to)
    builder.env[node] = to


def _addmm(builder: Builder, node: Node) -> None:
    """The product is kept in float32, so that the sum is rounded once."""
    bias, a, b = node.args[:3]
    between, to = builder.fresh(node, dtype=F32), builder.fresh(node)
    builder.product(node.name, builder.env[a], builder.env[b], between)
    builder.steps(node, to, [(StepOp.ADD, _TensorValue(between), bias)])
    builder.env[node] = to


@dataclass(frozen=True, slots=True)
class _TensorValue:
    tensor: int


def _refuse_addmm(node: Node) -> str:
    return "" if argument(node, "beta") == 1 and argument(node, "alpha") == 1 else "beta or alpha is not 1"


def _softmax(is_log: bool) -> Callable[[Builder, Node], None]:
    def lower(builder: Builder, node: Node) -> None:
        to = builder.fresh(node)
        builder.add(Opcode.SOFTMAX, node.name, [builder.env[node.args[0]]], [to], int(is_log))
        builder.env[node] = to

    return lower


def _refuse_softmax(node: Node) -> str:
    dims, dim = rank(node), node.args[1]
    if dims == 0 or dim % dims != dims - 1:
        return f"softmax over dimension {dim}, and the kernel takes the last"
    return "softmax into another dtype" if argument(node, "half_to_float") else ""


def _layer_norm(builder: Builder, node: Node) -> None:
    x, shape, weight, bias, epsilon = node.args[:5]
    inputs = [builder.env[value] for value in (x, weight, bias) if value is not None]
    _norm(builder, node, Opcode.LAYER_NORM, inputs, 3, epsilon, len(shape))


def _rms_norm(builder: Builder, node: Node) -> None:
    x, shape, weight, epsilon = node.args[:4]
    inputs = [builder.env[value] for value in (x, weight) if value is not None]
    value = torch.finfo(x.meta["val"].dtype).eps if epsilon is None else epsilon
    _norm(builder, node, Opcode.RMS_NORM, inputs, 2, value, len(shape))


def _norm(builder: Builder, node: Node, op: Opcode, inputs: list[int], n: int, epsilon: float, dims: int) -> None:
    outputs = [builder.fresh(node, index) for index in range(n)]
    builder.add(op, node.name, inputs, outputs, double_bits(epsilon), dims)
    builder.env[node] = tuple(outputs)


def _refuse_norm(node: Node) -> str:
    weights = [value for value in node.args[2:4] if isinstance(value, Node)]
    if node.target is aten.native_layer_norm.default and node.args[2] is None and node.args[3] is not None:
        return "a bias without a weight"
    return "" if all(value.meta["val"].is_contiguous() for value in weights) else "a weight with gaps"


REDUCTIONS = {
    aten.sum.dim_IntList: Reduction.SUM,
    aten.sum.default: Reduction.SUM,
    aten.mean.dim: Reduction.MEAN,
    aten.mean.default: Reduction.MEAN,
    aten.amax.default: Reduction.AMAX,
    aten.amin.default: Reduction.AMIN,
    aten.max.default: Reduction.AMAX,
    aten.min.default: Reduction.AMIN,
}


def _reduce(builder: Builder, node: Node) -> None:
    source = node.args[0]
    dims = list(node.args[1] or []) if len(node.args) > 1 else []
    gone = {dim % max(rank(source), 1) for dim in dims} or set(range(rank(source)))
    to = builder.fresh(node)
    made, into = builder.tensors[to], to
    if len(made.sizes) == rank(source) and gone:
        kept = [dim for dim in range(rank(source)) if dim not in gone]
        shape, strides = tuple(made.sizes[dim] for dim in kept), tuple(made.strides[dim] for dim in kept)
        into = builder.tensor(type(made)(made.storage, made.dtype, shape, strides, 0, made.name))
    bits = sum(1 << dim for dim in gone)
    builder.add(Opcode.REDUCE, node.name, [builder.env[source]], [into], REDUCTIONS[node.target], bits)
    builder.env[node] = to


def _refuse_reduction(node: Node) -> str:
    value = node.args[0].meta["val"]
    if value.dtype == torch.bool or node.kwargs.get("dtype") not in (None, node.meta["val"].dtype):
        return "a reduction into another dtype"
    return "a reduction of nothing" if 0 in value.shape else ""


def _embedding(builder: Builder, node: Node) -> None:
    to = builder.fresh(node)
    builder.add(Opcode.EMBEDDING, node.name, [builder.env[value] for value in node.args[:2]], [to])
    builder.env[node] = to


def _refuse_embedding(node: Node) -> str:
    index = node.args[1].meta["val"].dtype
    return "" if index == torch.int64 else f"indices of {_short(index)}, and the kernel takes int64"


def _attention(builder: Builder, node: Node) -> None:
    outputs = [builder.fresh(node, index) for index in range(2)]
    scale = argument(node, "scale")
    value = builder.size(node.args[0].meta["val"].shape[-1]) ** -0.5 if scale is None else scale
    inputs = [builder.env[given] for given in node.args[:3]]
    mask = argument(node, "attn_mask")
    if mask is not None:
        scores = *builder.tensors[outputs[0]].sizes[:3], builder.tensors[inputs[1]].sizes[2]
        inputs.append(builder.expanded(builder.env[mask], scores))
    builder.add(
        Opcode.ATTENTION, node.name, inputs, outputs, double_bits(value), int(bool(argument(node, "is_causal")))
    )
    builder.env[node] = tuple(outputs)


def _refuse_attention(node: Node) -> str:
    mask = argument(node, "attn_mask")
    if mask is not None and mask.meta["val"].dtype not in (torch.float32, torch.bfloat16):
        return f"attention with a mask of {_short(mask.meta['val'].dtype)}"
    if argument(node, "dropout_p"):
        return "attention with dropout"
    return "" if rank(node.args[0]) == 4 else "attention in other than four dimensions"


def _concatenate(builder: Builder, node: Node) -> None:
    to, dim = builder.fresh(node), argument(node, "dim") % max(rank(node), 1)
    builder.add(Opcode.CONCATENATE, node.name, [builder.env[value] for value in node.args[0]], [to], dim)
    builder.env[node] = to


def _refuse_concatenate(node: Node) -> str:
    values = [value.meta["val"] for value in node.args[0]]
    dtypes = {value.dtype for value in values}
    if dtypes != {node.meta["val"].dtype} or torch.int64 in dtypes:
        return "parts of several dtypes, or of int64"
    return "" if {len(value.shape) for value in values} == {rank(node)} else "parts of several ranks"


def _short(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


VIEWS = (
    *(aten.view.default, aten._unsafe_view.default, aten.permute.default, aten.transpose.int, aten.t.default),
    *(aten.expand.default, aten.unsqueeze.default, aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims),
    *(aten.select.int, aten.slice.Tensor, aten.alias.default, aten.detach.default),
)
ATTENTION = aten._scaled_dot_product_flash_attention_for_cpu.default
KERNELS: dict[Any, OpKernel] = {
    **{op: OpKernel(_view, indices=True, free=True) for op in VIEWS},
    **{op: OpKernel(unary(step)) for op, step in UNARY.items()},
    **{op: OpKernel(binary(step)) for op, step in BINARY.items()},
    **{op: OpKernel(lower, refuse) for op, (lower, refuse) in SPECIAL.items()},
    **{op: OpKernel(_reduce, _refuse_reduction) for op in REDUCTIONS},
    getitem: OpKernel(_item, indices=True, free=True),
    aten.split_with_sizes.default: OpKernel(_views, indices=True, free=True),
    aten.mm.default: OpKernel(_mm),
    aten.bmm.default: OpKernel(_mm),
    aten.addmm.default: OpKernel(_addmm, _refuse_addmm),
    aten._softmax.default: OpKernel(_softmax(False), _refuse_softmax),
    aten._log_softmax.default: OpKernel(_softmax(True), _refuse_softmax),
    aten.native_layer_norm.default: OpKernel(_layer_norm, _refuse_norm),
    aten._fused_rms_norm.default: OpKernel(_rms_norm, _refuse_norm),
    aten.embedding.default: OpKernel(_embedding, _refuse_embedding, indices=True),
    ATTENTION: OpKernel(_attention, _refuse_attention),
    aten.cat.default: OpKernel(_concatenate, _refuse_concatenate),
}
# Ops with a kernel of their own stay whole where core ATen would take them apart.
WHOLE = (ATTENTION, aten._fused_rms_norm.default, aten.silu.default)


def lower(builder: Builder, node: Node) -> None:
    """Add a node to the program."""
    KERNELS[node.target].lower(builder, node)

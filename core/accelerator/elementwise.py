"""Elementwise ATen ops and their steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from core.accelerator.builder import Builder
from core.accelerator.program import OperandKind, StepOp, StepOperand

aten = torch.ops.aten
Lower = Callable[[Builder, Node], None]
FIRST = StepOperand(OperandKind.FROM_STEP, 0)

UNARY = {
    aten.neg.default: StepOp.NEG,
    aten.abs.default: StepOp.ABS,
    aten.exp.default: StepOp.EXP,
    aten.log.default: StepOp.LOG,
    aten.sqrt.default: StepOp.SQRT,
    aten.rsqrt.default: StepOp.RSQRT,
    aten.reciprocal.default: StepOp.RECIPROCAL,
    aten.sin.default: StepOp.SIN,
    aten.cos.default: StepOp.COS,
    aten.tanh.default: StepOp.TANH,
    aten.erf.default: StepOp.ERF,
    aten.sigmoid.default: StepOp.SIGMOID,
    aten.relu.default: StepOp.RELU,
    aten.silu.default: StepOp.SILU,
    aten.logical_not.default: StepOp.LOGICAL_NOT,
}
BINARY = {
    aten.mul.Tensor: StepOp.MUL,
    aten.mul.Scalar: StepOp.MUL,
    aten.div.Tensor: StepOp.DIV,
    aten.div.Scalar: StepOp.DIV,
    aten.maximum.default: StepOp.MAXIMUM,
    aten.minimum.default: StepOp.MINIMUM,
    aten.pow.Tensor_Tensor: StepOp.POW,
    aten.pow.Scalar: StepOp.POW,
    aten.logical_and.default: StepOp.LOGICAL_AND,
    aten.logical_or.default: StepOp.LOGICAL_OR,
    **{getattr(aten, name).Tensor: StepOp[name.upper()] for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    **{getattr(aten, name).Scalar: StepOp[name.upper()] for name in ("eq", "ne", "lt", "le", "gt", "ge")},
}


def unary(step: StepOp) -> Lower:
    """The lowering of an op of one operand."""
    return lambda builder, node: builder.elementwise(node, (step, node.args[0]))


def binary(step: StepOp) -> Lower:
    """The lowering of an op of two operands."""
    return lambda builder, node: builder.elementwise(node, (step, node.args[0], node.args[1]))


def _sum(step: StepOp) -> Lower:
    def lower(builder: Builder, node: Node) -> None:
        a, b = node.args[:2]
        alpha = node.kwargs.get("alpha", node.args[2] if len(node.args) > 2 else 1)
        if alpha == 1:
            builder.elementwise(node, (step, a, b))
        else:
            builder.elementwise(node, (StepOp.MUL, b, alpha), (step, a, FIRST))

    return lower


# As torch computes them: the root of -inf is NaN, its power of a half is not.
POWERS: dict[float, Callable[[Any], list[tuple[StepOp, *tuple[Any, ...]]]]] = {
    0.5: lambda x: [(StepOp.SQRT, x)],
    -0.5: lambda x: [(StepOp.RSQRT, x)],
    2: lambda x: [(StepOp.MUL, x, x)],
    3: lambda x: [(StepOp.MUL, x, x), (StepOp.MUL, FIRST, x)],
    -1: lambda x: [(StepOp.RECIPROCAL, x)],
    -2: lambda x: [(StepOp.MUL, x, x), (StepOp.RECIPROCAL, FIRST)],
}


def _power(builder: Builder, node: Node) -> None:
    x, exponent = node.args[:2]
    steps = POWERS.get(exponent) if isinstance(exponent, (int, float)) else None
    builder.elementwise(node, *(steps(x) if steps else [(StepOp.POW, x, exponent)]))


def _gelu(builder: Builder, node: Node) -> None:
    step = StepOp.GELU_TANH if node.kwargs.get("approximate") == "tanh" else StepOp.GELU
    builder.elementwise(node, (step, node.args[0]))


def _where(builder: Builder, node: Node) -> None:
    builder.elementwise(node, (StepOp.WHERE, *node.args[:3]))


def _copy(builder: Builder, node: Node) -> None:
    builder.elementwise(node, (StepOp.IDENTITY, node.args[0]))


def _full(builder: Builder, node: Node) -> None:
    builder.elementwise(node, (StepOp.IDENTITY, node.args[1]))


def _scalar(builder: Builder, node: Node) -> None:
    builder.elementwise(node, (StepOp.IDENTITY, node.args[0]))


def _clamp(builder: Builder, node: Node) -> None:
    low, high = (*node.args[1:3], None, None)[:2]
    low, high = node.kwargs.get("min", low), node.kwargs.get("max", high)
    steps: list[tuple[StepOp, Any, Any]] = []
    for step, bound in ((StepOp.MAXIMUM, low), (StepOp.MINIMUM, high)):
        if bound is not None:
            steps.append((step, FIRST if steps else node.args[0], bound))
    builder.elementwise(node, *steps)


def _accepted(node: Node) -> str:
    return ""


def _refuse_copy(node: Node) -> str:
    return "" if isinstance(node.args[0], Node) else "a copy of no tensor"


def _refuse_full(node: Node) -> str:
    value = node.args[0 if node.target is aten.scalar_tensor.default else 1]
    return "" if isinstance(value, (int, float)) else "a fill with what is no number"


def _refuse_bits(node: Node) -> str:
    return "" if node.meta["val"].dtype == torch.bool else "bits of numbers, and the kernel takes bool"


SPECIAL: dict[Any, tuple[Lower, Callable[[Node], str]]] = {
    aten.add.Tensor: (_sum(StepOp.ADD), _accepted),
    aten.add.Scalar: (_sum(StepOp.ADD), _accepted),
    aten.sub.Tensor: (_sum(StepOp.SUB), _accepted),
    aten.sub.Scalar: (_sum(StepOp.SUB), _accepted),
    aten.pow.Tensor_Scalar: (_power, _accepted),
    aten.gelu.default: (_gelu, _accepted),
    aten.where.self: (_where, _accepted),
    aten.clone.default: (_copy, _refuse_copy),
    aten._to_copy.default: (_copy, _refuse_copy),
    aten.full.default: (_full, _refuse_full),
    aten.full_like.default: (_full, _refuse_full),
    aten.scalar_tensor.default: (_scalar, _refuse_full),
    aten.clamp.default: (_clamp, _accepted),
    aten.bitwise_and.Tensor: (binary(StepOp.LOGICAL_AND), _refuse_bits),
    aten.bitwise_or.Tensor: (binary(StepOp.LOGICAL_OR), _refuse_bits),
    aten.bitwise_not.default: (unary(StepOp.LOGICAL_NOT), _refuse_bits),
}

"""Lowering of ATen ops to the accelerator's instructions, and the reasons for unsupported nodes.

`KERNELS` maps each op to its lowering and to a check of its calls. `Support` is the operator support for
torch's partitioner.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import getitem
from typing import Any

import torch
from torch.fx import Node
from torch.fx.passes.operator_support import OperatorSupportBase

from core.accelerator.builder import F32, TORCH_DTYPES, Builder
from core.accelerator.program.program import MAX_RANK, Opcode, OperandKind, Reduction, StepOp, StepOperand, double_bits

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
OFF = "switched off"


def unary(step: StepOp) -> Lower:
    """Return the lowering of an op with one operand."""
    return lambda builder, node: builder.elementwise(node, (step, node.args[0]))


def binary(step: StepOp) -> Lower:
    """Return the lowering of an op with two operands."""
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


# Same formulas as torch, even for exponent 0.5: sqrt(-inf) is NaN, while pow(-inf, 0.5) in C is not.
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


@dataclass(frozen=True, slots=True)
class OpKernel:
    """Lowering of an op, and a check of its calls: `refuse` returns a reason, empty if supported.

    `indices` is True if int64 is allowed; a `free` op touches no memory.
    """

    lower: Callable[[Builder, Node], None]
    refuse: Callable[[Node], str] = lambda node: ""
    indices: bool = False
    free: bool = False


def argument(node: Node, name: str) -> Any:
    """Return an argument by its name in the op's schema, or its default."""
    for index, known in enumerate(node.target._schema.arguments):
        if known.name == name:
            given = node.kwargs.get(name, known.default_value if known.has_default_value() else None)
            return node.args[index] if index < len(node.args) else given
    raise KeyError(name)


def rank(node: Any) -> int:
    """Return the number of dimensions of a node's value."""
    return len(node.meta["val"].shape)


def _view(builder: Builder, node: Node) -> None:
    builder.env[node] = builder.view_of(node, node.args[0])


def _views(builder: Builder, node: Node) -> None:
    """Lower an op that returns several views of one tensor; other nodes read them through `getitem`."""
    builder.env[node] = tuple(builder.view_of(node, node.args[0], index) for index in range(len(node.meta["val"])))


def _item(builder: Builder, node: Node) -> None:
    builder.env[node] = builder.env[node.args[0]][node.args[1]]


def _mm(builder: Builder, node: Node) -> None:
    to = builder.fresh(node)
    builder.product(node.name, builder.env[node.args[0]], builder.env[node.args[1]], to)
    builder.env[node] = to


def _addmm(builder: Builder, node: Node) -> None:
    """Lower addmm; the product stays in float32, so that the result is rounded only once."""
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
# Ops with their own kernel, which therefore skip core ATen's decompositions.
WHOLE = (ATTENTION, aten._fused_rms_norm.default, aten.silu.default)


def lower(builder: Builder, node: Node) -> None:
    """Add a node to the program."""
    KERNELS[node.target].lower(builder, node)


class Support(OperatorSupportBase):
    """Operator support for torch's partitioner; stores the reason for each refused node by node name."""

    def __init__(self, without: frozenset[str] = frozenset()) -> None:
        self._without = without
        self.reasons: dict[str, str] = {}

    def is_node_supported(self, submodules: Mapping[str, torch.nn.Module], node: Node) -> bool:  # noqa: ARG002
        """Return True if there is a kernel for this call of the op."""
        if node.op != "call_function":
            return False
        reason = self.refusal(node)
        if reason:
            self.reasons[node.name] = reason
        return not reason

    def refusal(self, node: Node) -> str:
        """Return why torch runs the node; empty if the accelerator runs the node."""
        if node.target is getitem:
            source = node.args[0]
            return self.refusal(source) if source.op == "call_function" else "an item of what is not computed here"
        if {op_name(node.target), str(node.target)} & self._without:
            return OFF
        kernel = KERNELS.get(node.target)
        if kernel is None:
            return self._unknown(node)
        return _refusal_of_values(node, kernel.indices) or kernel.refuse(node)

    def _unknown(self, node: Node) -> str:
        if not isinstance(node.target, torch._ops.OpOverload):
            return "works on sizes, not on tensors"
        return f"no kernel for {node.target}"


def op_name(target: Any) -> str:
    """Return an op's name without namespace and overload, as the option `without` takes it."""
    return str(target).removeprefix("aten.").partition(".")[0]


def _refusal_of_values(node: Node, indices: bool) -> str:
    """Return why a node's inputs or outputs are not supported; empty if all are supported."""
    for value in [
        *_tensors(node.meta.get("val")),
        *(v for n in node.all_input_nodes for v in _tensors(n.meta.get("val"))),
    ]:
        if value.device.type != "cpu":
            return f"on {value.device}, and the runtime is for the CPU"
        if value.layout != torch.strided:
            return f"layout {value.layout}"
        if value.dtype not in TORCH_DTYPES or (value.dtype == torch.int64 and not indices):
            return f"dtype {str(value.dtype).removeprefix('torch.')}"
        if len(value.shape) > MAX_RANK:
            return f"more than {MAX_RANK} dimensions"
    return "" if list(_tensors(node.meta.get("val"))) else "its result is no tensor"


def _tensors(value: Any) -> list[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        return [value]
    return [item for item in value if isinstance(item, torch.Tensor)] if isinstance(value, (tuple, list)) else []

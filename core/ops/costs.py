"""Classes of ops by kind of work, and the cost of an op: bytes, FLOPs, and a time estimate.

FLOPs are counted as in `torch.utils.flop_counter`.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import prod
from pathlib import Path
from typing import NamedTuple

from core.report import FxNode, TensorMeta, tensor_size
from core.report.nodes import MOST_REMEMBERED

OP_CLASSES = (
    "matmul",
    "attention",
    "pointwise",
    "reduction",
    "view",
    "copy",
    "random",
    "embedding",
    "collective",
    "other",
)

NAMES = tomllib.loads(Path(__file__).with_name("costs.toml").read_text(encoding="utf-8"))
PATTERNS = tuple((kind, re.compile(rf"^(?:{'|'.join(names)})$")) for kind, names in NAMES.items())
ATTENTION, COLLECTIVE = (re.compile("|".join(NAMES[kind])) for kind in ("attention", "collective"))


@lru_cache(maxsize=MOST_REMEMBERED)
def op_class(target: str) -> str:
    """Return the class of an op, `other` if none matches.

    `target` is the op's target as FX prints it: `torch.ops.aten.addmm.default`, `aten.addmm.default`, `operator.add`.
    """
    if COLLECTIVE.search(target):
        return "collective"
    parts = [part for part in target.split(".") if part not in ("default", "Tensor", "Scalar")]
    is_aten = "torch.ops." in target or target.startswith("aten.")
    name = aten_name(target) if is_aten else parts[-1] if parts else ""
    if ATTENTION.search(name):
        return "attention"
    return next((kind for kind, pattern in PATTERNS if pattern.match(name)), "other")


@lru_cache(maxsize=MOST_REMEMBERED)
def aten_name(target: str) -> str:
    """Return the op's name in a target, such as `addmm` for `torch.ops.aten.addmm.default`.

    The name in `aten.addmm.out` is also `addmm`. For a target of another form, return the last part.
    """
    parts = target.removeprefix("torch.ops.").split(".")
    if target.startswith(("torch.ops.", "aten.")) and len(parts) >= 3:
        return parts[1]
    return parts[-1]


# FLOPs of a machine in the time to move one byte: about 1 TFLOP/s with 50 GB/s, or 20 TFLOP/s with 1 TB/s.
FLOPS_PER_BYTE = 20.0
NAME = re.compile(r"[A-Za-z_]\w*")
Shape = tuple[int, ...]
CALLS = frozenset(("call_function", "call_method", "call_module"))


# Ops that read no memory of their inputs.
SIZES = re.compile(r"\bsym_|_like\b|\.new_")


def constants(nodes: Mapping[str, FxNode]) -> set[str]:
    """Return the FX nodes whose values need no memory: constants, sizes, and what follows from them.

    `nodes` are in graph order.
    """
    found: set[str] = set()
    for name, node in nodes.items():
        is_size = SIZES.search(node.target) if node.op in CALLS else node.op == "placeholder" and node.meta is None
        if is_size or (node.op in CALLS and found.issuperset(node.inputs)):
            found.add(name)
    return found


class Cost(NamedTuple):
    """The cost of an op: bytes read and written, and FLOPs.

    Each number is None if it depends on a shape that is symbolic or was not recorded. An op without a
    formula has 0 FLOPs, except the backward of a matmul or of attention, whose FLOPs are None.
    """

    bytes: int | None
    flops: int | None

    @property
    def weight(self) -> float | None:
        """Return the estimated time, in units of the time to move one byte; None if the cost is unknown.

        The estimate is the time for memory or the time for arithmetic, whichever is longer.
        """
        if self.bytes is None and self.flops is None:
            return None
        return max(self.bytes or 0, (self.flops or 0) / FLOPS_PER_BYTE)

    @property
    def limit(self) -> str:
        """The part that decides the estimated time: "bytes" or "FLOPs"."""
        return "bytes" if self.weight == (self.bytes or 0) else "FLOPs"


FREE = Cost(0, 0)
UNKNOWN = Cost(None, None)


class FxCosts:
    """Costs of the nodes of one graph without fusion."""

    def __init__(self, by_name: Mapping[str, FxNode]) -> None:
        self._by_name = by_name
        self._sizes: dict[str, int | None] = {}
        self._users: dict[str, list[FxNode]] = {name: [] for name, node in by_name.items() if node.meta is None}
        for node in by_name.values():
            for read in node.inputs:
                if read in self._users:
                    self._users[read].append(node)

    def cost(self, node: FxNode) -> Cost:
        """Return the cost of a node; views move no bytes, inputs and outputs cost nothing."""
        if node.op not in CALLS or op_class(node.target) == "view":
            return FREE
        sizes = [self.size(name) for name in (*node.inputs, node.name) if name in self._by_name]
        recorded = [size for size in sizes if size is not None]
        return Cost(sum(recorded) if len(recorded) == len(sizes) else None, self._flops(node))

    def size(self, name: str) -> int | None:
        """Return the bytes of a node's value; None if unknown.

        For a tuple, return the bytes of the elements that other nodes use.
        """
        if name not in self._sizes:
            self._sizes[name] = self._size(self._by_name[name])
        return self._sizes[name]

    def _size(self, node: FxNode) -> int | None:
        if node.meta is not None:
            return tensor_size(node.meta.dtype, node.meta.shape)
        users = self._users[node.name]
        metas = [user.meta for user in users if user.meta and user.target == "operator.getitem"]
        sizes = [tensor_size(meta.dtype, meta.shape) for meta in metas]
        if len(sizes) < len(users) or not sizes:
            return None
        return sum(size for size in sizes if size is not None) if None not in sizes else None

    def _flops(self, node: FxNode) -> int | None:
        formula = FORMULAS.get(aten_name(node.target))
        if formula is None:
            return None if "_backward" in node.target and op_class(node.target) in ("matmul", "attention") else 0
        read = [name for name in NAME.findall(node.args) if name in self._by_name]
        shapes = [self._shape(name) for name in read]
        try:
            return formula(shapes, self._shape(node.name), "True" in NAME.findall(node.args))
        except (IndexError, TypeError, ValueError):
            return None

    def _shape(self, name: str) -> Shape | None:
        meta = self._by_name[name].meta
        return _numbers(meta.shape) if meta else None


def numel(meta: TensorMeta) -> int | None:
    """Return the number of elements; None if the shape has a symbol."""
    shape = _numbers(meta.shape)
    return None if shape is None else prod(shape)


@lru_cache(maxsize=MOST_REMEMBERED)
def _numbers(shape: tuple[str, ...]) -> Shape | None:
    return tuple(map(int, shape)) if all(size.isdecimal() for size in shape) else None


Shapes = Sequence[Shape | None]
Formula = Callable[[Shapes, Shape | None, bool], int]


def _static(shape: Shape | None) -> Shape:
    if shape is None:
        raise ValueError("a symbolic shape")
    return shape


def _product(of: int) -> Formula:
    """Return the FLOP formula of a matmul or batched matmul.

    The operands are the op's input tensors with the indices `of` and `of + 1`.
    """

    def flops(shapes: Shapes, out: Shape | None, flag: bool) -> int:
        left, right = _static(shapes[of]), _static(shapes[of + 1])
        return 2 * prod(left) * right[-1]

    return flops


def _matmul(shapes: Shapes, out: Shape | None, flag: bool) -> int:
    """Return the FLOPs of `torch.matmul`.

    Each result element is a sum over the last dimension of the left operand.
    """
    return 2 * prod(_static(out)) * _static(shapes[0])[-1]


def _convolution(shapes: Shapes, out: Shape | None, transposed: bool) -> int:
    batch, _, *points = _static(shapes[0])
    weight = _static(shapes[1])
    return 2 * batch * prod(points if transposed else _static(out)[2:]) * prod(weight)


def _forward_convolution(shapes: Shapes, out: Shape | None, flag: bool) -> int:
    return _convolution([*shapes], out, False)


def _transposed_convolution(shapes: Shapes, out: Shape | None, flag: bool) -> int:
    return _convolution(shapes, out, True)


def _attention(shapes: Shapes, out: Shape | None, flag: bool) -> int:
    """Return the FLOPs of attention: two matmuls per query head.

    A causal mask doesn't reduce the count, as in torch.
    """
    *batch, queries, wide = _static(shapes[0])
    keys, value_wide = _static(shapes[1])[-2], _static(shapes[2])[-1]
    return 2 * prod(batch) * queries * keys * (wide + value_wide)


FORMULAS: Mapping[str, Formula] = {
    "mm": _product(0),
    "_scaled_mm": _product(0),
    "bmm": _product(0),
    "addmm": _product(1),
    "baddbmm": _product(1),
    "matmul": _matmul,
    "linear": _matmul,
    "convolution": _convolution,
    "_convolution": _convolution,
    **dict.fromkeys(("conv1d", "conv2d", "conv3d"), _forward_convolution),
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _transposed_convolution),
    "scaled_dot_product_attention": _attention,
    "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_efficient_attention": _attention,
    "_scaled_dot_product_cudnn_attention": _attention,
}

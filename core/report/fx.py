"""Nodes of one FX graph. They are parsed from the graph's text when shown, and not stored in the report.

Tensors in PyTorch's own notation.

Sizes of values in bytes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Literal

from core.report.places import Place

Op = Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]
# Torch's dtype name → the short name that torch prints in annotated graph code.
SHORT_DTYPES = {
    "float64": "f64",
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint64": "u64",
    "uint32": "u32",
    "uint16": "u16",
    "uint8": "u8",
    "bool": "b8",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz",
}
BITS = re.compile(r"^[a-z]+(\d+)")
# Cached, since many nodes of a graph have the same shape.
MOST_REMEMBERED = 4096


@dataclass(frozen=True, slots=True)
class TensorMeta:
    """The value of a node as torch prints it: short dtype, shape and stride in elements (symbols as text), device."""

    dtype: str
    shape: tuple[str, ...]
    stride: tuple[str, ...] = ()
    device: str = ""


@dataclass(frozen=True, slots=True)
class FxNode:
    """A node: `name`, `op` and `target` as in torch.fx; `args` is the text of the call's arguments.

    `inputs` are the names of the nodes that it reads, in order and without duplicates; `line` is its line in the
    graph's text. `source` is the user's line by the graph's comment, `code` its text. `stack` has the lines from the
    compiled frame down to the call, innermost last; empty if not recorded.
    """

    name: str
    op: Op
    target: str
    args: str
    inputs: tuple[str, ...]
    meta: TensorMeta | None
    line: int
    source: Place | None = None
    code: str = ""
    module: str = ""
    module_class: str = ""
    stack: tuple[Place, ...] = ()


def tensor_text(dtype: str, shape: Sequence[int | str], stride: Sequence[int | str] | None = None) -> str:
    """Return a tensor as PyTorch annotates its graphs: "f32[8, 64]", with stride "f32[8, 64][64, 1]"."""
    name = dtype.removeprefix("torch.")
    strides = "" if stride is None else _list(stride)
    return f"{SHORT_DTYPES.get(name, name)}{_list(shape)}{strides}"


def _list(values: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, values))}]"


@lru_cache(maxsize=MOST_REMEMBERED)
def tensor_size(dtype: str, shape: tuple[str, ...]) -> int | None:
    """Return the bytes of a tensor from torch's short dtype and its shape as text; None if either is unknown.

    An element takes at least one byte: the item size of `torch.float4_e2m1fn_x2`, for example, is 1.
    """
    bits = BITS.match(dtype)
    if bits is None or not all(length.isdecimal() for length in shape):
        return None
    return prod(map(int, shape)) * max(int(bits[1]), 8) // 8

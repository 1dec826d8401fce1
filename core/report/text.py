"""Tensors in PyTorch's own notation."""

from __future__ import annotations

from collections.abc import Sequence

# Torch's names on the left, the short ones that PyTorch prints in annotated graph code on the right.
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


def tensor_text(dtype: str, shape: Sequence[int | str], stride: Sequence[int | str] | None = None) -> str:
    """Return a tensor as PyTorch annotates its graphs: "f32[8, 64]", with stride "f32[8, 64][64, 1]"."""
    name = dtype.removeprefix("torch.")
    strides = "" if stride is None else _list(stride)
    return f"{SHORT_DTYPES.get(name, name)}{_list(shape)}{strides}"


def _list(values: Sequence[int | str]) -> str:
    return f"[{', '.join(map(str, values))}]"

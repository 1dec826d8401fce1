"""Numbers and tensors as text on a page: the words of `core/words.py`, and tensors as PyTorch prints them."""

from __future__ import annotations

from collections.abc import Sequence

from core.report import tensor_text
from core.words import NOT_RECORDED, ago, amount, bytes_, count, duration_s, number, per_second, percent, ratio

__all__ = [
    "NOT_RECORDED",
    "ago",
    "amount",
    "bytes_",
    "count",
    "duration_s",
    "number",
    "per_second",
    "percent",
    "ratio",
    "tensor",
]


def tensor(dtype: str | None, shape: Sequence[int | str] | None, stride: Sequence[int | str] | None = None) -> str:
    """Write a tensor as PyTorch annotates its graphs: "f32[8, 64]", with stride "f32[8, 64][64, 1]"."""
    if dtype is None or shape is None:
        return NOT_RECORDED
    return tensor_text(dtype, shape, stride)

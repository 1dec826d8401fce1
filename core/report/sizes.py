"""Sizes of values in bytes."""

from __future__ import annotations

import re
from functools import lru_cache
from math import prod

BITS = re.compile(r"^[a-z]+(\d+)")
# Sizes that a graph needs again and again, such as that of one shape, are computed once.
MOST_REMEMBERED = 4096


@lru_cache(maxsize=MOST_REMEMBERED)
def tensor_size(dtype: str, shape: tuple[str, ...]) -> int | None:
    """Return the bytes of a tensor by torch's short dtype and its shape as text; None for a symbol or an unknown dtype.

    An element takes a whole byte at least: the item size of `torch.float4_e2m1fn_x2`, say, is one.
    """
    bits = BITS.match(dtype)
    if bits is None or not all(length.isdecimal() for length in shape):
        return None
    return prod(map(int, shape)) * max(int(bits[1]), 8) // 8

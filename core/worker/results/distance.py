"""Distance of two tensors, computed in bounded memory."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch

DISTANCE_CHUNK = 2**21


@dataclass(frozen=True, slots=True)
class Distance:
    """Distance of a tensor `b` from `a`: norms, largest absolute values, and count of unequal elements.

    `odd` counts the elements that are NaN or infinite on one side and not the same on the other. `elements` and
    `unequal` include these elements, the other fields ignore them.
    """

    elements: int = 0
    error: float = 0.0
    norm: float = 0.0
    other_norm: float = 0.0
    max_error: float = 0.0
    largest: float = 0.0
    unequal: int = 0
    odd: int = 0


def distance(a: torch.Tensor, b: torch.Tensor) -> Distance:
    """Return the distance of two tensors of one shape; raises RuntimeError if torch can't convert them."""
    found = [_of(x, y) for x, y in _chunks(a, b)]
    return Distance(
        elements=a.numel(),
        error=math.hypot(*(item.error for item in found)),
        norm=math.hypot(*(item.norm for item in found)),
        other_norm=math.hypot(*(item.other_norm for item in found)),
        max_error=max((item.max_error for item in found), default=0.0),
        largest=max((item.largest for item in found), default=0.0),
        unequal=sum(item.unequal for item in found),
        odd=sum(item.odd for item in found),
    )


def _chunks(a: torch.Tensor, b: torch.Tensor) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    one, other = a.detach().reshape(-1), b.detach().reshape(-1)
    for start in range(0, a.numel(), DISTANCE_CHUNK):
        yield _wide(one[start : start + DISTANCE_CHUNK]), _wide(other[start : start + DISTANCE_CHUNK])


def _wide(chunk: torch.Tensor) -> torch.Tensor:
    """Return values in their widest dtype; integers stay integers, so that each bit of an int64 counts."""
    if chunk.dtype.is_complex:
        return chunk.cpu().to(torch.complex128)
    if chunk.dtype.is_floating_point:
        return chunk.cpu().to(torch.float64)
    return chunk.cpu().view(torch.int64) if chunk.dtype == torch.uint64 else chunk.cpu().to(torch.int64)


def _of(a: torch.Tensor, b: torch.Tensor) -> Distance:
    same = (a == b) | (a.isnan() & b.isnan())
    odd = ~same & ~(a.isfinite() & b.isfinite())
    hidden = odd | ~a.isfinite()
    x, y = (_shown(side, hidden) for side in (a, b))
    gap = (x - y).abs()
    return Distance(
        error=float(torch.linalg.vector_norm(gap)),
        norm=float(torch.linalg.vector_norm(x)),
        other_norm=float(torch.linalg.vector_norm(y)),
        max_error=float(gap.max()),
        largest=float(x.abs().max()),
        unequal=int((~same).sum()),
        odd=int(odd.sum()),
    )


def _shown(side: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
    wide = side if side.dtype.is_complex else side.to(torch.float64)
    return wide.masked_fill(hidden, 0)

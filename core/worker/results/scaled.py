"""Distance of two tensors, and errors scaled so that fills and large rows can't hide a wrong value.

Each error is divided by the larger of the element's magnitude and its group's typical magnitude. Groups are
the whole tensor, its rows and its columns. The typical magnitude is a geometric mean, which a few large
values hardly change. The mean leaves out zeros and fills. Fills are the largest values that repeat and are
equal on both sides (-1e9, finfo.min).

`distance` works in bounded memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch

# Elements per block, few enough for a CPU's cache.
CHUNK = 2**17
# A group with fewer elements has no typical magnitude: one of them may be near zero by chance.
FEWEST = 16
# Number of different fills: one for padding, one for masks, and one with the other sign.
FILLS = 3
Kind = Literal["whole", "rows", "columns"]
Block = tuple[slice, slice]
DISTANCE_CHUNK = 2**21


@dataclass(frozen=True, slots=True)
class Groups:
    """Scaled errors of the groups of one kind, one number per group.

    `rms` is the root mean square over all finite elements, `most` is the largest error, and `differing` is the number
    of unequal elements. With a reference, `mine` and `theirs` are the errors of the first and second tensor against it,
    over the unequal elements only.
    """

    kind: Kind
    rms: torch.Tensor
    most: torch.Tensor
    differing: torch.Tensor
    mine: tuple[torch.Tensor, torch.Tensor] | None = None
    theirs: tuple[torch.Tensor, torch.Tensor] | None = None


def scaled(
    left: torch.Tensor, right: torch.Tensor, floor: float = 0.0, reference: torch.Tensor | None = None
) -> list[Groups]:
    """Return the errors between two floating tensors of equal shape, in groups of elements.

    The groups are all elements, then rows, then columns.

    Errors up to `floor` count as 0; larger errors are reduced by `floor`.
    """
    sides = [side.detach() for side in (left, right, reference) if side is not None]
    rows, columns = _shape(left)
    sides = [side.reshape(rows, columns) for side in sides]
    kinds: list[Kind] = ["whole"]
    kinds += ["rows"] if rows > 1 and columns >= FEWEST else []
    kinds += ["columns"] if columns > 1 and rows >= FEWEST else []
    families = [_Family(kind, rows, columns) for kind in kinds]
    for at in _blocks(rows, columns):
        values = _Values(sides, at)
        for family in families:
            family.learn(at, values)
    for at in _blocks(rows, columns):
        values = _Values(sides, at)
        for family in families:
            family.measure(at, values, floor)
    return [family.groups() for family in families]


def is_close(wanted: torch.Tensor, actual: torch.Tensor, tolerance: float) -> bool:
    """Return True if all errors, relative to the magnitude around them, are within `tolerance`.

    Integers and complex numbers must be equal.
    """
    gap = distance(wanted, actual)
    if gap.odd or not gap.unequal or not wanted.dtype.is_floating_point:
        return not gap.unequal
    whole, *_ = scaled(wanted, actual)
    return bool(whole.most <= tolerance)


def largest_unrepeated(values: torch.Tensor) -> float:
    """Return the largest finite magnitude that is no fill; the largest fill if all are fills.

    0 without finite values.
    """
    sizes = values.detach().abs().reshape(-1)
    sizes = sizes[sizes.isfinite()]
    if not sizes.numel():
        return 0.0
    kept = sizes[~_fills(sizes, torch.ones_like(sizes, dtype=torch.bool))]
    return float((kept if kept.numel() else sizes).max())


def _shape(tensor: torch.Tensor) -> tuple[int, int]:
    """Return the numbers of rows and columns of a tensor as a matrix.

    A row spans as many of the last dimensions as needed for `FEWEST` elements.
    """
    columns = 1
    for size in reversed(tensor.shape):
        columns *= size
        if columns >= FEWEST:
            break
    return tensor.numel() // columns if columns else 0, columns


def _blocks(rows: int, columns: int) -> Iterator[Block]:
    height, width = max(1, CHUNK // max(columns, 1)), min(columns, CHUNK)
    for top in range(0, rows, height):
        for left in range(0, columns, width):
            yield slice(top, min(top + height, rows)), slice(left, min(left + width, columns))


class _Values:
    """A block of both tensors and the reference, at maximum precision, with zeros for non-finite elements."""

    def __init__(self, sides: list[torch.Tensor], at: Block) -> None:
        sides = [wide(side[at]) for side in sides]
        a, b = sides[:2]
        same = (a == b) | (a.isnan() & b.isnan())
        finite = torch.stack([side.isfinite() for side in sides]).all(0)
        a, b = (side.masked_fill(~finite, 0) for side in (a, b))
        self.size = a.abs()
        self.finite = finite
        self.differing = finite & ~same
        self.gaps = [(a - b).abs()]
        self.gaps += [(side - sides[2]).abs().masked_fill(~self.differing, 0) for side in (a, b) if len(sides) > 2]
        self._same = same

    @cached_property
    def counted(self) -> torch.Tensor:
        """Return the mask of elements that count for the typical magnitude."""
        return (self.size > 0) & ~_fills(self.size, self._same)

    @cached_property
    def logs(self) -> torch.Tensor:
        """Return the logarithms of the counted magnitudes, 0 elsewhere."""
        return torch.where(self.counted, self.size, 1.0).log()


def wide(block: torch.Tensor) -> torch.Tensor:
    """Return floating or complex values on the CPU, in torch's widest dtype."""
    return block.cpu().to(torch.complex128 if block.dtype.is_complex else torch.float64)


def _fills(sizes: torch.Tensor, same: torch.Tensor) -> torch.Tensor:
    """Return a mask of fill values: several elements of the largest magnitude, the same in both tensors."""
    found = torch.zeros_like(same)
    for _ in range(FILLS):
        left = sizes[~found]
        if not left.numel():
            break
        top = (sizes == left.max()) & ~found
        if int(top.sum()) < 2 or not bool(same[top].all()):
            break
        found |= top
    return found


class _Family:
    """Groups of one kind, computed block by block: first their typical magnitudes, then their errors."""

    def __init__(self, kind: Kind, rows: int, columns: int) -> None:
        self._kind = kind
        self._groups = {"whole": 1, "rows": rows, "columns": columns}[kind]
        self._logs, self._counted = self._zeros(), self._zeros()
        self._finite, self._differing = self._zeros(), self._zeros()
        self._sums: list[tuple[torch.Tensor, torch.Tensor]] = []

    def _zeros(self) -> torch.Tensor:
        return torch.zeros(self._groups, dtype=torch.float64)

    def learn(self, at: Block, values: _Values) -> None:
        """Add a block to the typical magnitudes."""
        where = self._at(at)
        self._logs[where] += self._sum(values.logs)
        self._counted[where] += self._sum(values.counted)

    def measure(self, at: Block, values: _Values, floor: float) -> None:
        """Add a block to the errors."""
        where = self._at(at)
        typical = (self._logs[where] / self._counted[where].clamp(min=1)).exp() * (self._counted[where] > 0)
        scale = torch.maximum(values.size, typical[:, None] if self._kind == "rows" else typical)
        self._finite[where] += self._sum(values.finite)
        self._differing[where] += self._sum(values.differing)
        for index, gap in enumerate(values.gaps):
            if index == len(self._sums):
                self._sums.append((self._zeros(), self._zeros()))
            squares, most = self._sums[index]
            part = torch.where(gap > floor, (gap - floor) / scale, 0.0)
            squares[where] += self._sum(part.square())
            most[where] = torch.maximum(most[where], self._most(part))

    def groups(self) -> Groups:
        """Return the groups of the added blocks; groups without a typical magnitude have an error of 0."""
        told = self._counted >= FEWEST if self._kind != "whole" else torch.ones(1, dtype=torch.bool)
        apart, *against = [tuple(part.masked_fill(~told, 0) for part in pair) for pair in self._sums]
        mine, theirs = [_rms(found, self._differing) for found in against] or (None, None)
        rms, most = _rms(apart, self._finite)
        return Groups(self._kind, rms, most, self._differing, mine, theirs)

    def _at(self, at: Block) -> slice:
        return {"whole": slice(0, 1), "rows": at[0], "columns": at[1]}[self._kind]

    def _sum(self, values: torch.Tensor) -> torch.Tensor:
        if self._kind == "whole":
            return values.sum(dtype=torch.float64).reshape(1)
        return values.sum(1 if self._kind == "rows" else 0, dtype=torch.float64)

    def _most(self, values: torch.Tensor) -> torch.Tensor:
        if self._kind == "whole":
            return values.max().reshape(1)
        return values.amax(1 if self._kind == "rows" else 0)


def _rms(pair: tuple[torch.Tensor, torch.Tensor], elements: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    squares, most = pair
    return (squares / elements.clamp(min=1)).sqrt(), most


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
    """Return the distance of two tensors of one shape.

    Raises RuntimeError if torch can't convert them.
    """
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

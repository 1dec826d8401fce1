"""Errors of two tensors, scaled so that fills and large rows can't hide a wrong value.

Each error is divided by the larger of the element's magnitude and its group's typical magnitude. Groups are
the parts of the tensor, its rows and its columns. Parts are elements of similar magnitude: a gap in the
magnitudes separates two parts, such as scores with and without an additive mask of -1e4. Most tensors have
one part. The typical magnitude is a geometric mean, which a few large values hardly change. The mean leaves
out zeros and fills. Fills are the largest values that repeat and are equal on both sides (-1e9, finfo.min).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch

from core.worker.results.distance import distance

# Elements per block, few enough for a CPU's cache.
CHUNK = 2**17
# A group with fewer elements has no typical magnitude: one of them may be near zero by chance.
FEWEST = 16
# Number of different fills: one for padding, one for masks, and one with the other sign.
FILLS = 3
# Powers of two without any magnitude that may separate two parts.
GAP = 3
# Of n random numbers, k are 2**g times smaller than all others with a probability of about 2**(-k * g).
CHANCE_BITS = 20
# Float64 has no smaller exponent.
LEAST_EXPONENT = -1074
EXPONENTS = 1024 - LEAST_EXPONENT + 1
Kind = Literal["parts", "rows", "columns"]
Block = tuple[slice, slice]


@dataclass(frozen=True, slots=True)
class Groups:
    """Scaled errors of the groups of one kind, one number per group.

    `rms` is the root mean square over all finite elements, `most` is the largest error, and `differing` is the number
    of unequal elements. `mine` and `theirs` are the scaled errors of the first and second tensor against a reference,
    over the unequal elements only; None without a reference.
    """

    kind: Kind
    rms: torch.Tensor
    most: torch.Tensor
    differing: torch.Tensor
    mine: tuple[torch.Tensor, torch.Tensor] | None = None
    theirs: tuple[torch.Tensor, torch.Tensor] | None = None


def scaled(
    left: torch.Tensor, right: torch.Tensor, floor: float = 0.0, errors: tuple[torch.Tensor, ...] = ()
) -> list[Groups]:
    """Return the errors between two floating tensors of equal shape, in groups of elements.

    The groups are parts, then rows, then columns. `errors` are the absolute errors of both tensors against a
    reference.

    Errors up to `floor` count as 0; larger errors are reduced by `floor`.
    """
    rows, columns = _shape(left)
    sides = [side.detach().reshape(rows, columns) for side in (left, right, *errors)]
    kinds: list[Kind] = ["parts"]
    kinds += ["rows"] if rows > 1 and columns >= FEWEST else []
    kinds += ["columns"] if columns > 1 and rows >= FEWEST else []
    bounds = _bounds(sides[:2], rows, columns)
    families = [_Family(kind, rows, columns, bounds) for kind in kinds]
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
    """Return True if all errors are within `tolerance` of the magnitude around, or 0 for integers."""
    gap = distance(wanted, actual)
    if gap.odd or not gap.unequal or not wanted.dtype.is_floating_point:
        return not gap.unequal
    parts, *_ = scaled(wanted, actual)
    return bool((parts.most <= tolerance).all())


def group_error(left: torch.Tensor, right: torch.Tensor, kind: Kind, index: int) -> float:
    """Return the norm of the difference in a row or column, divided by its norm in the first tensor."""
    sides = [side.detach().reshape(_shape(left)) for side in (left, right)]
    gap = distance(*(side[index] if kind == "rows" else side[:, index] for side in sides))
    return gap.error / gap.norm if gap.norm else math.inf


def typical_around(sizes: torch.Tensor) -> torch.Tensor:
    """Return the typical magnitude around each element.

    It is the magnitude of all elements, times factors of the element's row and column.

    Zeros do not count. A row or column with fewer than `FEWEST` counted elements has a factor of 1.
    """
    matrix = sizes.reshape(_shape(sizes))
    counted = matrix > 0
    logs = matrix.masked_fill(~counted, 1).log()
    typical = logs.sum() / counted.sum().clamp(min=1)
    factors = []
    for dim in (0, 1):
        counts = counted.sum(dim, keepdim=True)
        factors.append((logs.sum(dim, keepdim=True) / counts.clamp(min=1) - typical) * (counts >= FEWEST))
    return (typical + factors[0] + factors[1]).exp().reshape(sizes.shape)


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


def _bounds(sides: list[torch.Tensor], rows: int, columns: int) -> torch.Tensor:
    """Return the smallest binary exponent of each part but the lowest, in ascending order."""
    counts = torch.zeros(EXPONENTS, dtype=torch.int64)
    for at in _blocks(rows, columns):
        values = _Values(sides, at)
        exponents = values.exponents[values.counted]
        counts += torch.bincount(exponents - LEAST_EXPONENT, minlength=EXPONENTS)
    bounds, below, last = [], 0, LEAST_EXPONENT
    for place in counts.nonzero().flatten().tolist():
        gap = place + LEAST_EXPONENT - last - 1
        if below and gap >= GAP and below * gap >= CHANCE_BITS:
            bounds.append(place + LEAST_EXPONENT)
            below = 0
        below, last = below + int(counts[place]), place + LEAST_EXPONENT
    return torch.tensor(bounds, dtype=torch.int64)


class _Values:
    """A block of both tensors and their errors, at maximum precision, with zeros for non-finite elements."""

    def __init__(self, sides: list[torch.Tensor], at: Block) -> None:
        sides = [wide(side[at]) for side in sides]
        a, b = sides[:2]
        same = (a == b) | (a.isnan() & b.isnan())
        finite = torch.stack([side.isfinite() for side in sides]).all(0)
        a, b = (side.masked_fill(~finite, 0) for side in (a, b))
        self.size = a.abs()
        self.finite = finite
        self.differing = finite & ~same
        self.gaps = [(a - b).abs(), *(error.masked_fill(~self.differing, 0) for error in sides[2:])]
        self._same = same

    @cached_property
    def exponents(self) -> torch.Tensor:
        """Return the binary exponents of the magnitudes, the least exponent for zeros."""
        return self.size.frexp().exponent.long().masked_fill(self.size == 0, LEAST_EXPONENT)

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

    def __init__(self, kind: Kind, rows: int, columns: int, bounds: torch.Tensor) -> None:
        self._kind = kind
        self._bounds = bounds
        self._groups = {"parts": len(bounds) + 1, "rows": rows, "columns": columns}[kind]
        self._logs, self._counted = self._zeros(), self._zeros()
        self._finite, self._differing = self._zeros(), self._zeros()
        self._sums: list[tuple[torch.Tensor, torch.Tensor]] = []

    def _zeros(self) -> torch.Tensor:
        return torch.zeros(self._groups, dtype=torch.float64)

    def learn(self, at: Block, values: _Values) -> None:
        """Add a block to the typical magnitudes."""
        where, part = self._at(at), self._part(values)
        self._logs[where] += self._sum(values.logs, part)
        self._counted[where] += self._sum(values.counted, part)

    def measure(self, at: Block, values: _Values, floor: float) -> None:
        """Add a block to the errors."""
        where, part = self._at(at), self._part(values)
        typical = (self._logs[where] / self._counted[where].clamp(min=1)).exp() * (self._counted[where] > 0)
        typical = typical[:, None] if self._kind == "rows" else typical if part is None else typical[part]
        scale = torch.maximum(values.size, typical)
        self._finite[where] += self._sum(values.finite, part)
        self._differing[where] += self._sum(values.differing, part)
        for index, gap in enumerate(values.gaps):
            if index == len(self._sums):
                self._sums.append((self._zeros(), self._zeros()))
            squares, most = self._sums[index]
            errors = torch.where(gap > floor, (gap - floor) / scale, 0.0)
            squares[where] += self._sum(errors.square(), part)
            most[where] = torch.maximum(most[where], self._most(errors, part))

    def groups(self) -> Groups:
        """Return the groups; rows and columns without a typical magnitude have an error of 0."""
        enough = (self._counted >= FEWEST) | (self._kind == "parts")
        apart, *against = [tuple(part.masked_fill(~enough, 0) for part in pair) for pair in self._sums]
        mine, theirs = [_rms(found, self._differing) for found in against] or (None, None)
        rms, most = _rms(apart, self._finite)
        return Groups(self._kind, rms, most, self._differing, mine, theirs)

    def _at(self, at: Block) -> slice:
        return {"parts": slice(None), "rows": at[0], "columns": at[1]}[self._kind]

    def _part(self, values: _Values) -> torch.Tensor | None:
        """Return the part of each element; None if all elements are in one part."""
        if self._kind != "parts" or not len(self._bounds):
            return None
        return torch.bucketize(values.exponents, self._bounds, right=True)

    def _sum(self, values: torch.Tensor, part: torch.Tensor | None) -> torch.Tensor:
        if part is not None:
            return self._zeros().index_add_(0, part.reshape(-1), values.reshape(-1).double())
        if self._kind == "parts":
            return values.sum(dtype=torch.float64).reshape(1)
        return values.sum(1 if self._kind == "rows" else 0, dtype=torch.float64)

    def _most(self, values: torch.Tensor, part: torch.Tensor | None) -> torch.Tensor:
        if part is not None:
            return self._zeros().scatter_reduce_(0, part.reshape(-1), values.reshape(-1), "amax")
        if self._kind == "parts":
            return values.max().reshape(1)
        return values.amax(1 if self._kind == "rows" else 0)


def _rms(pair: tuple[torch.Tensor, torch.Tensor], elements: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    squares, most = pair
    return (squares / elements.clamp(min=1)).sqrt(), most

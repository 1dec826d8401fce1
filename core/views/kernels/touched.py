"""The tensor elements that one program of a Triton kernel loads and stores, as a picture."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from core.base import words as fmt
from core.runs.tools import TouchedElements

CELLS = 192
WRAP = 64


@dataclass(frozen=True, slots=True)
class TouchedView:
    """A tensor argument and its touched elements."""

    tensor: TouchedElements

    @property
    def name(self) -> str:
        """Name of the argument."""
        return self.tensor.name

    @property
    def dtype_and_shape(self) -> str:
        """Dtype and shape in torch's notation."""
        return f"{self.tensor.dtype}[{', '.join(map(str, self.tensor.shape))}]"

    @property
    def accesses(self) -> str:
        """Number of loads and stores; "untouched" without any."""
        loads, stores = fmt.count(self.tensor.loads, "load"), fmt.count(self.tensor.stores, "store")
        parts = [loads] * bool(self.tensor.loads) + [stores] * bool(self.tensor.stores)
        return " and ".join(parts) or "untouched"

    @property
    def axes(self) -> tuple[str, str]:
        """Titles of both axes of the picture."""
        flat = len(self.tensor.shape) < 2
        return ("elements", f"wrapped after {WRAP}") if flat else ("last dimension", "rows")

    @property
    def cells(self) -> list[list[int]]:
        """The tensor as rows of cells: 1 for loaded, 2 for stored, 3 for both, 0 for neither.

        Elements share a cell if there are too many.
        """
        rows, columns = _plane(self.tensor.shape)
        down, across = -(-rows // CELLS), -(-columns // CELLS)
        table = [[0] * -(-columns // across) for _ in range(-(-rows // down))]
        for offsets, bit in ((self.tensor.loaded, 1), (self.tensor.stored, 2)):
            for offset in offsets:
                row, column = divmod(_index(offset, self.tensor), columns)
                if 0 <= row < rows:
                    table[row // down][column // across] |= bit
        return table


def _plane(shape: tuple[int, ...]) -> tuple[int, int]:
    """Return the rows and columns to draw: the last dimension across, a single dimension wrapped."""
    if len(shape) < 2:
        size = prod(shape)
        return -(-size // WRAP) or 1, min(WRAP, max(1, size))
    return max(1, prod(shape[:-1])), max(1, shape[-1])


def _index(offset: int, tensor: TouchedElements) -> int:
    """Return the logical index of an offset into the storage; -1 for an offset between the elements."""
    rest, coordinates = offset, [0] * len(tensor.shape)
    for axis in sorted(range(len(tensor.shape)), key=lambda axis: -tensor.stride[axis]):
        if tensor.stride[axis]:
            coordinates[axis], rest = divmod(rest, tensor.stride[axis])
    if rest or any(not 0 <= at < size for at, size in zip(coordinates, tensor.shape, strict=True)):
        return -1
    index = 0
    for at, size in zip(coordinates, tensor.shape, strict=True):
        index = index * size + at
    return index

"""Conversion of torch's sizes, symbolic or not, to numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule

from core.base.errors import ProgramError


class Sizes:
    """Values of a segment's symbols, from the inputs of a call, or from torch's hints without inputs."""

    def __init__(self, segment: GraphModule) -> None:
        self._values = [node.meta["val"] for node in segment.graph.nodes if node.op == "placeholder"]
        self._places = _places(self._values)

    @property
    def dynamic(self) -> bool:
        """True if there are symbols."""
        return bool(self._places)

    def key(self, inputs: Sequence[Any]) -> tuple[int, ...]:
        """Return the symbols' values at a call, in order."""
        return tuple(int(_at(inputs[index], dim)) for index, dim in self._places.values())

    def number(self, key: tuple[int, ...] | None, value: Any) -> int:
        """Return a size as a number; raises ProgramError if no input determines it."""
        if isinstance(value, int):
            return value
        if not isinstance(value, torch.SymInt):
            raise ProgramError(f"{value} is a number that is no size")
        if key is None:
            return hinted(value)
        bound = dict(zip(self._places, key, strict=True))
        found = value.node.expr.xreplace(bound)
        try:
            return int(found)
        except TypeError:
            raise ProgramError(f"the size {value.node.expr} is told by no input") from None


def hinted(value: Any) -> int:
    """Return a size as a number, by torch's hint if it is symbolic; raises ProgramError if torch has none."""
    if isinstance(value, int):
        return value
    if not value.node.has_hint():
        raise ProgramError(f"the size {value} is known only when it runs")
    return int(value.node.hint)


def _places(values: Sequence[Any]) -> dict[Any, tuple[int, int | None]]:
    """Return symbol → input that determines it, as its index and dimension; None for the number itself."""
    found: dict[Any, tuple[int, int | None]] = {}
    for index, value in enumerate(values):
        sizes = list(enumerate(value.shape)) if isinstance(value, torch.Tensor) else [(None, value)]
        for dim, size in sizes:
            if isinstance(size, torch.SymInt) and size.node.expr.is_Symbol:
                found.setdefault(size.node.expr, (index, dim))
    return found


def _at(value: Any, dim: int | None) -> Any:
    return value if dim is None else value.shape[dim]

"""Places of an affine index expression: `64*d0 + d1 + 3` for d0 in 0…7 and d1 in 0…63 is a span in a buffer.

A span has its first place and its axes, each a positive stride and an extent, smallest stride first. Axes that follow
one another without a gap are merged, so that loops in another order or nesting give the same span.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Axis = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Span:
    """The places `offset + sum(stride * i)`, each i from 0 up to its extent."""

    offset: int
    axes: tuple[Axis, ...]

    @staticmethod
    def of(offset: int, pairs: Iterable[Axis]) -> Span:
        """The span of strides and extents in any order; those that go backwards are turned round."""
        axes: list[Axis] = []
        moving = [(stride, extent) for stride, extent in pairs if stride and extent != 1]
        offset += sum(stride * (extent - 1) for stride, extent in moving if stride < 0)
        for stride, extent in sorted((abs(stride), extent) for stride, extent in moving):
            if axes and axes[-1][0] * axes[-1][1] == stride:
                axes[-1] = (axes[-1][0], axes[-1][1] * extent)
            else:
                axes.append((stride, extent))
        return Span(offset, tuple(axes))

    @property
    def reach(self) -> int:
        """Distance from the first place to the last."""
        return sum(stride * (extent - 1) for stride, extent in self.axes)


def span(index: Any, extents: Mapping[str, int]) -> Span | None:
    """The span of an index (a sympy expression) over its loops, None where it is not affine in them."""
    offset = 0
    pairs: list[Axis] = []
    for term, factor in index.expand().as_coefficients_dict().items():
        if term == 1 and factor.is_Integer:
            offset = int(factor)
        elif term.is_Symbol and str(term) in extents and factor.is_Integer:
            pairs.append((int(factor), extents[str(term)]))
        elif factor != 0:
            return None
    return Span.of(offset, pairs)


def exactly(place: Span) -> tuple[int, bool]:
    """Return the maximum number of places in a span, and True if it is exact: overlapping axes repeat places."""
    places = math.prod(extent for _, extent in place.axes)
    reach = 0
    for stride, extent in place.axes:
        if stride <= reach:
            return min(places, place.reach + 1), False
        reach += stride * (extent - 1)
    return places, True


def apart(left: Span, right: Span) -> bool:
    """Return True if two spans certainly share no place."""
    if left.offset > right.offset + right.reach or right.offset > left.offset + left.reach:
        return True
    strides = sorted({stride for stride, _ in (*left.axes, *right.axes)}, reverse=True)
    here, there = dict(left.axes), dict(right.axes)
    steps = [(stride, 1 - there.get(stride, 1), here.get(stride, 1) - 1) for stride in strides]
    return not _reachable(right.offset - left.offset, steps)


def _reachable(distance: int, steps: list[tuple[int, int, int]]) -> bool:
    """Return True if steps, each taken between its minimum and maximum times, can sum to a distance.

    True if in doubt.
    """
    if not steps:
        return distance == 0
    (stride, least, most), rest = steps[0], steps[1:]
    slack = sum(width * max(-low, high) for width, low, high in rest)
    if slack >= 2 * stride:
        return True
    first, last = math.ceil((distance - slack) / stride), math.floor((distance + slack) / stride)
    return any(_reachable(distance - stride * k, rest) for k in range(max(least, first), min(most, last) + 1))

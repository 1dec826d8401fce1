"""Spans of time: ordered lists of (start, end) that do not overlap."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

Span = tuple[float, float]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Return the union of spans, in order."""
    found: list[Span] = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def intersection(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """Return the time in both of two ordered lists of spans."""
    found: list[Span] = []
    at = 0
    for start, end in left:
        while at < len(right) and right[at][1] <= start:
            at += 1
        index = at
        while index < len(right) and right[index][0] < end:
            found.append((max(start, right[index][0]), min(end, right[index][1])))
            index += 1
    return found


def difference(left: Sequence[Span], right: Sequence[Span]) -> list[Span]:
    """Return the time of the left list of ordered spans that is not in the right one."""
    found: list[Span] = []
    at = 0
    for start, end in left:
        while at < len(right) and right[at][1] <= start:
            at += 1
        index = at
        while index < len(right) and right[index][0] < end:
            if right[index][0] > start:
                found.append((start, right[index][0]))
            start = max(start, right[index][1])
            index += 1
        if start < end:
            found.append((start, end))
    return found


def touched(spans: Sequence[Span], parts: Sequence[Span]) -> int:
    """Return how many of some spans have one of the parts in them."""
    starts = [start for start, _ in spans]
    return len({bisect_right(starts, start) for start, _ in parts})


def length(spans: Iterable[Span]) -> float:
    return sum(end - start for start, end in spans)

"""The longest common subsequence of two sequences that differ little: Myers, "An O(ND) Difference Algorithm and Its
Variations" (Algorithmica, 1986), the greedy one.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

# Steps that are neither in both; the time grows with their square.
MOST_STEPS = 600


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]] | None:
    """The pairs of places at which both have the same, as many as can be in order; None where too much differs."""
    numbers: dict[Hashable, int] = {}
    one, other = ([numbers.setdefault(item, len(numbers)) for item in side] for side in (left, right))
    if abs(len(one) - len(other)) > MOST_STEPS:
        return None
    reached = {1: 0}
    trace: list[dict[int, int]] = []
    for steps in range(min(MOST_STEPS, len(one) + len(other)) + 1):
        trace.append(dict(reached))
        for diagonal in range(-steps, steps + 1, 2):
            x = _start(reached, diagonal, steps)
            y = x - diagonal
            while x < len(one) and y < len(other) and one[x] == other[y]:
                x, y = x + 1, y + 1
            reached[diagonal] = x
            if x >= len(one) and y >= len(other):
                return _back(trace, len(one), len(other))
    return None


def _down(reached: dict[int, int], diagonal: int, steps: int) -> bool:
    """Whether the step onto a diagonal comes from the one above, that is from the right sequence, and not the left."""
    return diagonal == -steps or (diagonal != steps and reached[diagonal - 1] < reached[diagonal + 1])


def _start(reached: dict[int, int], diagonal: int, steps: int) -> int:
    """How far one more step leads on a diagonal."""
    return reached[diagonal + 1] if _down(reached, diagonal, steps) else reached[diagonal - 1] + 1


def _back(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """The pairs on the way that was taken."""
    found: list[tuple[int, int]] = []
    for steps in range(len(trace) - 1, -1, -1):
        reached, diagonal = trace[steps], x - y
        start = _start(reached, diagonal, steps)
        while x > start:
            x, y = x - 1, y - 1
            found.append((x, y))
        if steps:
            x, y = (x, y - 1) if _down(reached, diagonal, steps) else (x - 1, y)
    return found[::-1]

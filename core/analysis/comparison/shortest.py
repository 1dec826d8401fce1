"""Longest common subsequence of two similar sequences.

The greedy algorithm of Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica, 1986).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

# Most elements that only one sequence has; the time grows with the square of their number.
MOST_STEPS = 600


def common(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[tuple[int, int]] | None:
    """Return the index pairs of a longest common subsequence, in order; None if the sequences differ too much."""
    numbers: dict[Hashable, int] = {}
    left_numbers, right_numbers = (
        [numbers.setdefault(element, len(numbers)) for element in side] for side in (left, right)
    )
    if abs(len(left_numbers) - len(right_numbers)) > MOST_STEPS:
        return None
    reached = {1: 0}
    trace: list[dict[int, int]] = []
    for steps in range(min(MOST_STEPS, len(left_numbers) + len(right_numbers)) + 1):
        trace.append(dict(reached))
        for diagonal in range(-steps, steps + 1, 2):
            x = _start(reached, diagonal, steps)
            y = x - diagonal
            while x < len(left_numbers) and y < len(right_numbers) and left_numbers[x] == right_numbers[y]:
                x, y = x + 1, y + 1
            reached[diagonal] = x
            if x >= len(left_numbers) and y >= len(right_numbers):
                return _back(trace, len(left_numbers), len(right_numbers))
    return None


def _down(reached: dict[int, int], diagonal: int, steps: int) -> bool:
    """Return True if the step onto a diagonal comes from the diagonal above: an element of the right sequence."""
    return diagonal == -steps or (diagonal != steps and reached[diagonal - 1] < reached[diagonal + 1])


def _start(reached: dict[int, int], diagonal: int, steps: int) -> int:
    """Return the position in the left sequence after one more step on a diagonal."""
    return reached[diagonal + 1] if _down(reached, diagonal, steps) else reached[diagonal - 1] + 1


def _back(trace: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    """Return the matched index pairs on the path taken."""
    pairs: list[tuple[int, int]] = []
    for steps in range(len(trace) - 1, -1, -1):
        reached, diagonal = trace[steps], x - y
        start = _start(reached, diagonal, steps)
        while x > start:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if steps:
            x, y = (x, y - 1) if _down(reached, diagonal, steps) else (x - 1, y)
    return pairs[::-1]

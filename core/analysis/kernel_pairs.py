"""Which kernels of two compilations of one model belong together: those that share FX nodes, then by their order."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence

from core.analysis.ledger import direction
from core.analysis.op_class import op_class
from core.report import Kernel

NUMBER = re.compile(r"_\d+$")


def paired(left: Sequence[Kernel], right: Sequence[Kernel]) -> Iterator[tuple[Kernel | None, Kernel | None]]:
    """Every kernel of both sides once, direction by direction in the order of the left's calls, then those of the right alone."""
    for way in dict.fromkeys(direction(kernel) for kernel in (*left, *right)):
        one, other = (sorted((k for k in side if direction(k) == way), key=_place) for side in (left, right))
        found = _by_nodes(one, other)
        found |= _by_order(one, other, found)
        yield from ((kernel, other[found[i]] if i in found else None) for i, kernel in enumerate(one))
        taken = set(found.values())
        yield from ((None, kernel) for j, kernel in enumerate(other) if j not in taken)


def node_ops(kernel: Kernel) -> tuple[str, ...]:
    """The FX nodes that compute in it, without the numbers that tell them apart: `add`, `add`, `mm_default`."""
    return tuple(NUMBER.sub("", name) for name in _working(kernel))


def _working(kernel: Kernel) -> list[str]:
    return [name for name in kernel.origins if op_class(NUMBER.sub("", name)) != "view"]


def _place(kernel: Kernel) -> int:
    return kernel.call_lines[0] if kernel.call_lines else 0


def _by_nodes(left: Sequence[Kernel], right: Sequence[Kernel]) -> dict[int, int]:
    """The pairs that share the largest part of their FX nodes, best first."""
    holders: dict[str, list[int]] = defaultdict(list)
    for j, kernel in enumerate(right):
        for name in _working(kernel):
            holders[name].append(j)
    one, other = [set(_working(kernel)) for kernel in left], [set(_working(kernel)) for kernel in right]
    candidates = {(i, j) for i, names in enumerate(one) for name in names for j in holders[name]}

    def rank(pair: tuple[int, int]) -> tuple[float, int, int]:
        i, j = pair
        return -len(one[i] & other[j]) / len(one[i] | other[j]), abs(i - j), i

    found: dict[int, int] = {}
    taken: set[int] = set()
    for i, j in sorted(candidates, key=rank):
        if i not in found and j not in taken:
            found[i] = j
            taken.add(j)
    return found


def _by_order(left: Sequence[Kernel], right: Sequence[Kernel], found: dict[int, int]) -> dict[int, int]:
    """Among the others: those that do the same kind of work behind the same pair, one after the other."""
    back = {j: i for i, j in found.items()}
    waiting: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for j, key in _unpaired(right, back, lambda j: back[j]):
        waiting[key].append(j)
    more = {}
    for i, key in _unpaired(left, found, lambda i: i):
        if waiting[key]:
            more[i] = waiting[key].popleft()
    return more

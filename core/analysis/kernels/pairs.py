"""Matching of the kernels of two compilations of one model: by shared FX nodes, then by order."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterator, Sequence

from core.analysis.kernels.names import node_op
from core.ops.op_class import op_class
from core.report import Kernel


def paired(left: Sequence[Kernel], right: Sequence[Kernel]) -> Iterator[tuple[Kernel | None, Kernel | None]]:
    """Yield every kernel of both sides once, per direction in the left order, then those of the right side only."""
    for direction in dict.fromkeys(kernel.direction for kernel in (*left, *right)):
        left_kernels, right_kernels = (
            sorted((k for k in side if k.direction == direction), key=_first_line) for side in (left, right)
        )
        matches = _by_nodes(left_kernels, right_kernels)
        matches |= _by_order(left_kernels, right_kernels, matches)
        yield from (
            (kernel, right_kernels[matches[i]] if i in matches else None) for i, kernel in enumerate(left_kernels)
        )
        matched_right = set(matches.values())
        yield from ((None, kernel) for j, kernel in enumerate(right_kernels) if j not in matched_right)


def node_ops(kernel: Kernel) -> tuple[str, ...]:
    """Return the ops of the computing FX nodes in a kernel, repeated: `add`, `add`, `mm`."""
    return tuple(node_op(name) for name in _computing_nodes(kernel))


def _computing_nodes(kernel: Kernel) -> list[str]:
    return [name for name in kernel.origins if op_class(node_op(name)) != "view"]


def _first_line(kernel: Kernel) -> int:
    return kernel.call_lines[0] if kernel.call_lines else 0


def _by_nodes(left: Sequence[Kernel], right: Sequence[Kernel]) -> dict[int, int]:
    """Return the pairs that share the largest part of their FX nodes, best first."""
    holders: dict[str, list[int]] = defaultdict(list)
    for j, kernel in enumerate(right):
        for name in _computing_nodes(kernel):
            holders[name].append(j)
    left_nodes, right_nodes = (
        [set(_computing_nodes(kernel)) for kernel in left],
        [set(_computing_nodes(kernel)) for kernel in right],
    )
    candidates = {(i, j) for i, names in enumerate(left_nodes) for name in names for j in holders[name]}

    def rank(pair: tuple[int, int]) -> tuple[float, int, int]:
        i, j = pair
        return -len(left_nodes[i] & right_nodes[j]) / len(left_nodes[i] | right_nodes[j]), abs(i - j), i

    matches: dict[int, int] = {}
    matched_right: set[int] = set()
    for i, j in sorted(candidates, key=rank):
        if i not in matches and j not in matched_right:
            matches[i] = j
            matched_right.add(j)
    return matches


def _by_order(left: Sequence[Kernel], right: Sequence[Kernel], matches: dict[int, int]) -> dict[int, int]:
    """Return pairs of the remaining kernels: the same kind of work after the same pair, in order."""
    partner = {j: i for i, j in matches.items()}
    waiting: dict[tuple[object, ...], deque[int]] = defaultdict(deque)
    for j, pair, work in _unpaired(right, partner):
        waiting[partner.get(pair, -1), work].append(j)
    more = {}
    for i, pair, work in _unpaired(left, matches):
        if waiting[pair, work]:
            more[i] = waiting[pair, work].popleft()
    return more


def _unpaired(kernels: Sequence[Kernel], done: Collection[int]) -> Iterator[tuple[int, int, tuple[object, ...]]]:
    """Yield each kernel without a partner: index, index of the last matched kernel before it, kind of work.

    The index of the last matched kernel is -1 if there is none.
    """
    last = -1
    for index, kernel in enumerate(kernels):
        if index in done:
            last = index
        else:
            yield index, last, (kernel.extern, frozenset(op_class(op) for op in node_ops(kernel)))

"""Pairs of equal kernels over all compilations of two runs, such as after a graph break."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from core.analysis.comparison.kernels import (
    Comparison,
    KernelSide,
    Side,
    compare,
    kernel_body,
    kernel_pair,
    kernel_sides,
)


def compare_all(sides: Sequence[tuple[Side | None, Side | None]]) -> tuple[Comparison | None, ...]:
    """Compare the kernels of matched compilations; then pair equal kernels of all compilations.

    Such a pair is in the comparison of the left kernel's compilation; if that has no match, of the right one's. A
    compilation without a match has no comparison.
    """
    compared = [compare(left, right) if left and right else None for left, right in sides]
    rest = (_rest(sides, compared, right=False), _rest(sides, compared, right=True))
    waiting: dict[Hashable, deque[_LoneKernel]] = defaultdict(deque)
    for kernel in rest[1]:
        waiting[kernel.key].append(kernel)
    moved = [(kernel, waiting[kernel.key].popleft()) for kernel in rest[0] if waiting[kernel.key]]
    return tuple(_with_moved(comparison, at, moved, compared) for at, comparison in enumerate(compared))


@dataclass(frozen=True, slots=True)
class _LoneKernel:
    """A kernel without a counterpart in the matched compilation, at that position of the pairs."""

    at: int
    side: KernelSide
    code: str

    @property
    def key(self) -> Hashable:
        """Key of equal kernels: the function and ops of a library call, otherwise the source without its name."""
        if self.side.extern:
            return self.side.direction, self.side.name, self.side.ops
        return self.side.direction, self.side.language, kernel_body(self.code, self.side.name)


def _rest(
    sides: Sequence[tuple[Side | None, Side | None]], compared: Sequence[Comparison | None], *, right: bool
) -> list[_LoneKernel]:
    rest = []
    for at, (pair, comparison) in enumerate(zip(sides, compared, strict=True)):
        side = pair[right]
        if side is None:
            continue
        alone = kernel_sides(side) if comparison is None else _alone(comparison, right)
        rest += [_LoneKernel(at, kernel, side.code.get(name, "")) for name, kernel in alone.items()]
    return [kernel for kernel in rest if kernel.code or kernel.side.extern]


def _alone(comparison: Comparison, right: bool) -> dict[str, KernelSide]:
    alone = ((pair.right if right else pair.left) for pair in comparison.pairs if not pair.both)
    return {kernel.kernel: kernel for kernel in alone if kernel is not None}


def _with_moved(
    comparison: Comparison | None,
    at: int,
    moved: Sequence[tuple[_LoneKernel, _LoneKernel]],
    compared: Sequence[Comparison | None],
) -> Comparison | None:
    """Return a comparison with its moved kernels as pairs; a kernel that is a pair elsewhere is left out."""
    if comparison is None:
        return None
    partner = {left.side.kernel: (left, right) for left, right in moved if left.at == at}
    homeless = {right.side.kernel: (left, right) for left, right in moved if compared[left.at] is None}
    taken = {right.side.kernel for left, right in moved if right.at == at} - set(homeless)
    pairs = []
    for pair in comparison.pairs:
        match = None
        if not pair.both:
            match = partner.get(pair.left.kernel) if pair.left else homeless.get(pair.either.kernel)
        if match is not None:
            left, right = match
            pairs.append(replace(kernel_pair(left.side, right.side, left.code, right.code), elsewhere=True))
        elif pair.left is not None or pair.either.kernel not in taken:
            pairs.append(pair)
    return replace(comparison, pairs=tuple(pairs))

"""Matching of the compilations, guards, graph breaks and recompiles of two runs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Generic, TypeVar

from core.analysis.dynamo.frame_names import resumed
from core.report import Compilation, GraphBreak, Guard, Recompile, Report

# Addresses of objects, which no two processes share.
ADDRESS = re.compile(r"(?<=, )\d{7,}(?=\))|(?<=== )\d{9,}|\b\d{12,}\b|0x[0-9a-fA-F]{6,}")
# What Dynamo numbers as it goes: names of globals that it adds.
NUMBERED = re.compile(r"(?<=__)(\w+?)_\d+_c\d+")

One = TypeVar("One")


@dataclass(frozen=True, slots=True)
class Matched(Generic[One]):
    """An element of the left run and its counterpart in the right run; None if there is none."""

    left: One | None
    right: One | None

    @property
    def both(self) -> bool:
        """True if both runs have it."""
        return self.left is not None and self.right is not None


@dataclass(frozen=True, slots=True)
class GuardDifference:
    """Guards of two compilations: number of common guards, and the guards of one compilation only."""

    both: int
    only_left: tuple[Guard, ...]
    only_right: tuple[Guard, ...]


def settled(text: str) -> str:
    """Return one of torch's texts without the parts that differ between processes, such as addresses."""
    return NUMBERED.sub(r"\1", ADDRESS.sub("…", text))


def matched(left: Sequence[One], right: Sequence[One], *keys: Callable[[One], Hashable]) -> tuple[Matched[One], ...]:
    """Match two sequences by the first key they share, trying the keys in order.

    Each element occurs once: in the left order first, followed by elements of the right sequence only.
    """
    partner: dict[int, int] = {}
    for key in keys:
        taken = set(partner.values())
        waiting: dict[Hashable, deque[int]] = defaultdict(deque)
        for j, item in enumerate(right):
            if j not in taken:
                waiting[key(item)].append(j)
        for i, item in enumerate(left):
            if i not in partner and waiting[key(item)]:
                partner[i] = waiting[key(item)].popleft()
    taken = set(partner.values())
    pairs = [Matched(item, right[partner[i]] if i in partner else None) for i, item in enumerate(left)]
    alone: list[Matched[One]] = [Matched(None, item) for j, item in enumerate(right) if j not in taken]
    return (*pairs, *alone)


def compilations(left: Report, right: Report) -> tuple[Matched[Compilation], ...]:
    """Match the compilations of two runs by frame and number, then by frame, then by function.

    If the runs share no frame name, compilations with the same number match.
    """
    found = matched(
        left.compilations,
        right.compilations,
        lambda item: (item.id, item.frame.name),
        lambda item: (item.frame.name, _file(item.frame.file)),
        lambda item: item.frame.name,
        lambda item: resumed(item.frame.name)[0],
    )
    if not any(pair.both for pair in found):
        return matched(left.compilations, right.compilations, lambda item: item.id)
    return found


def guard_difference(left: Sequence[Guard], right: Sequence[Guard]) -> GuardDifference:
    """Return the guards that two compilations share and the guards of one only, ignoring object addresses."""
    one, other = Counter(map(_guard_key, left)), Counter(map(_guard_key, right))
    return GuardDifference((one & other).total(), _beyond(left, other), _beyond(right, one))


def _beyond(guards: Sequence[Guard], known: Counter[Hashable]) -> tuple[Guard, ...]:
    left = Counter(known)
    found = []
    for guard in guards:
        key = _guard_key(guard)
        if left[key]:
            left[key] -= 1
        else:
            found.append(guard)
    return tuple(found)


def _guard_key(guard: Guard) -> Hashable:
    return guard.kind, settled(guard.source), settled(guard.expression)


def breaks(left: Report, right: Report) -> tuple[Matched[GraphBreak], ...]:
    """Match the graph breaks of two runs by source line and reason, otherwise by reason alone."""
    return matched(
        left.graph_breaks,
        right.graph_breaks,
        lambda item: (settled(item.reason), item.code.strip(), _file(item.place.file), item.place.line),
        lambda item: (settled(item.reason), item.code.strip() or item.place.line, _file(item.place.file)),
    )


def recompiles(left: Report, right: Report) -> tuple[Matched[Recompile], ...]:
    """Match the recompiles of two runs by frame and reason."""
    names = {id(side): {item.id: item.frame.name for item in side.compilations} for side in (left, right)}

    def listed(report: Report) -> list[tuple[str, Recompile]]:
        return [(names[id(report)].get(item.compilation, ""), item) for item in report.recompiles]

    found = matched(listed(left), listed(right), lambda item: (item[0], settled(item[1].reason)))
    return tuple(Matched(pair.left[1] if pair.left else None, pair.right[1] if pair.right else None) for pair in found)


def _file(path: str) -> str:
    return PurePosixPath(path).name

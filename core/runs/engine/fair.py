"""Fair order of a queue: visitors alternate, and the assignments of one visitor stay in order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from operator import itemgetter

from core.runs.engine.protocol import Assignment

# Between two slots at the end; a slot between two others gets half of what is between them.
GAP = 2**64


@dataclass(slots=True)
class _Visitor:
    """The slots of a visitor, and the assignments that fill them, both in order."""

    slots: list[int] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)


class FairQueue:
    """Assignments in the order in which they may start.

    Each visitor has as many slots as assignments. A new slot is the last of its visitor, and comes before the first
    later slot that has more of its own visitor's slots before it. Adding takes O(visitors · log n) steps.
    """

    def __init__(self) -> None:
        # Slots in order, each with its visitor.
        self._order: list[tuple[int, str]] = []
        self._visitors: dict[str, _Visitor] = {}

    def __iter__(self) -> Iterator[Assignment]:
        """Iterate over the assignments in order."""
        following = {by: iter(visitor.assignments) for by, visitor in self._visitors.items()}
        return (next(following[by]) for _, by in self._order)

    def add(self, new: Assignment) -> None:
        """Add an assignment."""
        visitor = self._visitors.setdefault(new.by, _Visitor())
        slot = self._new_slot(visitor)
        insort(self._order, (slot, new.by))
        visitor.slots.append(slot)
        visitor.assignments.append(new)

    def take(self, assignment: Assignment) -> None:
        """Remove an assignment that starts, with its slot."""
        visitor = self._visitors[assignment.by]
        place = visitor.assignments.index(assignment)
        self._remove(assignment.by, place, visitor.slots[place])

    def withdraw(self, assignment: Assignment) -> None:
        """Remove an assignment that will not start: later ones of its visitor each move up one slot."""
        visitor = self._visitors[assignment.by]
        self._remove(assignment.by, visitor.assignments.index(assignment), visitor.slots[-1])

    def _remove(self, by: str, place: int, slot: int) -> None:
        visitor = self._visitors[by]
        del visitor.assignments[place]
        visitor.slots.remove(slot)
        del self._order[bisect_left(self._order, (slot, by))]
        if not visitor.slots:
            del self._visitors[by]

    def _new_slot(self, visitor: _Visitor) -> int:
        """Return a slot that no one has."""
        while True:
            last = visitor.slots[-1] if visitor.slots else 0
            fewest = len(visitor.slots) + 1
            behind = [
                each.slots[place]
                for each in self._visitors.values()
                if (place := max(fewest, bisect_right(each.slots, last))) < len(each.slots)
            ]
            if not behind:
                return (self._order[-1][0] if self._order else 0) + GAP
            place = bisect_left(self._order, min(behind), key=itemgetter(0))
            before, after = self._order[place - 1][0] if place else 0, self._order[place][0]
            if after - before > 1:
                return (before + after) // 2
            self._space_out()

    def _space_out(self) -> None:
        """Renumber the slots in order, with gaps between them."""
        for visitor in self._visitors.values():
            visitor.slots.clear()
        self._order = [((place + 1) * GAP, by) for place, (_, by) in enumerate(self._order)]
        for slot, by in self._order:
            self._visitors[by].slots.append(slot)

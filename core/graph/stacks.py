"""Folding of equal neighbouring layers into one group: "TransformerBlock × 12"."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from core.base.words import number
from core.graph.tree import Arrangement, Branch, arrange

# Least share of the nodes that are equal in two similar modules.
SIMILAR = 0.6


def stack(root: Branch, kinds: Sequence[Hashable], reads: Sequence[Sequence[int]], *, similar: bool = False) -> None:
    """Put runs of equal, consecutively numbered sibling modules into groups.

    By node, in graph order: `kinds` is its operation (target and shape), `reads` the numbers of its input nodes.
    Modules are equal if their class, nodes, subgroups and inner edges are. With `similar`, most of their nodes are
    enough, and the group's label notes it: Inductor computes shared values in the first layer, and fuses the last one
    with the following code.
    """
    _Stacker(arrange(root), kinds, reads, similar).visit(root)


class _Stacker:
    def __init__(
        self, arrangement: Arrangement, kinds: Sequence[Hashable], reads: Sequence[Sequence[int]], similar: bool
    ) -> None:
        self._similar = similar
        position = [0] * len(arrangement.order)
        for place, node in enumerate(arrangement.order):
            position[node] = place
        self._branches = arrangement.branches
        self._kinds = [kinds[number] for number in arrangement.order]
        self._reads = [tuple(position[read] for read in reads[number]) for number in arrangement.order]

    def visit(self, branch: Branch) -> None:
        """Stack below a branch, then in it."""
        for child in branch.branches:
            self.visit(child)
        members: list[int | Branch] = []
        run: list[Branch] = []
        for member in branch.members:
            if isinstance(member, Branch) and self._continues(run, member):
                run.append(member)
                continue
            members.extend(self._stacked_run(branch, run))
            run = [member] if isinstance(member, Branch) and member.segment.isdecimal() else []
            if not run:
                members.append(member)
        branch.members = [*members, *self._stacked_run(branch, run)]

    def _continues(self, run: Sequence[Branch], member: Branch) -> bool:
        """Return True if a branch continues a run; backward graphs have the layers in reverse order."""
        if not run or not member.segment.isdecimal():
            return False
        return abs(int(member.segment) - int(run[-1].segment)) == 1 and (
            self._equal(run[0], member) or (self._similar and self._resembles(run[-1], member))
        )

    def _resembles(self, left: Branch, right: Branch) -> bool:
        """Return True if most of the nodes of two branches are equal, in any order."""
        if left.detail and right.detail and left.detail != right.detail:
            return False
        left_kinds, right_kinds = (Counter(self._kinds[branch.first : branch.last]) for branch in (left, right))
        return (left_kinds & right_kinds).total() >= SIMILAR * max(left_kinds.total(), right_kinds.total())

    def _equal(self, left: Branch, right: Branch) -> bool:
        return (
            left.detail == right.detail
            and self._kinds[left.first : left.last] == self._kinds[right.first : right.last]
            and self._subgroups(left) == self._subgroups(right)
            and self._inner_reads(left) == self._inner_reads(right)
        )

    def _subgroups(self, branch: Branch) -> list[tuple[str, str, int, int]]:
        below = self._branches[branch.index + 1 : branch.end]
        first = branch.first
        return [
            (subgroup.segment, subgroup.detail, subgroup.first - first, subgroup.last - first) for subgroup in below
        ]

    def _inner_reads(self, branch: Branch) -> list[tuple[int, ...]]:
        first, last = branch.first, branch.last
        return [tuple(at - first for at in reads if first <= at < last) for reads in self._reads[first:last]]

    def _stacked_run(self, parent: Branch, run: list[Branch]) -> list[Branch]:
        if len(run) < 2:
            return run
        first, last = run[0], run[-1]
        label = next((member.detail for member in run if member.detail), "") or parent.label or "layers"
        equal = all(self._equal(first, member) for member in run[1:])
        times = f"× {number(len(run))}" + ("" if equal else ", similar")
        modules = f"{first.label} to {last.label}"
        return [Branch(f"{first.id}-{last.segment}", label, times, kind="stack", modules=modules, members=list(run))]

"""Tree of groups under construction, and its order of nodes.

Node data besides text, used for overlays and group facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from core.graph.model import TOP, GroupKind
from core.ops.costs import UNKNOWN, Cost
from core.report.fx import MOST_REMEMBERED

MOST_MEMBERS = 400
CHUNK = 200
SYMBOL = re.compile(r"\b[a-z]+\d+\b")
STATIC = "static"


@dataclass(slots=True, eq=False)
class Branch:
    """A future group: `members` are its direct nodes (by number) and branches, in graph order."""

    id: str
    label: str = ""
    detail: str = ""
    kind: GroupKind = "module"
    segment: str = ""
    modules: str = ""
    members: list[int | Branch] = field(default_factory=list)
    first: int = 0
    last: int = 0
    index: int = TOP
    end: int = 0

    @property
    def branches(self) -> Iterator[Branch]:
        """Yield the direct subbranches."""
        return (member for member in self.members if isinstance(member, Branch))


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Nodes in final order (by number), the group of each, and the groups, parents first, with their parents."""

    order: list[int]
    group_of: list[int]
    branches: list[Branch]
    parents: list[int]


def arrange(root: Branch) -> Arrangement:
    """Number everything depth first; set each branch's range of nodes (`first`, `last`) and groups."""
    arrangement = Arrangement([], [], [], [])
    _number(root, TOP, arrangement)
    return arrangement


def _number(branch: Branch, index: int, arrangement: Arrangement) -> None:
    branch.first, branch.index = len(arrangement.order), index
    for member in branch.members:
        if isinstance(member, Branch):
            arrangement.branches.append(member)
            arrangement.parents.append(index)
            _number(member, len(arrangement.branches) - 1, arrangement)
        else:
            arrangement.order.append(member)
            arrangement.group_of.append(index)
    branch.last, branch.end = len(arrangement.order), len(arrangement.branches)


def simplify(branch: Branch) -> None:
    """Drop groups without information: around a single node, and lists around a single group, which get its name."""
    for child in branch.branches:
        simplify(child)
    branch.members = [_simplified(member) for member in branch.members]


def _simplified(member: int | Branch) -> int | Branch:
    if isinstance(member, int) or member.kind == "direction" or len(member.members) != 1:
        return member
    only = member.members[0]
    if isinstance(only, Branch) and only.kind == "module":
        only.segment = f"{member.segment}.{only.segment}"
        only.label = only.segment
    return only


def chunk(branch: Branch) -> None:
    """Split large groups into subgroups of consecutive members."""
    for child in branch.branches:
        chunk(child)
    count = len(branch.members)
    if count <= MOST_MEMBERS:
        return
    size = max(CHUNK, -(-count // MOST_MEMBERS))
    starts = range(0, count, size)
    branch.members = [_chunk(branch, start, branch.members[start : start + size]) for start in starts]
    for child in branch.branches:
        chunk(child)


def _chunk(branch: Branch, start: int, members: Sequence[int | Branch]) -> Branch:
    name = f"{start + 1}–{start + len(members)}"
    noun = "ops" if all(isinstance(member, int) for member in members) else "items"
    return Branch(f"{branch.id}#{name}", f"{noun} {name}", kind="line", members=list(members))


def ancestors(group: int, parents: Sequence[int]) -> Iterator[int]:
    """Yield a group and its ancestors, innermost first."""
    while group != TOP:
        yield group
        group = parents[group]


class Trait(NamedTuple):
    """Data of one node. `op` is True if it computes; `dtype` and `shapes` are empty and `seconds` None if not recorded.

    `shapes` is "static" or "dynamic: s33"; `parameters` are the names of the parameters that it reads.
    """

    op: bool = True
    cost: Cost = UNKNOWN
    dtype: str = ""
    shapes: str = ""
    module_class: str = ""
    seconds: float | None = None
    parameters: tuple[str, ...] = ()


@lru_cache(maxsize=MOST_REMEMBERED)
def shape_words(sizes: tuple[str, ...]) -> str:
    """Return "dynamic" with the symbols in the sizes, or "static"."""
    symbols = {name for size in sizes if not size.isdecimal() for name in SYMBOL.findall(size)}
    return f"dynamic: {', '.join(sorted(symbols))}" if symbols else STATIC

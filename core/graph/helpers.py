"""Folding of ops between a module's submodules, such as masks, positions, a loss, that would hide its own parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.base.words import number
from core.graph.modules import Origin
from core.graph.tree import Branch

FROM_OPS = 3
MOST_NAMES = 2
NOWHERE = Origin()


def fold_helpers(root: Branch, origins: Sequence[Origin]) -> None:
    """Put runs of ops between submodules into groups."""
    if any(branch.kind != "line" for branch in root.branches):
        _fold(root, origins)


def _fold(branch: Branch, origins: Sequence[Origin]) -> None:
    below = list(branch.branches)
    for child in below:
        _fold(child, origins)
    if not any(child.kind in ("module", "stack") for child in below):
        return
    members: list[int | Branch] = []
    run: list[int] = []
    for member in branch.members:
        if isinstance(member, int) and origins[member] != NOWHERE:
            run.append(member)
            continue
        members += _folded_run(branch, run, origins)
        run = []
        members.append(member)
    branch.members = [*members, *_folded_run(branch, run, origins)]


def _folded_run(parent: Branch, run: list[int], origins: Sequence[Origin]) -> list[int | Branch]:
    if len(run) < FROM_OPS:
        return list(run)
    detail = _functions(run, origins)
    return [Branch(f"{parent.id}~{number(run[0])}", detail or "ops", "helpers" if detail else "", members=list(run))]


def _functions(run: Sequence[int], origins: Sequence[Origin]) -> str:
    """Return the functions that created most of a run."""
    places = (origins[member].source for member in run)
    counts = Counter(place.name for place in places if place is not None and place.name)
    return ", ".join(name for name, _ in counts.most_common(MOST_NAMES))

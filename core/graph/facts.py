"""Facts of a group: parameters, input and output shapes, its share of bytes and time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate

from core.base.words import number
from core.graph.model import TOP, Edge, Fact, Group, Node
from core.graph.overlays import weights
from core.graph.traits import Trait
from core.graph.tree import Arrangement, ancestors

MOST_SHAPES = 3
MOST_UNKNOWN = 0.2


def groups_with_facts(
    arrangement: Arrangement,
    nodes: Sequence[Node],
    edges: Sequence[Edge],
    traits: Sequence[Trait],
    parameters: Mapping[str, int | None],
) -> tuple[Group, ...]:
    """Return the groups of an arrangement with their facts.

    `parameters` are element counts by name, None if a size is symbolic.
    """
    if not arrangement.branches:
        return ()
    read, written = _borders(arrangement, edges)
    owned = _parameters(arrangement, traits)
    seconds, measured = weights(traits)
    has_bytes = _has_bytes(traits)
    moved = _sums(trait.cost.bytes if has_bytes else None for trait in traits)
    spent = _sums(seconds if has_bytes or measured else [None] * len(seconds))
    counts = _sums(int(trait.op) for trait in traits)
    groups = []
    for index, branch in enumerate(arrangement.branches):
        first, last = branch.first, branch.last
        facts = _parameter_fact(owned[index], parameters)
        facts += _share("share of bytes", moved, first, last)
        facts += _time(spent, first, last, measured)
        facts += _shapes("in", read[index], nodes)
        facts += _shapes("out", written[index], nodes)
        facts += [Fact("modules", branch.modules)] if branch.modules else []
        count = int(counts[last] - counts[first])
        parent = arrangement.parents[index]
        label, detail = branch.label, branch.detail
        groups.append(Group(branch.id, label, detail, branch.kind, parent, first, last, count, tuple(facts)))
    return tuple(groups)


def _has_bytes(traits: Sequence[Trait]) -> bool:
    """Return True if the bytes of most ops are known, since a share of the static shapes alone would be wrong.

    Some calls, such as those that set a mode, have no value and so no size.
    """
    ops = [trait.cost.bytes for trait in traits if trait.op]
    return ops.count(None) <= MOST_UNKNOWN * len(ops)


def _sums(values: Iterable[float | None]) -> list[float]:
    """Return running sums from 0, so that a range's sum is a difference; missing values count as 0."""
    return list(accumulate((value or 0 for value in values), initial=0))


def _borders(arrangement: Arrangement, edges: Sequence[Edge]) -> tuple[list[dict[int, None]], list[dict[int, None]]]:
    """Return two lists by group: outside nodes that it reads, and own nodes that others read."""
    read: list[dict[int, None]] = [{} for _ in arrangement.branches]
    written: list[dict[int, None]] = [{} for _ in arrangement.branches]
    group_of, parents, branches = arrangement.group_of, arrangement.parents, arrangement.branches
    for edge in edges:
        source, target = edge.source, edge.target
        at, to = group_of[source], group_of[target]
        if at == to:
            continue
        while at != TOP and not branches[at].first <= target < branches[at].last:
            written[at][source] = None
            at = parents[at]
        while to != TOP and not branches[to].first <= source < branches[to].last:
            read[to][source] = None
            to = parents[to]
    return read, written


def _parameters(arrangement: Arrangement, traits: Sequence[Trait]) -> list[dict[str, None]]:
    owned: list[dict[str, None]] = [{} for _ in arrangement.branches]
    for trait, group in zip(traits, arrangement.group_of, strict=True):
        if trait.parameters:
            for above in ancestors(group, arrangement.parents):
                owned[above].update(dict.fromkeys(trait.parameters))
    return owned


def _parameter_fact(names: Iterable[str], parameters: Mapping[str, int | None]) -> list[Fact]:
    counts = [parameters[name] for name in names]
    sizes = [count for count in counts if count is not None]
    return [Fact("parameters", sum(sizes), "count")] if sizes and len(sizes) == len(counts) else []


def _shapes(name: str, members: Mapping[int, None], nodes: Sequence[Node]) -> list[Fact]:
    texts = [nodes[node].detail for node in members if nodes[node].detail]
    if not texts:
        return []
    more = f" and {number(len(texts) - MOST_SHAPES)} more" if len(texts) > MOST_SHAPES else ""
    return [Fact(name, ", ".join(texts[:MOST_SHAPES]) + more)]


def _share(name: str, sums: Sequence[float], first: int, last: int) -> list[Fact]:
    return [Fact(name, (sums[last] - sums[first]) / sums[-1], "share")] if sums[-1] else []


def _time(sums: Sequence[float], first: int, last: int, measured: bool) -> list[Fact]:
    if not measured:
        return _share("time (estimated)", sums, first, last)
    if sums[last] == sums[first]:
        return []
    return [Fact("time (measured)", sums[last] - sums[first], "s"), *_share("share of time", sums, first, last)]

"""Why two scheduler nodes were not fused: from what they are, else from the reasons that the scheduler recorded."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.analysis.fusion import leaves
from core.report import Schedule, SchedulerNode

TAKES_APART = "MultiOutput"


@dataclass(frozen=True, slots=True)
class WhyApart:
    """`because` follows from what the two are, empty where it does not; `recorded` are torch's own reasons, each with
    the first round that gave it; `shared` are the bytes of the buffers that both touch: what fusing could save at
    most.
    """

    because: str
    recorded: tuple[tuple[int, str], ...]
    shared: dict[str, int]


def why_apart(schedule: Schedule, one: SchedulerNode, other: SchedulerNode) -> WhyApart:
    """Why two nodes after fusion are two."""
    shared = shared_buffers(one, other)
    recorded = reasons_between(schedule, one, other)
    because = _by_kind(one, other) or next(filter(None, map(_by_own_kind, (one, other))), "")
    if not because and not recorded:
        because = next(filter(None, map(_by_template, (one, other))), "")
    if not because and not recorded and not shared:
        because = "The scheduler tries pairs that share a buffer, and these two share none."
    return WhyApart(because, recorded, shared)


def _by_kind(one: SchedulerNode, other: SchedulerNode) -> str:
    if one.kernel and one.kernel == other.kernel:
        return "Both are in one kernel already: Inductor put their loops into one function, one after the other."
    if one.device != other.device and one.device and other.device:
        return f"They run on different devices, {' and '.join(sorted((one.device, other.device)))}."
    return ""


def _by_own_kind(node: SchedulerNode) -> str:
    if TAKES_APART in node.ops:
        return f"{node.name} only takes apart what a library call returned, and is no kernel."
    if node.kind == "ExternKernelSchedulerNode":
        return f"{node.name} is an extern kernel: a library is called, and nothing can be fused into its code."
    if node.kind == "NopKernelSchedulerNode":
        return f"{node.name} has nothing to run: it only names memory that other nodes write."
    return ""


def _by_template(node: SchedulerNode) -> str:
    if any("Template" in name for name in node.ops):
        return (
            f"{node.name} is a template: only what works on its result, or prepares its input, element by element "
            f"can be fused into it."
        )
    return ""


def reasons_between(schedule: Schedule, first: SchedulerNode, second: SchedulerNode) -> tuple[tuple[int, str], ...]:
    """Why the scheduler did not fuse two nodes: (round, torch's reason), each once, for any of their parts."""
    one, other = set(first.nodes), set(second.nodes)
    found: dict[str, int] = {}
    for number, left, right, reason in _refusals(schedule):
        if (left <= one and right <= other) or (left <= other and right <= one):
            found.setdefault(reason, number)
    return tuple((number, reason) for reason, number in found.items())


def refused_pair(schedule: Schedule) -> tuple[str, str] | None:
    """Of the pairs that torch refused for a reason of its own, the one that shares most; None where it refused none."""
    pairs = refused_pairs(schedule)
    return max(pairs, key=lambda names: pairs[names], default=None)


def refused_pairs(schedule: Schedule) -> dict[tuple[str, str], int]:
    """The pairs of nodes after fusion that torch refused for a reason of its own, each with the bytes it shares."""
    owner = {part: node for node in schedule.after for part in node.nodes}
    pairs = {}
    for _, left, right, _ in _refusals(schedule):
        one, other = owner.get(min(left)), owner.get(min(right))
        if (
            one
            and other
            and one != other
            and not _by_kind(one, other)
            and not (_by_own_kind(one) or _by_own_kind(other))
        ):
            pairs[one.name, other.name] = sum(shared_buffers(one, other).values())
    return pairs


def shared_buffers(first: SchedulerNode, second: SchedulerNode) -> dict[str, int]:
    """The buffers that two nodes both touch, with the bytes of the one that touches less."""
    touched = dict((*first.reads, *first.writes))
    return {name: min(size, touched[name]) for name, size in (*second.reads, *second.writes) if name in touched}


def _refusals(schedule: Schedule) -> Iterator[tuple[int, set[str], set[str], str]]:
    """Round, the unfused nodes on both sides, and reason of each refusal."""
    known = {node.name: index for index, node in enumerate(schedule.before)}
    for number, fusion_round in enumerate(schedule.rounds, 1):
        for left, right, reason in fusion_round.rejected:
            parts = set(leaves(left, known)), set(leaves(right, known))
            if all(parts):
                yield number, *parts, reason

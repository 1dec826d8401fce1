"""Reasons why two scheduler nodes were not fused: from their kinds, otherwise from the scheduler's log."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from core.analysis.fusion import leaves
from core.report import Schedule, SchedulerNode

UNPACKS = "MultiOutput"


@dataclass(frozen=True, slots=True)
class RefusalReasons:
    """Reasons for an unfused pair.

    `because` follows from the kinds of both nodes, empty if it does not; `recorded` are torch's reasons, each with its
    first round; `shared` are the bytes of the buffers that both touch: the most that fusing could save.
    """

    because: str
    recorded: tuple[tuple[int, str], ...]
    shared: dict[str, int]


def refusal_reasons(schedule: Schedule, first: SchedulerNode, second: SchedulerNode) -> RefusalReasons:
    """Return why two nodes after fusion were not fused."""
    shared = shared_buffers(first, second)
    recorded = reasons_between(schedule, first, second)
    because = _pair_reason(first, second) or next(filter(None, map(_node_reason, (first, second))), "")
    if not because and not recorded:
        because = next(filter(None, map(_template_reason, (first, second))), "")
    if not because and not recorded and not shared:
        because = "The scheduler tries pairs that share a buffer, and these two share none."
    return RefusalReasons(because, recorded, shared)


def _pair_reason(first: SchedulerNode, second: SchedulerNode) -> str:
    if first.kernel and first.kernel == second.kernel:
        return "Both are in one kernel already: Inductor put their loops into one function, one after the other."
    if first.device != second.device and first.device and second.device:
        return f"They run on different devices, {' and '.join(sorted((first.device, second.device)))}."
    return ""


def _node_reason(node: SchedulerNode) -> str:
    if UNPACKS in node.ops:
        return f"{node.name} only takes apart what a library call returned, and is no kernel."
    if node.kind == "ExternKernelSchedulerNode":
        return f"{node.name} is an extern kernel: a library is called, and nothing can be fused into its code."
    if node.kind == "NopKernelSchedulerNode":
        return f"{node.name} has nothing to run: it only names memory that other nodes write."
    return ""


def _template_reason(node: SchedulerNode) -> str:
    if any("Template" in name for name in node.ops):
        return (
            f"{node.name} is a template: only what works on its result, or prepares its input, element by element "
            f"can be fused into it."
        )
    return ""


def reasons_between(schedule: Schedule, first: SchedulerNode, second: SchedulerNode) -> tuple[tuple[int, str], ...]:
    """Return (round, torch's reason) for a pair that was not fused, each reason once, for any of its parts."""
    first_nodes, second_nodes = set(first.nodes), set(second.nodes)
    rounds: dict[str, int] = {}
    for number, left, right, reason in _refusals(schedule):
        if (left <= first_nodes and right <= second_nodes) or (left <= second_nodes and right <= first_nodes):
            rounds.setdefault(reason, number)
    return tuple((number, reason) for reason, number in rounds.items())


def refused_pair(schedule: Schedule) -> tuple[str, str] | None:
    """Return the pair that shares most bytes among the pairs of `refused_pairs`; None if there is none."""
    pairs = refused_pairs(schedule)
    return max(pairs, key=lambda names: pairs[names], default=None)


def refused_pairs(schedule: Schedule) -> dict[tuple[str, str], int]:
    """Return the pairs after fusion that torch refused, with their shared bytes.

    Refusals that follow from the nodes' kinds do not count.
    """
    owner = {part: node for node in schedule.after for part in node.nodes}
    pairs = {}
    for _, left, right, _ in _refusals(schedule):
        first, second = owner.get(min(left)), owner.get(min(right))
        if (
            first
            and second
            and first != second
            and not _pair_reason(first, second)
            and not (_node_reason(first) or _node_reason(second))
        ):
            pairs[first.name, second.name] = sum(shared_buffers(first, second).values())
    return pairs


def shared_buffers(first: SchedulerNode, second: SchedulerNode) -> dict[str, int]:
    """Return the buffers that both nodes touch, with the bytes of the node that touches less."""
    touched = dict((*first.reads, *first.writes))
    return {name: min(size, touched[name]) for name, size in (*second.reads, *second.writes) if name in touched}


def _refusals(schedule: Schedule) -> Iterator[tuple[int, set[str], set[str], str]]:
    """Yield round, unfused nodes on both sides, and reason of each refusal."""
    indices = {node.name: index for index, node in enumerate(schedule.before)}
    for number, fusion_round in enumerate(schedule.rounds, 1):
        for left, right, reason in fusion_round.rejected:
            parts = set(leaves(left, indices)), set(leaves(right, indices))
            if all(parts):
                yield number, *parts, reason

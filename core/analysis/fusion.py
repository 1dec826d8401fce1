"""The scheduler's fusion, replayed: the groups after each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.ops.op_class import aten_name, op_class
from core.report import FxNode, Schedule


@dataclass(frozen=True, slots=True)
class Step:
    """One fusion: in which round (from 1), and the names of the two nodes that became one."""

    round: int
    first: str
    second: str


def steps(schedule: Schedule) -> tuple[Step, ...]:
    """Every fusion in the order in which the scheduler made them."""
    return tuple(
        Step(number, first, second)
        for number, fusion_round in enumerate(schedule.rounds, 1)
        for first, second in fusion_round.fused
    )


def groups_after(schedule: Schedule, count: int) -> tuple[tuple[str, ...], ...]:
    """The groups of unfused nodes after the first `count` fusions, each in the scheduler's order."""
    order = {node.name: index for index, node in enumerate(schedule.before)}
    group_of: dict[str, tuple[str, ...]] = {name: (name,) for name in order}
    for step in steps(schedule)[:count]:
        parts = {
            group_of[leaf] for name in (step.first, step.second) for leaf in leaves(name, order) if leaf in group_of
        }
        merged = tuple(sorted({leaf for part in parts for leaf in part}, key=order.__getitem__))
        group_of.update(dict.fromkeys(merged, merged))
    return tuple(dict.fromkeys(group_of[name] for name in order))


def kernel_groups(schedule: Schedule) -> tuple[tuple[str, ...], ...]:
    """The groups after the last fusion, those that went into one kernel together: C++ takes several fused nodes in
    one.
    """
    kernel_of = {node.name: node.kernel for node in schedule.before}
    merged: dict[str, list[str]] = {}
    for group in groups_after(schedule, len(steps(schedule))):
        merged.setdefault(kernel_of[group[0]] or group[0], []).extend(group)
    return tuple(tuple(group) for group in merged.values())


def leaves(name: str, known: dict[str, int]) -> tuple[str, ...]:
    """The unfused nodes in a fused node's name: Inductor joins them with underscores, `op0_op1`."""
    if name in known:
        return (name,)
    return tuple(part for part in name.split("_") if part in known)


def rejections(schedule: Schedule) -> dict[str, int]:
    """How often each reason was given, without the numbers in it, most frequent first."""
    counts: dict[str, int] = {}
    for fusion_round in schedule.rounds:
        for _, _, reason in fusion_round.rejected:
            kind = reason.split(":")[0].split("(")[0].strip()
            counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def working_ops(schedule: Schedule, nodes: Mapping[str, FxNode]) -> dict[str, tuple[str, ...]]:
    """The user's ops of each scheduler node, each once; views are left out where there is anything else.

    `nodes` are those of the graph that was lowered, by name.
    """
    found = {}
    for node in schedule.before:
        targets = [nodes[name].target for name in node.origins if name in nodes]
        working = [target for target in targets if op_class(target) != "view"] or targets
        found[node.name] = tuple(dict.fromkeys(map(aten_name, working)))
    return found

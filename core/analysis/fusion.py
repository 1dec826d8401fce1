"""Replay of the scheduler's fusion: the groups after each step.

Reasons why two scheduler nodes were not fused: from their kinds, otherwise from the scheduler's log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.ops.costs import aten_name, op_class
from core.report import FxNode, Kernel, Schedule, SchedulerNode

UNPACKS = "MultiOutput"


@dataclass(frozen=True, slots=True)
class Step:
    """A fusion: its round (from 1), and the names of the two fused nodes."""

    round: int
    first: str
    second: str


def steps(schedule: Schedule) -> tuple[Step, ...]:
    """Return every fusion in the scheduler's order."""
    return tuple(
        Step(number, first, second)
        for number, fusion_round in enumerate(schedule.rounds, 1)
        for first, second in fusion_round.fused
    )


def groups_after(schedule: Schedule, count: int) -> tuple[tuple[str, ...], ...]:
    """Return the groups of unfused nodes after the first `count` fusions, each in the scheduler's order."""
    order = {node.name: index for index, node in enumerate(schedule.before)}
    group_of: dict[str, tuple[str, ...]] = {name: (name,) for name in order}
    for step in steps(schedule)[:count]:
        parts = {
            group_of[leaf] for name in (step.first, step.second) for leaf in leaves(name, order) if leaf in group_of
        }
        merged = tuple(sorted({leaf for part in parts for leaf in part}, key=order.__getitem__))
        group_of.update(dict.fromkeys(merged, merged))
    return tuple(dict.fromkeys(group_of[name] for name in order))


def launch_groups(schedule: Schedule, kernels: Mapping[str, Kernel]) -> tuple[tuple[str, ...], ...]:
    """Return the groups after the last fusion, merged per kernel launch; `kernels` are by id.

    A C++ kernel may contain several fused nodes. Equal code is generated once and launched again, for example for each
    layer of a model: all launches run the same code, so each has the same number of groups, in schedule order.
    """
    groups = groups_after(schedule, len(steps(schedule)))
    kernel_of = {node.name: node.kernel for node in schedule.before}
    place = {name: index for index, node in enumerate(schedule.after) for name in node.nodes}
    of_kernel: dict[str, list[tuple[str, ...]]] = {}
    for group in groups:
        of_kernel.setdefault(kernel_of[group[0]] or group[0], []).append(group)
    launch_of: dict[str, int] = {}
    launches = 0
    for kernel_id, members in of_kernel.items():
        members.sort(key=lambda group: place.get(group[0], 0))
        size = _groups_a_launch(kernels.get(kernel_id), len(members))
        launch_of.update({name: launches + index // size for index, group in enumerate(members) for name in group})
        launches += len(members) // size
    launch_of.update(_launches_without_code(schedule, launch_of))
    together: dict[int, list[str]] = {}
    for group in groups:
        together.setdefault(launch_of[group[0]], []).extend(group)
    return tuple(map(tuple, together.values()))


def _groups_a_launch(kernel: Kernel | None, groups: int) -> int:
    """Return the number of groups per launch; all groups if the launch lines are unknown."""
    launches = len(kernel.calls) if kernel is not None else 0
    return groups // launches if launches and groups % launches == 0 else groups


def _launches_without_code(schedule: Schedule, launch_of: Mapping[str, int]) -> dict[str, int]:
    """Return nodes without code, such as a concatenation written in place, by name → their launch.

    The launch writes what the node reads, and reads what the node writes.
    """
    writer = {name: launch_of[node.name] for node in schedule.before for name, _ in node.writes}
    readers: dict[str, set[int]] = {}
    for node in schedule.before:
        for name, _ in node.reads:
            readers.setdefault(name, set()).add(launch_of[node.name])
    launches = {}
    for node in schedule.before:
        shared = {writer[name] for name, _ in node.reads if name in writer}.intersection(
            *(readers.get(name, set()) for name, _ in node.writes)
        )
        if not node.kernel and shared:
            launches[node.name] = min(shared)
    return launches


def leaves(name: str, names: dict[str, int]) -> tuple[str, ...]:
    """Return the unfused nodes in a fused node's name: Inductor joins them with underscores, `op0_op1`."""
    if name in names:
        return (name,)
    return tuple(part for part in name.split("_") if part in names)


def rejections(schedule: Schedule) -> dict[str, int]:
    """Return how often each rejection reason occurred, without its numbers, most frequent first."""
    counts: dict[str, int] = {}
    for fusion_round in schedule.rounds:
        for _, _, reason in fusion_round.rejected:
            kind = reason.split(":")[0].split("(")[0].strip()
            counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda entry: -entry[1]))


def working_ops(schedule: Schedule, nodes: Mapping[str, FxNode]) -> dict[str, tuple[str, ...]]:
    """Return the distinct user ops of each scheduler node; views are left out unless there is nothing else.

    `nodes` are the nodes of the lowered graph, by name.
    """
    ops = {}
    for node in schedule.before:
        targets = [nodes[name].target for name in node.origins if name in nodes]
        working = [target for target in targets if op_class(target) != "view"] or targets
        ops[node.name] = tuple(dict.fromkeys(map(aten_name, working)))
    return ops


@dataclass(frozen=True, slots=True)
class RefusalReasons:
    """Reasons for an unfused pair.

    `because` follows from the kinds of both nodes, otherwise it is empty; `recorded` are torch's reasons, each with its
    first round; `shared` are the bytes of the buffers that both access, the maximum saving of a fusion.
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
        because = "The scheduler tries only pairs that share a buffer; these two share none."
    return RefusalReasons(because, recorded, shared)


def _pair_reason(first: SchedulerNode, second: SchedulerNode) -> str:
    if first.kernel and first.kernel == second.kernel:
        return "Both are already in one kernel: one function with their loops in sequence."
    if first.device != second.device and first.device and second.device:
        return f"They run on different devices, {' and '.join(sorted((first.device, second.device)))}."
    return ""


def _node_reason(node: SchedulerNode) -> str:
    if UNPACKS in node.ops:
        return f"{node.name} only unpacks the results of a library call; it is not a kernel."
    if node.kind == "ExternKernelSchedulerNode":
        return f"{node.name} is an extern kernel: nothing can be fused into a library call."
    if node.kind == "NopKernelSchedulerNode":
        return f"{node.name} runs nothing: it only names memory that other nodes write."
    return ""


def _template_reason(node: SchedulerNode) -> str:
    if any("Template" in name for name in node.ops):
        return f"{node.name} is a template: only pointwise ops on its inputs or its result can be fused into it."
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
    """Return the buffers that both nodes access, with the smaller of the two byte counts."""
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

"""Replay of the scheduler's fusion: the groups after each step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from core.ops.op_class import aten_name, op_class
from core.report import FxNode, Kernel, Schedule


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

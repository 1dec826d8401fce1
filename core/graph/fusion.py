"""Film of fusion: frame 0 is the unfused graph, frame k the graph after k fusions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.analysis.kernels.kernel import time_s
from core.analysis.work import launch_groups, leaves, steps
from core.base.words import count, number
from core.report import Kernel, Schedule, SchedulerNode

Kernels = Mapping[str, Kernel]
Joins = dict[str, tuple[tuple[int, str], ...]]


@dataclass(frozen=True, slots=True)
class FusionStep:
    """Text of a frame; `round` is the scheduler's round, 0 for frames without a fusion."""

    title: str
    detail: str
    round: int


@dataclass(slots=True)
class _Replay:
    """Replay of the scheduler's fusions; the list of a group keeps the nodes of earlier groups adjacent."""

    order: dict[str, int]
    group_of: dict[str, list[str]]
    joins: dict[str, list[tuple[int, str]]]

    def merge(self, names: list[str], frame: int) -> None:
        """Join the groups of these nodes; the group with the earlier start comes first."""
        parts = {id(group): group for name in names for group in (self.group_of[name],)}
        if len(parts) < 2:
            return
        ordered = sorted(parts.values(), key=lambda group: min(map(self.order.__getitem__, group)))
        merged = [name for group in ordered for name in group]
        key = _key(min(merged, key=self.order.__getitem__))
        for name in merged:
            self.group_of[name] = merged
            if self.joins[name][-1][1] != key:
                self.joins[name].append((frame, key))


def fusion_frames(schedule: Schedule, kernels: Kernels) -> tuple[FusionStep, ...]:
    """Return the frames: unfused, each fusion, and code generation if kernels contain several fused nodes."""
    fusions = steps(schedule)
    frames = [FusionStep("Before the first fusion", count(len(schedule.before), "scheduler node"), 0)]
    for index, step in enumerate(fusions, 1):
        title = f"Fusion {number(index)} of {number(len(fusions))}, in round {step.round}"
        frames.append(FusionStep(title, f"fusing {step.first} with {step.second}", step.round))
    if _generated(schedule, kernels, _replay(schedule)):
        frames.append(FusionStep("Code generation", "fused nodes that share one kernel", 0))
    return tuple(frames)


def joins(schedule: Schedule, kernels: Kernels) -> Joins:
    """Return node → (frame, group) pairs: the node belongs to the group from that frame on."""
    replay = _replay(schedule)
    _generate(schedule, kernels, replay)
    return {name: tuple(pairs) for name, pairs in replay.joins.items()}


def member_order(schedule: Schedule, kernels: Kernels) -> dict[str, int]:
    """Return the position of each node in an order that keeps the nodes of every past group adjacent."""
    replay = _replay(schedule)
    _generate(schedule, kernels, replay)
    place: dict[str, int] = {}
    for name in replay.order:
        for member in replay.group_of[name]:
            place.setdefault(member, len(place))
    return place


def launch_seconds(
    boxes: Sequence[Sequence[SchedulerNode]], kernels: Kernels, seconds: Mapping[str, float]
) -> dict[str, float]:
    """Return the measured seconds of each box, by the name of its first node.

    Boxes are kernel launches in order. `seconds` has the total of all launches of a kernel, by kernel id. A
    launch gets its own time if each launch was timed, otherwise an equal share.
    """
    launches: dict[str, list[str]] = {}
    for box in boxes:
        launches.setdefault(box[0].kernel, []).append(box[0].name)
    return {
        name: seconds[kernel] * share
        for kernel, names in launches.items()
        if kernel in seconds
        for name, share in zip(names, _shares(kernels.get(kernel), len(names)), strict=True)
    }


def _shares(kernel: Kernel | None, launches: int) -> list[float]:
    """Return each launch's share of the time of all launches."""
    timed = [(call.time.calls, time_s(call.time)) for call in kernel.calls if call.time] if kernel is not None else []
    spent = [calls * seconds for calls, seconds in timed if seconds is not None]
    if len(spent) != launches or not sum(spent):
        return [1 / launches] * launches
    return [seconds / sum(spent) for seconds in spent]


def _key(first: str) -> str:
    return f"g:{first}"


def _replay(schedule: Schedule) -> _Replay:
    order = {node.name: index for index, node in enumerate(schedule.before)}
    replay = _Replay(order, {name: [name] for name in order}, {name: [(0, _key(name))] for name in order})
    for frame, step in enumerate(steps(schedule), 1):
        replay.merge([*leaves(step.first, order), *leaves(step.second, order)], frame)
    return replay


def _generated(schedule: Schedule, kernels: Kernels, replay: _Replay) -> list[list[str]]:
    """Return the launches that contain more than one group."""
    groups = [list(group) for group in launch_groups(schedule, kernels)]
    return [group for group in groups if len({id(replay.group_of[name]) for name in group}) > 1]


def _generate(schedule: Schedule, kernels: Kernels, replay: _Replay) -> None:
    for group in _generated(schedule, kernels, replay):
        replay.merge(group, len(steps(schedule)) + 1)

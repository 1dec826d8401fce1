"""Kernel launches of a scheduled graph: their ops, saved bytes and times, and the steps to them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.analysis.work import (
    OUTPUT_OF_A_CALL,
    distinct_kernels,
    launch_groups,
    leaves,
    moved_bytes,
    steps,
    working_ops,
)
from core.base.words import count, first_of, number
from core.ops.costs import CALLS, aten_name, op_class
from core.report import Compilation, Direction, FxNode, Kernel, Schedule, SchedulerNode

NOT_RECORDED = "not recorded: the log has kernels and their ops alone"
# Titles of the first and the last frame, which can be measured.
EAGER_STEP, KERNELS_STEP = "Eager", "Kernels"
NOT_ONE_BY_ONE = "not recorded one by one, and without their ops"
UNKNOWN_STEPS = 3  # Frames before the last one if the steps are unknown.
MOST_OPS_NAMED = 3  #: ops or calls that are named in a text
# Inductor's class of a node that is a call, not a loop.
CALL = "ExternKernelSchedulerNode"
Kernels = Mapping[str, Kernel]
FxNodes = Mapping[str, FxNode]


@dataclass(frozen=True, slots=True)
class Launch:
    """A kernel launch with its scheduler nodes before fusion.

    `members` are the names of the FX nodes that it computes, without views; a scheduler node without a known op is a
    member itself. `owner` maps each member to the first scheduler node that computes it.
    """

    nodes: tuple[SchedulerNode, ...]
    members: tuple[str, ...]
    owner: Mapping[str, SchedulerNode]

    @property
    def kernel(self) -> str:
        """Id of the kernel; empty if no code was generated."""
        return self.nodes[0].kernel

    @property
    def id(self) -> str:
        """Id of the launch's hull in the drawing."""
        return f"g:{self.nodes[0].name}"


def fusion_schedules(compilation: Compilation) -> tuple[Schedule, ...]:
    """Return the recorded schedules of a compilation; without any, those of its kernels' calls.

    Torch logs which FX nodes each kernel computes, but no scheduler nodes; without its provenance tracking, only those
    of Triton kernels. A node then stands for a call, or for all calls of a kernel whose FX nodes are not recorded call
    by call; it has no kind, no buffers, and no fusions.
    """
    if compilation.schedules:
        return compilation.schedules
    directions = dict.fromkeys(kernel.direction for kernel in compilation.kernels if kernel.origins)
    return tuple(_schedule_of_calls(compilation, direction) for direction in directions)


def is_recorded(schedule: Schedule) -> bool:
    """Return True for a schedule of the scheduler's own nodes."""
    return any(node.kind for node in schedule.before)


def has_steps(schedule: Schedule) -> bool:
    """Return True if the ops of each scheduler node and the fusions were recorded."""
    return is_recorded(schedule) and (schedule.one_count or bool(schedule.rounds))


def _schedule_of_calls(compilation: Compilation, direction: Direction) -> Schedule:
    calls: list[tuple[int, Kernel, tuple[str, ...]]] = []
    for kernel in compilation.kernels:
        if kernel.direction == direction:
            single = [(call.line, kernel, call.origins) for call in kernel.calls if call.origins or not kernel.origins]
            known = len(single) == len(kernel.calls) and single
            calls += known or [(min(kernel.call_lines, default=0), kernel, kernel.origins)]
    calls.sort(key=lambda call: call[0])
    nodes = tuple(
        SchedulerNode(f"call{index}", "", (f"call{index}",), (), (), (), origins, None, "", kernel.id)
        for index, (_, kernel, origins) in enumerate(calls)
    )
    return Schedule(-1, direction, nodes, nodes, (), (), {})


def launches(schedule: Schedule, nodes: FxNodes, kernels: Kernels) -> tuple[Launch, ...]:
    """Return the kernel launches of a graph in schedule order.

    `nodes` are the FX nodes of the lowered graph, by name.
    """
    order = {node.name: index for index, node in enumerate(schedule.before)}
    groups = [sorted(group, key=order.__getitem__) for group in launch_groups(schedule, kernels)]
    drawn = [_launch(tuple(schedule.before[order[name]] for name in group), nodes, kernels) for group in groups]
    called = {name for launch in drawn if is_call(launch, kernels) for name in launch.members}
    return tuple(launch if is_call(launch, kernels) else _without(launch, called) for launch in drawn)


def is_call(launch: Launch, kernels: Kernels) -> bool:
    """Return True for the call of a library, of a Triton kernel of the user, or of a branch."""
    kernel = kernels.get(launch.kernel)
    return launch.nodes[0].kind == CALL or (kernel is not None and kernel.extern)


def _launch(scheduled: tuple[SchedulerNode, ...], nodes: FxNodes, kernels: Kernels) -> Launch:
    owner: dict[str, SchedulerNode] = {}
    for node in [node for node in scheduled if node.ops != OUTPUT_OF_A_CALL] or scheduled:
        known = [name for name in node.origins if name in nodes and nodes[name].op in CALLS]
        if node.kind == CALL:
            known = _op_of_call(node, known, nodes, kernels)
        working = [name for name in known if op_class(nodes[name].target) != "view"]
        for name in working or known or [node.name]:
            owner.setdefault(name, node)
    return Launch(scheduled, tuple(owner), owner)


def _op_of_call(node: SchedulerNode, known: list[str], nodes: FxNodes, kernels: Kernels) -> list[str]:
    """Return the one op of a call: torch may name the producers of its inputs, too, which come before it."""
    kernel = kernels.get(node.kernel)
    called = aten_name(kernel.name) if kernel is not None else ""
    return [name for name in known if aten_name(nodes[name].target) == called][-1:] or known[-1:]


def _without(launch: Launch, called: Collection[str]) -> Launch:
    """Return a generated launch without the ops of library calls, unless it has no others.

    Lowering such an op also makes loops that lay out its inputs or its result, and torch names them after the op.
    """
    owner = {name: node for name, node in launch.owner.items() if name not in called}
    return Launch(launch.nodes, tuple(owner), owner) if owner else launch


def launch_words(drawn: Sequence[Launch], kernels: Kernels) -> str:
    """Return the numbers of launches and of distinct kernels; a launch without a kernel does not count."""
    launched = [launch.kernel for launch in drawn if launch.kernel]
    return f"{count(len(launched), 'launch', 'launches')} of {count(_distinct(launched, kernels), 'kernel')}"


def _distinct(launched: Collection[str], kernels: Kernels) -> int:
    return distinct_kernels(kernels[name] for name in set(launched) if name in kernels)


@dataclass(frozen=True, slots=True)
class NestedGraph:
    """A nested graph at one of its calls: a branch, a loop's condition or body, or another graph.

    All names are those of a drawing, in which they are unique: those of FX nodes begin with `path`, which has the names
    of the nested graphs from the outside. `call` is the FX node that calls the graph.
    """

    call: str
    path: str
    schedule: Schedule
    nodes: FxNodes
    launches: tuple[Launch, ...]


@dataclass(frozen=True, slots=True)
class FusionStep:
    """A frame: its text, the number of its units (calls, nodes or launches), and the bytes they move.

    Numbers are None where there is nothing to count. A missing frame was not recorded, and shows the ops.
    """

    title: str
    detail: str
    units: int | None = None
    unit: str = "node"
    moved: int | None = None
    missing: bool = False


@dataclass(slots=True)
class Fusions:
    """Replay of the scheduler's fusions: the current group of each node, and the groups that it joined."""

    order: dict[str, int]
    group_of: dict[str, list[str]]
    joins: dict[str, list[tuple[int, str]]]

    def merge(self, names: Sequence[str], frame: int) -> None:
        """Join the groups of these nodes."""
        parts = {id(group): group for name in names for group in (self.group_of[name],)}
        if len(parts) < 2:
            return
        merged = sorted((name for group in parts.values() for name in group), key=self.order.__getitem__)
        for name in merged:
            self.group_of[name] = merged
            if self.joins[name][-1][1] != merged[0]:
                self.joins[name].append((frame, merged[0]))


def with_parts(schedule: Schedule, parts: Sequence[NestedGraph]) -> Schedule:
    """Return a schedule with the nodes, buffers and fusions of nested graphs after its own."""
    if not parts:
        return schedule
    every = (schedule, *(part.schedule for part in parts))
    return replace(
        schedule,
        before=tuple(node for each in every for node in each.before),
        after=tuple(node for each in every for node in each.after),
        rounds=tuple(fusions for each in every for fusions in each.rounds),
        buffers=tuple(buffer for each in every for buffer in each.buffers),
        modules={name: module for each in every for name, module in each.modules.items()},
        eager_calls=schedule.eager_calls and tuple(call for each in every for call in each.eager_calls),
    )


def replay(schedule: Schedule, drawn: Sequence[Launch]) -> tuple[Fusions, bool]:
    """Return the replayed fusions, and True if code generation put several groups into one launch."""
    order = {node.name: index for index, node in enumerate(schedule.before)}
    start = (2 if schedule.eager_calls else 1) if has_steps(schedule) else UNKNOWN_STEPS
    replayed = Fusions(order, {name: [name] for name in order}, {name: [(start, name)] for name in order})
    recorded = steps(schedule)
    marks = dict.fromkeys("".join(name.partition("#")[1:]) for name in order)  # "#2" at a graph's second call.
    for frame, step in enumerate(recorded, start + 1):
        names = [*leaves(step.first, order), *leaves(step.second, order)]
        for mark in marks:
            replayed.merge([name + mark for name in names if name + mark in order], frame)
    groups = [[node.name for node in launch.nodes] for launch in drawn]
    scattered = [group for group in groups if len({id(replayed.group_of[name]) for name in group}) > 1]
    for group in scattered:
        replayed.merge(group, start + len(recorded) + 1)
    return replayed, bool(scattered)


def fusion_frames(
    schedule: Schedule,
    nodes: FxNodes,
    kernels: Kernels,
    drawn: Sequence[Launch] | None = None,
    parts: Sequence[NestedGraph] = (),
) -> tuple[FusionStep, ...]:
    """Return the frames: eager's calls, ops, scheduler nodes, each fusion, code generation, and launches.

    `drawn` are the launches, if they are known. There is no frame of code generation if it joined no nodes, and none of
    eager's calls if they were not recorded. The fusions of nested graphs come last, and change no number.
    """
    drawn = launches(schedule, nodes, kernels) if drawn is None else drawn
    ops = {name for launch in drawn for name in launch.members}
    fusions, left = len(steps(schedule)), len(schedule.before)
    launched = [launch.kernel for launch in drawn if launch.kernel]
    distinct = f"{count(_distinct(launched, kernels), 'kernel')}; each hull is one launch"
    kernels_step = FusionStep(KERNELS_STEP, distinct, len(launched), "launch", schedule.bytes_after)
    noun = "scheduler node" if ops.isdisjoint(nodes) else "op"
    ops_step = FusionStep("Ops", f"{count(len(ops), noun)} after decomposition; views are on the edges")
    if not has_steps(schedule):
        return ops_step, *_unknown_steps(schedule), kernels_step
    inlined = "loops and calls: lowering inlined ops into the loops that read them"
    moved = moved_bytes(schedule) or (None,) * fusions
    frames = [
        *_eager_frame(schedule),
        ops_step,
        FusionStep("Scheduler nodes", inlined, left, moved=schedule.bytes_before),
    ]
    graphs = [(schedule, nodes), *((part.schedule, part.nodes) for part in parts)]
    texts = [text for each, names in graphs for text in _fusion_texts(each, names)]
    for index, (title, detail) in enumerate(texts, 1):
        amount = moved[index - 1] if index <= fusions else schedule.bytes_after
        title = f"Fusion {number(index)} of {number(len(texts))}, {title}"
        frames.append(FusionStep(title, detail, left - min(index, fusions), moved=amount))
    if replay(with_parts(schedule, parts), [*drawn, *(launch for part in parts for launch in part.launches)])[1]:
        joined = "fused nodes that share one kernel"
        frames.append(FusionStep("Code generation", joined, len(drawn), "launch", schedule.bytes_after))
    return (*frames, kernels_step)


def _fusion_texts(schedule: Schedule, nodes: FxNodes) -> Iterator[tuple[str, str]]:
    """Yield round and graph of each fusion, and the ops that it fused."""
    named, order = working_ops(schedule, nodes), {node.name: index for index, node in enumerate(schedule.before)}
    graph = f" of {schedule.subgraph}" if schedule.subgraph else ""
    for step in steps(schedule):
        first, second = (_named(leaves(name, order), named) for name in (step.first, step.second))
        yield f"round {number(step.round)}{graph}", f"{first} with {second}"


def _unknown_steps(schedule: Schedule) -> Iterator[FusionStep]:
    """Yield the frames between ops and kernels of a schedule without steps."""
    known = is_recorded(schedule)
    for title, nodes in ("Scheduler nodes", schedule.before), ("Fusions", schedule.after):
        yield FusionStep(title, NOT_ONE_BY_ONE if known else NOT_RECORDED, len(nodes) if known else None, missing=True)


def _eager_frame(schedule: Schedule) -> Iterator[FusionStep]:
    if schedule.eager_calls:
        moved = sum(call.bytes for call in schedule.eager_calls)
        yield FusionStep(EAGER_STEP, "ATen ops; bytes are estimated", len(schedule.eager_calls), "call", moved)


def _named(names: Sequence[str], ops: Mapping[str, tuple[str, ...]]) -> str:
    """Return the ops of scheduler nodes in words; the scheduler's names if no op is known."""
    known = list(dict.fromkeys(op for name in names for op in ops.get(name, ())))
    return first_of(known, MOST_OPS_NAMED) if known else "_".join(names)

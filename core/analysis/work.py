"""Inductor's work on the ops: op and kernel counts, memory traffic, and a replay of the fusion.

A recompiled frame counts once, by its newest compilation, so that no op counts twice. Forward and backward of a
compilation are summed. Branches and loop bodies have ops and kernels like any graph; their traffic is left out, since
only the run decides which bodies run, and how often. The reason for an unfused pair comes from the kinds of its two
nodes, otherwise from the scheduler's log.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.ops.costs import aten_name, op_class
from core.report import (
    Call,
    Compilation,
    FxGraph,
    FxNode,
    How,
    Kernel,
    Report,
    Schedule,
    SchedulerNode,
    frame_id,
    stored,
)


@dataclass(frozen=True, slots=True)
class Traffic:
    """Bytes that the nodes move without fusion and with fusion; both are upper bounds if `at_most`.

    `subgraphs` counts the left-out branches, loop bodies and other nested graphs.
    """

    before: int
    after: int
    at_most: bool
    subgraphs: int = 0

    @property
    def saved(self) -> float:
        """Part saved by fusion: 0.25 for a quarter less, negative if fused nodes move more."""
        return 1 - self.after / self.before if self.before else 0.0

    @property
    def changed(self) -> bool:
        """True if fusion changed the traffic by more than a rounding error."""
        return abs(self.saved) >= 0.0005


@dataclass(frozen=True, slots=True)
class Work:
    """Numbers of the newest compilation of each frame; `earlier` counts the older compilations left out.

    `ops` compute, `views` only reinterpret memory; `ops` is None without a graph. `kernels` are distinct kernels,
    `calls` the kernel calls in the generated wrappers, library calls included. `uneven` is True if the
    traffic before and after fusion was counted by different rules. `traffic` is None if `uneven` is True or no traffic
    was recorded.
    """

    ops: int | None
    views: int
    kernels: int | None
    calls: int
    traffic: Traffic | None
    uneven: bool
    earlier: int
    directions: tuple[str, ...]


def work(report: Report) -> Work:
    """Return Inductor's work on the run's ops."""
    compiled, newest = lowered_compilations(report), newest_compilations(report)
    graphs = [graph for compilation in newest for graph in compilation.lowered_graphs]
    kernels = [kernel for compilation in newest for kernel in compilation.kernels]
    schedules = [schedule for compilation in newest for schedule in compilation.schedules]
    views = sum(views_of(graph) for graph in graphs)
    return Work(
        ops=sum(map(computing_ops, graphs)) if graphs else None,
        views=views,
        kernels=distinct_kernels(kernels) or None,
        calls=sum(len(kernel.calls) for kernel in kernels),
        traffic=traffic_of(schedules),
        uneven=not all(schedule.one_count for schedule in schedules),
        earlier=len(compiled) - len(newest),
        directions=tuple(dict.fromkeys(graph.direction for graph in graphs if graph.direction)),
    )


def lowered_compilations(report: Report) -> list[Compilation]:
    """Return the compilations that Inductor lowered."""
    return [compilation for compilation in report.compilations if compilation.kernels or compilation.lowered_graphs]


def newest_compilations(report: Report) -> list[Compilation]:
    """Return the newest compilation of each frame that Inductor lowered."""
    return list({frame_of(compilation): compilation for compilation in lowered_compilations(report)}.values())


def computing_ops(graph: FxGraph) -> int:
    """Return the number of computing ops of a graph; the others are views, which only reinterpret memory."""
    return sum(graph.targets.values()) - views_of(graph)


def views_of(graph: FxGraph) -> int:
    """Return the number of views of a graph."""
    return sum(times for target, times in graph.targets.items() if op_class(target) == "view")


def lowered_ops(compilation: Compilation) -> int | None:
    """Return the number of ops that Inductor lowers, without views; None without a lowered graph."""
    graphs = compilation.lowered_graphs
    return sum(map(computing_ops, graphs)) if graphs else None


def captured_ops(compilation: Compilation) -> int:
    """Return the number of ops that Dynamo captured.

    The number is torch's own count if recorded, otherwise the count of Dynamo's last graph. Without a Dynamo graph, as
    in an export, the first graph counts.
    """
    if compilation.graph_op_count is not None:
        return compilation.graph_op_count
    chosen = dynamo_graphs(compilation)[-1:] or compilation.last_graphs[:1]
    return sum(graph.calls for graph in chosen)


def dynamo_graphs(compilation: Compilation) -> tuple[FxGraph, ...]:
    """Return the graphs that Dynamo passed to the backend in the last attempt."""
    return tuple(graph for graph in compilation.last_graphs if graph.stage == "dynamo_output_graph")


def heaviest(report: Report) -> Compilation | None:
    """Return the compilation with the most ops, ties by graphs; None if nothing was compiled.

    A graph captured by compiled autograd is compiled under another id, so the capture itself is the last choice.
    """
    return report.compilation(_heaviest_id(report))


@stored
def _heaviest_id(report: Report) -> str:
    chosen = max(report.compilations, key=_weight, default=None)
    return chosen.id if chosen is not None else ""


def _weight(compilation: Compilation) -> tuple[bool, int, int]:
    return not compilation.is_capture, captured_ops(compilation), len(compilation.graphs)


def frame_of(compilation: Compilation) -> str:
    """Return the frame's id, or the id of a compilation without a frame."""
    return frame_id(compilation.id) or compilation.id


def distinct_kernels(kernels: Iterable[Kernel]) -> int:
    """Return the number of distinct kernels: generated kernels, and library functions by name."""
    return len({kernel.name if kernel.extern else kernel.id for kernel in kernels})


def traffic_of(schedules: Sequence[Schedule]) -> Traffic | None:
    """Return the summed traffic of several graphs; None if the traffic of a graph is unknown.

    Nested graphs are left out. Traffic is unknown if it was not recorded, or was counted by different rules
    before and after fusion.
    """
    outer = [traffic_within(schedule) for schedule in schedules if not schedule.subgraph]
    counted = [traffic for traffic in outer if traffic is not None]
    if not counted or len(counted) < len(outer):
        return None
    return Traffic(
        before=sum(traffic.before for traffic in counted),
        after=sum(traffic.after for traffic in counted),
        at_most=any(traffic.at_most for traffic in counted),
        subgraphs=len(schedules) - len(outer),
    )


def traffic_within(schedule: Schedule) -> Traffic | None:
    """Return the traffic of a graph, nested or not; None if unknown."""
    before, after = schedule.bytes_before, schedule.bytes_after
    return None if before is None or after is None else Traffic(before, after, schedule.at_most)


RAN: tuple[How, ...] = ("compiled", "reused", "mixed", "eager")


@dataclass(frozen=True, slots=True)
class UncompiledCalls:
    """Calls of one kind that ran no compiled code, or only partly, and the number of all calls.

    They raised because a stance forbids compiling, ran eagerly or partly eagerly because no compiled code fitted, or
    ran eagerly because no graph was compiled.
    """

    how: Literal["raised", "eager", "mixed", "no graph"]
    calls: int
    total: int


def uncompiled_calls(report: Report) -> tuple[UncompiledCalls, ...]:
    """Return the calls that raised or ran eagerly, by kind; empty for a script with its stances."""
    if report.script is not None:
        return ()
    total, counts = len(report.calls), Counter(call.how for call in report.calls)
    if report.compilations and all(compilation.status in ("failed", "empty") for compilation in report.compilations):
        # A call that compiled a frame without a graph ran eagerly, too.
        ran = sum(counts[how] for how in RAN)
        return (UncompiledCalls("no graph", ran, total),) if ran else ()
    kinds: tuple[Literal["raised", "eager", "mixed"], ...] = ("raised", "eager", "mixed")
    return tuple(UncompiledCalls(how, counts[how], total) for how in kinds if counts[how])


def refused_calls(report: Report) -> tuple[Call, ...]:
    """Return the calls that a stance refused, each with torch's message."""
    return tuple(call for call in report.calls if call.raised and call.entry is None)


# Torch's reason for two nodes without an equal access, even if both access one buffer: fusing would save nothing.
NO_SHARED_DATA = "no shared data"
UNTRIED = "The scheduler tries only pairs that share a buffer; these two share none."


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


def moved_bytes(schedule: Schedule) -> tuple[int, ...]:
    """Return the bytes that all nodes move after each fusion; empty if the counts are not comparable.

    Nodes that are final are counted as recorded. Others count each buffer once, and neither reads of their own writes
    nor writes that no other node needs.
    """
    if not schedule.one_count:
        return ()
    nodes = {node.name: node for node in schedule.before}
    final = {frozenset(node.nodes): node.bytes_accessed for node in schedule.after}
    kept = {buffer for node in schedule.after for buffer, _ in node.writes}
    readers: dict[str, set[str]] = {}
    for node in schedule.before:
        for buffer, _ in node.reads:
            readers.setdefault(buffer, set()).add(node.name)

    def moved(group: frozenset[str]) -> int:
        if group in final or len(group) < 2:
            return final[group] if group in final else sum(nodes[name].bytes_accessed for name in group)
        written = dict(pair for name in group for pair in nodes[name].writes)
        needed = [size for buffer, size in written.items() if buffer in kept or readers.get(buffer, set()) - group]
        read = dict(sorted(pair for name in group for pair in nodes[name].reads if pair[0] not in written))
        return sum(needed) + sum(read.values())

    group_of = {name: frozenset((name,)) for name in nodes}
    order = dict.fromkeys(nodes, 0)
    total = sum(node.bytes_accessed for node in schedule.before)
    totals = []
    for step in steps(schedule):
        parts = {group_of[leaf] for name in (step.first, step.second) for leaf in leaves(name, order)}
        merged = frozenset(name for part in parts for name in part)
        total += moved(merged) - sum(map(moved, parts))
        group_of.update(dict.fromkeys(merged, merged))
        totals.append(total)
    return tuple(totals)


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
    """Return the number of groups per launch; all groups if the number of launches is unknown."""
    launches = len(kernel.calls) if kernel is not None else 0
    return groups // launches if launches and groups % launches == 0 else groups


def _launches_without_code(schedule: Schedule, launch_of: Mapping[str, int]) -> dict[str, int]:
    """Return name → launch for nodes without code, such as a concatenation written in place.

    The launch writes an input of the node, and reads all outputs of the node. One of several outputs of a library call
    belongs to the call.
    """
    writer = {name: launch_of[node.name] for node in schedule.before for name, _ in node.writes}
    readers: dict[str, set[int]] = {}
    for node in schedule.before:
        for name, _ in node.reads:
            readers.setdefault(name, set()).add(launch_of[node.name])
    launches = {}
    for node in schedule.before:
        shared = {writer[name] for name, _ in node.reads if name in writer}
        if not node.unpacks:
            shared.intersection_update(*(readers.get(name, set()) for name, _ in node.writes))
        if not node.kernel and shared:
            launches[node.name] = min(shared)
    return launches


def leaves(name: str, names: dict[str, int]) -> tuple[str, ...]:
    """Return the unfused nodes of `op0_op1`, or of a nested graph's `loop_0_op0_loop_0_op1`."""
    if name in names:
        return (name,)
    parts: list[str] = []
    begun: list[str] = []
    for piece in name.split("_"):
        begun.append(piece)
        if piece in names or (piece[:2] == "op" and piece[2:3].isdecimal()):
            parts += [part for part in ("_".join(begun), piece) if part in names][:1]
            begun.clear()
    return tuple(parts)


def rejections(schedule: Schedule) -> dict[str, int]:
    """Return rejection reason → number of times, most frequent first; reasons are without numbers."""
    counts: dict[str, int] = {}
    for fusion_round in schedule.rounds:
        for _, _, reason in fusion_round.rejected:
            kind = reason.split(":")[0].split("(")[0].strip()
            counts[kind] = counts.get(kind, 0) + 1
    return dict(sorted(counts.items(), key=lambda entry: -entry[1]))


def working_ops(schedule: Schedule, nodes: Mapping[str, FxNode]) -> dict[str, tuple[str, ...]]:
    """Return scheduler node → distinct user ops, without views unless the node has only views."""
    ops = {}
    for node in schedule.before:
        targets = [nodes[name].target for name in node.origins if name in nodes]
        working = [target for target in targets if op_class(target) != "view"] or targets
        ops[node.name] = tuple(dict.fromkeys(map(aten_name, working)))
    return ops


@dataclass(frozen=True, slots=True)
class RefusalReasons:
    """Reasons for an unfused pair.

    `because` follows from the two nodes: their kinds, or that they share no buffer. It is empty if nothing
    follows. `recorded` are torch's reasons, each with its first round. `shared` are the bytes of the buffers that
    both access, the maximum saving of a fusion.
    """

    because: str
    recorded: tuple[tuple[int, str], ...]
    shared: dict[str, int]


def refusal_reasons(
    schedule: Schedule, first: SchedulerNode, second: SchedulerNode, is_one_launch: bool = True
) -> RefusalReasons:
    """Return why torch did not fuse two scheduler nodes that are still separate after fusion.

    `is_one_launch` is False for nodes of two launches, which may have the same kernel.
    """
    shared = shared_buffers(first, second)
    recorded = reasons_between(schedule, first, second)
    because = _pair_reason(first, second, is_one_launch)
    because = because or next(filter(None, map(_node_reason, (first, second))), "")
    if not because and not recorded:
        because = next(filter(None, map(_template_reason, (first, second))), "")
    if not because and not recorded and not shared:
        because = UNTRIED
    return RefusalReasons(because, recorded, shared)


def _pair_reason(first: SchedulerNode, second: SchedulerNode, is_one_launch: bool = True) -> str:
    if is_one_launch and first.kernel and first.kernel == second.kernel:
        return "Both are already in one kernel: one function with their loops in sequence."
    if first.device != second.device and first.device and second.device:
        return f"They run on different devices, {' and '.join(sorted((first.device, second.device)))}."
    return ""


def _node_reason(node: SchedulerNode) -> str:
    if node.unpacks:
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
    """Return (round, torch's reason) for an unfused pair or its parts; each reason occurs once."""
    first_nodes, second_nodes = set(first.nodes), set(second.nodes)
    rounds: dict[str, int] = {}
    for round_number, left, right, reason in _refusals(schedule):
        if (left <= first_nodes and right <= second_nodes) or (left <= second_nodes and right <= first_nodes):
            rounds.setdefault(reason, round_number)
    return tuple((round_number, reason) for reason, round_number in rounds.items())


def reasons_of_pairs(schedule: Schedule) -> dict[frozenset[str], str]:
    """Return pair of final scheduler nodes → torch's first reason for not fusing them or their parts."""
    owner = {part: node.name for node in schedule.after for part in node.nodes}
    reasons: dict[frozenset[str], str] = {}
    for _, left, right, reason in _refusals(schedule):
        first, second = ({owner.get(part, "") for part in side} for side in (left, right))
        if len(first) == len(second) == 1:
            reasons.setdefault(frozenset(first | second), reason)
    return reasons


def refused_pair(schedule: Schedule) -> tuple[str, str] | None:
    """Return the refused pair whose fusion could save most, then the one that shares most; None without."""
    pairs, reasons = refused_pairs(schedule), reasons_of_pairs(schedule)
    saves = {names: not reasons.get(frozenset(names), NO_SHARED_DATA).startswith(NO_SHARED_DATA) for names in pairs}
    return max(pairs, key=lambda names: (saves[names], pairs[names]), default=None)


def refused_pairs(schedule: Schedule) -> dict[tuple[str, str], int]:
    """Return pair of final scheduler nodes → shared bytes, for refusals not due to the nodes' kinds."""
    owner = {part: node for node in schedule.after for part in node.nodes}
    pairs = {}
    for _, left, right, _ in _refusals(schedule):
        first, second = owner.get(min(left)), owner.get(min(right))
        if (
            first
            and second
            and first is not second
            and not _pair_reason(first, second)
            and not (_node_reason(first) or _node_reason(second))
        ):
            pairs[first.name, second.name] = sum(shared_buffers(first, second).values())
    return pairs


def shared_buffers(first: SchedulerNode, second: SchedulerNode) -> dict[str, int]:
    """Return the buffers that both nodes access, with the smaller of the two byte counts."""
    touched = dict((*first.reads, *first.writes))
    return {name: min(size, touched[name]) for name, size in (*second.reads, *second.writes) if name in touched}


def nodes_between(schedule: Schedule, first: SchedulerNode, second: SchedulerNode) -> tuple[SchedulerNode, ...]:
    """Return the final scheduler nodes that need a result of one node and that the other needs, in order."""
    bits = {node.name: 1 << index for index, node in enumerate(schedule.after)}
    writer = {name: node.name for node in schedule.after for name, _ in node.writes}
    needs: dict[str, int] = {}
    for node in schedule.after:
        needs[node.name] = 0
        for source in {writer[name] for name, _ in node.reads if name in writer} - {node.name}:
            needs[node.name] |= bits[source] | needs.get(source, 0)
    ends = (first.name, second.name) if needs[second.name] & bits[first.name] else (second.name, first.name)
    early, late = bits[ends[0]], needs[ends[1]]
    return tuple(node for node in schedule.after if bits[node.name] & late and needs[node.name] & early)


def _refusals(schedule: Schedule) -> Iterator[tuple[int, set[str], set[str], str]]:
    """Yield round, unfused nodes on both sides, and reason of each refusal."""
    indices = {node.name: index for index, node in enumerate(schedule.before)}
    for round_number, fusion_round in enumerate(schedule.rounds, 1):
        for left, right, reason in fusion_round.rejected:
            parts = set(leaves(left, indices)), set(leaves(right, indices))
            if all(parts):
                yield round_number, *parts, reason

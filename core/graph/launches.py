"""Kernel launches of a scheduled graph: their ops, saved bytes and times, and the steps to them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from core.analysis.work import distinct_kernels, launch_groups, leaves, moved_bytes, steps
from core.base.words import agree, bytes_, count, first_of, number
from core.graph.model import Fusions, FusionStep, Launch
from core.ops.costs import CALLS, aten_name, constants, op_class
from core.report import FxNode, Kernel, Schedule, SchedulerNode, module_path

NOT_RECORDED = "not recorded: the log has kernels and their ops alone"
# Titles of the first and the last frame, which can be measured.
EAGER_STEP, KERNELS_STEP = "Eager", "Kernels"
NOT_ONE_BY_ONE = "not recorded one by one, and without their ops"
UNKNOWN_STEPS = 3  # Frames before the last one if the steps are unknown.
MOST_MODULES = 3  #: parts of a module's path in the text of a fusion
MOST_OPS_NAMED = 3  #: ops or calls that are named in a text
# Inductor's class of a node that is a call, not a loop.
CALL = "ExternKernelSchedulerNode"
Kernels = Mapping[str, Kernel]
FxNodes = Mapping[str, FxNode]


def launches(schedule: Schedule, nodes: FxNodes, kernels: Kernels) -> tuple[Launch, ...]:
    """Return the kernel launches in schedule order; `nodes` are the lowered graph's FX nodes by name."""
    order = {node.name: index for index, node in enumerate(schedule.before)}
    groups = [sorted(group, key=order.__getitem__) for group in launch_groups(schedule, kernels)]
    reading = {name for node in schedule.before if node.reads or node.kind == CALL for name in node.origins}
    fixed = constants(nodes) | (nodes.keys() - reading) if schedule.one_count else nodes.keys()
    drawn = [_launch(tuple(schedule.before[order[name]] for name in group), nodes, kernels, fixed) for group in groups]
    called = {name for launch in drawn if is_call(launch, kernels) for name in launch.members}
    computed = {name for launch in drawn if launch.nodes[0].runs for name in launch.members}
    apart = [launch if is_call(launch, kernels) else _without(launch, called) for launch in drawn]
    return tuple(launch if launch.nodes[0].runs else _without(launch, computed) for launch in apart)


def is_call(launch: Launch, kernels: Kernels) -> bool:
    """Return True for the call of a library, of a Triton kernel of the user, or of a branch."""
    kernel = kernels.get(launch.kernel)
    return launch.nodes[0].kind == CALL or (kernel is not None and kernel.extern)


def _launch(scheduled: tuple[SchedulerNode, ...], nodes: FxNodes, kernels: Kernels, fixed: Collection[str]) -> Launch:
    """Return a launch; a loop that reads nothing computes constants, though torch names their readers."""
    owner: dict[str, SchedulerNode] = {}
    fills: dict[str, SchedulerNode] = {}
    for node in [node for node in scheduled if not node.unpacks] or scheduled:
        known = [name for name in node.origins if name in nodes and nodes[name].op in CALLS]
        if node.kind == CALL:
            known = _op_of_call(node, known, nodes, kernels)
        working = [name for name in known if op_class(nodes[name].target) != "view"]
        names = working or known or [node.name]
        if known and node.runs and node.kind != CALL and not node.reads:
            own = [name for name in names if name in fixed]
            fills.update(dict.fromkeys([] if own else names[-1:], node))
            names = own
        for name in names:
            owner.setdefault(name, node)
    every = {**owner, **{name: node for name, node in fills.items() if name not in owner}}
    return Launch(scheduled, tuple(every), every, frozenset(fills.keys() - owner.keys()))


def _op_of_call(node: SchedulerNode, known: list[str], nodes: FxNodes, kernels: Kernels) -> list[str]:
    """Return the one op of a call: torch may name the producers of its inputs, too, which come before it."""
    kernel = kernels.get(node.kernel)
    called = aten_name(kernel.name) if kernel is not None else ""
    return [name for name in known if aten_name(nodes[name].target) == called][-1:] or known[-1:]


def _without(launch: Launch, elsewhere: Collection[str]) -> Launch:
    """Return a launch without the ops that others compute, unless it has no others.

    Lowering the op of a library call also makes loops that lay out its inputs or its result, and torch names them after
    the op. A node that runs nothing also has the ops of its inputs.
    """
    owner = {name: node for name, node in launch.owner.items() if name not in elsewhere}
    return replace(launch, members=tuple(owner), owner=owner) if owner else launch


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


def replay(schedule: Schedule, drawn: Sequence[Launch]) -> tuple[Fusions, list[int]]:
    """Return the replayed fusions, and the numbers of nodes that code generation joined into launches."""
    order = {node.name: index for index, node in enumerate(schedule.before)}
    start = (2 if schedule.eager_calls else 1) if schedule.has_steps else UNKNOWN_STEPS
    replayed = Fusions(order, {name: [name] for name in order}, {name: [(start, name)] for name in order})
    recorded = steps(schedule)
    marks = dict.fromkeys("".join(name.partition("#")[1:]) for name in order)  # "#2" at a graph's second call.
    loops = dict(_later_loops(drawn))
    for frame, step in enumerate(recorded, start + 1):
        names = [*leaves(step.first, order), *leaves(step.second, order)]
        for mark in marks:
            marked = [name + mark for name in names if name + mark in order]
            replayed.merge(marked, frame)
            replayed.touch({loops[name] for name in marked if name in loops}, frame)
    joined = []
    for launch in drawn:
        own = {node.name for node in launch.owner.values()}
        groups = {id(replayed.group_of[node.name]) for node in launch.nodes if node.runs}
        joined += [len(groups)] if len(groups) > 1 else []
        names = [node.name for node in launch.nodes if node.runs or node.name in own]
        replayed.merge(names, start + len(recorded) + 1)
    return replayed, joined


def fusion_frames(
    schedule: Schedule,
    nodes: FxNodes,
    kernels: Kernels,
    drawn: Sequence[Launch] | None = None,
    parts: Sequence[NestedGraph] = (),
) -> tuple[FusionStep, ...]:
    """Return the frames: eager's calls, ops, scheduler nodes, each fusion, code generation, and launches.

    Each says what the step changed. `drawn` are the launches, if they are known. There is no frame of code generation
    if it joined no nodes, and none of eager's calls if they were not recorded. The fusions of nested graphs come last,
    and change no number. Nodes that run nothing do not count.
    """
    drawn = launches(schedule, nodes, kernels) if drawn is None else drawn
    fusions, left = len(steps(schedule)), sum(node.runs for node in schedule.before)
    launched = [launch.kernel for launch in drawn if launch.kernel]
    bare = len(drawn) - len(launched)
    hulls = f"{count(_distinct(launched, kernels), 'kernel')}; each hull is one launch"
    hulls += f", but {number(bare)} without a kernel" if bare else ""
    kernels_step = FusionStep(KERNELS_STEP, hulls, len(launched), "launch", schedule.bytes_after)
    ops = {name for launch in drawn for name in launch.members}
    ops_step = FusionStep("Ops", _ops_words(schedule, nodes, ops))
    if not schedule.has_steps:
        return ops_step, *_unknown_steps(schedule), kernels_step
    moved = [schedule.bytes_before, *(moved_bytes(schedule) or (None,) * fusions)]
    lowering = FusionStep("Scheduler nodes", _lowering_words(schedule, drawn, ops), left, moved=moved[0])
    frames = [*_eager_frame(schedule, ops), ops_step, lowering]
    graphs = [(schedule, nodes, drawn), *((part.schedule, part.nodes, part.launches) for part in parts)]
    texts = [text for graph in graphs for text in _fusion_texts(*graph)]
    for index, (title, detail) in enumerate(texts, 1):
        amount = moved[index] if index <= fusions else schedule.bytes_after
        less = f": {less_words(moved[index - 1], amount)}" if index <= fusions and amount is not None else ""
        title = f"Fusion {number(index)} of {number(len(texts))}, {title}"
        frames.append(FusionStep(title, detail + less, left - min(index, fusions), moved=amount))
    together = (*drawn, *(launch for part in parts for launch in part.launches))
    if joined := replay(with_parts(schedule, parts), together)[1]:
        inside = count(len(joined), "kernel function has", "kernel functions have")
        detail = f"{inside} the loops of {number(sum(joined))} nodes"
        frames.append(FusionStep("Code generation", detail, len(launched), "launch", schedule.bytes_after))
        return (*frames, kernels_step)
    same = "no node joined another since" if texts else "nothing was fused"
    return (*frames, replace(kernels_step, detail=f"{hulls}; {same}"))


def _ops_words(schedule: Schedule, nodes: FxNodes, ops: Collection[str]) -> str:
    """Return the number of ops, and the calls of eager that became several of them."""
    total = count(len(ops), "scheduler node" if set(ops).isdisjoint(nodes) else "op")
    views = "; views are on the edges" if any(op_class(node.target) == "view" for node in nodes.values()) else ""
    if not schedule.eager_calls:
        return f"{total} after decomposition{views}"
    sizes: dict[str, int] = {}
    for call in schedule.eager_calls:
        sizes[aten_name(call.op)] = max(sizes.get(aten_name(call.op), 0), sum(name in ops for name in call.nodes))
    several = [f"{name} into {number(size)}" for name, size in sizes.items() if size > 1]
    words = f"decomposed: {first_of(several, MOST_OPS_NAMED)}" if several else "as eager's calls: none was decomposed"
    return f"{total}; {words}{views}"


def _lowering_words(schedule: Schedule, drawn: Sequence[Launch], ops: Collection[str]) -> str:
    """Return how many loops and calls the ops became, and how many ops have no loop of their own."""
    running = [(launch, node) for launch in drawn for node in launch.nodes if node.runs]
    last = {name for launch, node in running for name in launch.ops_of(node)[-1:]}
    idle, several = len(schedule.before) - len(running), len(running) - len(last)
    loops = f"{count(len(ops), 'op')} in {count(len(running), 'loop or call', 'loops and calls')}"
    inner = len(ops) - len(last)
    inlined = f"{number(inner)} inlined by lowering" if inner else "one for each op"
    more = f", {number(several)} more for split ops" if several else ""
    return f"{loops}: {inlined}{more}" + (f"; {count(idle, 'idle node')} left out" if idle else "")


def less_words(before: int | None, after: int) -> str:
    """Return how many bytes less or more are moved after than before."""
    less = (before or 0) - after
    return f"{bytes_(abs(less))} {'less' if less > 0 else 'more'}" if less else "as many bytes"


def _later_loops(drawn: Iterable[Launch]) -> Iterator[tuple[str, str]]:
    """Yield each scheduler node that is a later loop of an op, and the node that is the op's first."""
    for launch in drawn:
        first = {node.name for node in launch.owner.values()}
        for node in launch.nodes:
            ops = launch.ops_of(node) if node.name not in first else []
            if ops:
                yield node.name, launch.owner[ops[-1]].name


def _fusion_texts(schedule: Schedule, nodes: FxNodes, drawn: Sequence[Launch]) -> Iterator[tuple[str, str]]:
    """Yield round and graph of each fusion, and its module and the ops that it fused."""
    order = {node.name: index for index, node in enumerate(schedule.before)}
    ops: dict[str, list[str]] = {}  # Of each node, those that it computes first, or the op that it is a loop of.
    loops: dict[str, list[str]] = {}
    for launch in drawn:
        for name, node in launch.owner.items():
            ops.setdefault(node.name, []).append(name)
        for node in launch.nodes:
            for last in launch.ops_of(node)[-1:] if node.runs else ():
                ops.setdefault(node.name, [last])
                loops.setdefault(last, []).append(node.name)
    graph = f" of {schedule.subgraph}" if schedule.subgraph else ""
    for step in steps(schedule):
        sides = [leaves(side, order) for side in (step.first, step.second)]
        names = [name for side in sides for node in side for name in ops.get(node, ())]
        paths = [module_path(nodes[name].module)[1:] for name in names if name in nodes]
        shared = [level[0] for level in takewhile(lambda level: len({*level}) == 1, zip(*paths, strict=False))]
        place = (
            f"module {shared[0]}" if len(shared) == 1 and shared[0].isdecimal() else ".".join(shared[-MOST_MODULES:])
        )
        words = " with ".join(_side_words(side, ops, loops, nodes) for side in sides)
        yield f"round {number(step.round)}{graph}", f"{place}: {words}" if place else words


def _side_words(
    side: Sequence[str], ops: Mapping[str, list[str]], loops: Mapping[str, list[str]], nodes: FxNodes
) -> str:
    """Return the ops of scheduler nodes, with the number of a loop: `var_mean (loop 1 of 3)`."""
    parts: dict[tuple[str, int], list[int]] = {}
    for name in side:
        for op in ops.get(name, ()):
            of = loops.get(op, [])
            has_several = len(of) > 1 and name in of
            label = aten_name(nodes[op].target) if op in nodes else op
            part = parts.setdefault((label, len(of) if has_several else 1), [])
            part += [of.index(name) + 1] if has_several else []
    words = [
        f"{op} ({agree(len(part), 'loop', 'loops')} {', '.join(map(number, part))} of {number(total)})"
        if total > 1
        else op
        for (op, total), part in parts.items()
    ]
    return first_of(words, MOST_OPS_NAMED) if words else "_".join(side)


def _unknown_steps(schedule: Schedule) -> Iterator[FusionStep]:
    """Yield the frames between ops and kernels of a schedule without steps."""
    known = schedule.is_recorded
    for title, nodes in ("Scheduler nodes", schedule.before), ("Fusions", schedule.after):
        units = sum(node.runs for node in nodes) if known else None
        yield FusionStep(title, NOT_ONE_BY_ONE if known else NOT_RECORDED, units, missing=True)


def _eager_frame(schedule: Schedule, ops: Collection[str]) -> Iterator[FusionStep]:
    if calls := schedule.eager_calls:
        outside = len(set(ops) - {name for call in calls for name in call.nodes})
        apart = f"; {count(outside, 'op')} in no call" if outside else ""
        moved = sum(call.bytes for call in calls)
        detail = f"each outline is one call of an ATen op; bytes are estimated{apart}"
        yield FusionStep(EAGER_STEP, detail, len(calls), "call", moved)

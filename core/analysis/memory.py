"""Memory: peaks of eager and compiled, Inductor's memory plan, values saved for the backward."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from core.analysis.film import NodesOf
from core.analysis.kernels.kernel import KernelNames, call_origins, schedule_of
from core.code.memory_plan import MemoryPlan, memory_plan
from core.report import (
    AliveMemory,
    Compilation,
    FxGraph,
    FxNode,
    KeptValue,
    Kernel,
    MemoryPlace,
    MemorySide,
    MemoryUse,
    Partition,
    Payload,
    Report,
    SavedValue,
    Schedule,
    Stage,
    tensor_size,
)
from core.report.nodes import Decision, Direction

Read = Callable[[Payload], str]
MOST_DIGITS = 18  #: digits of a symbol's value in a memory plan
SIDE_NAMES: tuple[MemorySide, MemorySide] = ("eager", "compiled")


@dataclass(frozen=True, slots=True)
class AliveRow:
    """A place's memory alive at the peak of a side; `what` is the place's display name.

    `kernel` and `compilation` are ids, empty if the place is no kernel call.
    """

    side: MemorySide
    what: str
    place: MemoryPlace
    tensors: int
    bytes: int
    kernel: str = ""
    compilation: str = ""


@dataclass(frozen=True, slots=True)
class GraphPlan:
    """Inductor's memory plan for one output code of a compilation.

    `kernels` and `names` (the display names of the kernels) are by call line.
    """

    direction: Direction
    graph: str
    plan: MemoryPlan
    kernels: Mapping[int, Kernel]
    names: Mapping[int, str]

    @property
    def title(self) -> str:
        """The direction, such as `backward`; the graph's id if the code has no direction."""
        return self.direction or self.graph


def memory_of(report: Report, side: MemorySide) -> MemoryUse | None:
    """Return the memory use of a side; None if it was not requested or not measurable."""
    return next((use for use in report.memory if use.side == side and not use.reason), None)


def memory_ratio(report: Report) -> float | None:
    """Return eager's peak over compiled's peak; None if a peak was not measured or is 0."""
    eager, compiled = (memory_of(report, side) for side in SIDE_NAMES)
    if eager is None or compiled is None or not eager.peak_bytes or not compiled.peak_bytes:
        return None
    return eager.peak_bytes / compiled.peak_bytes


def place_of_peak(use: MemoryUse) -> MemoryPlace | None:
    """Return the place of the allocation that reached the peak; None without allocations."""
    curve = use.curve
    places = (place for live, place in zip(curve.live_bytes, curve.places, strict=True) if live == use.peak_bytes)
    index = next(places, -1)
    return use.places[index] if index >= 0 else None


def kernel_at(report: Report, use: MemoryUse, place: MemoryPlace) -> tuple[Compilation, Kernel] | None:
    """Return the compilation and the kernel that a line of generated code calls; None for other lines."""
    offset = use.codes[place.code] if place.code is not None else None
    if offset is None:
        return None
    return next(
        (
            (compilation, kernel)
            for compilation in report.compilations
            for kernel in compilation.kernels
            if kernel.output_code.offset == offset and place.line in kernel.call_lines
        ),
        None,
    )


def alive_rows(report: Report) -> tuple[AliveRow, ...]:
    """Return the memory alive at the peak of each side: eager before compiled, each largest first."""
    uses = (use for side in SIDE_NAMES if (use := memory_of(report, side)))
    return tuple(_row(report, use, alive) for use in uses for alive in use.alive)


def _row(report: Report, use: MemoryUse, alive: AliveMemory) -> AliveRow:
    place = use.places[alive.place]
    call = kernel_at(report, use, place)
    compile_id, kernel_id = (call[0].id, call[1].id) if call else ("", "")
    return AliveRow(use.side, place_name(report, use, place), place, alive.tensors, alive.bytes, kernel_id, compile_id)


def graph_plans(compilation: Compilation, read: Read) -> tuple[GraphPlan, ...]:
    """Return the memory plan of each output code of a compilation, in log order."""
    codes: dict[int, list[Kernel]] = {}
    for kernel in compilation.kernels:
        codes.setdefault(kernel.output_code.offset, []).append(kernel)
    names = KernelNames.within(compilation)
    return tuple(_graph_plan(compilation, codes[offset], names, read) for offset in sorted(codes))


def _graph_plan(compilation: Compilation, kernels: list[Kernel], names: KernelNames, read: Read) -> GraphPlan:
    first = kernels[0]
    schedule = schedule_of(first, compilation)
    plan = memory_plan(
        read(first.output_code),
        {buffer.name: buffer for buffer in schedule.buffers if not buffer.input} if schedule else {},
        _saved(compilation) if first.direction == "backward" else {},
        _symbol_sizes(compilation),
    )
    by_line = {line: kernel for kernel in kernels for line in kernel.call_lines}
    return GraphPlan(first.direction, first.graph, plan, by_line, dict(_named_calls(kernels, schedule, names)))


def _named_calls(kernels: list[Kernel], schedule: Schedule | None, names: KernelNames) -> Iterator[tuple[int, str]]:
    """Yield each call line of the kernels with the display name of that call."""
    for kernel in kernels:
        for line, origins in zip(kernel.call_lines, call_origins(kernel, schedule), strict=False):
            yield line, names.named(kernel, origins, schedule)


def _saved(compilation: Compilation) -> dict[str, int | None]:
    """Return name in the backward → bytes, for the activations that the forward saves for the backward."""
    values = (value for partition in compilation.partitions for value in partition.kept or ())
    return {value.name: value.bytes for value in values if value.kind == "activation"}


def _symbol_sizes(compilation: Compilation) -> dict[str, int]:
    """Return symbol → size in this compilation, for symbols with a numeric size."""
    decimal = (
        symbol for symbol in compilation.symbols if symbol.value.isdecimal() and len(symbol.value) <= MOST_DIGITS
    )
    return {symbol.name: int(symbol.value) for symbol in decimal}


HALVES: tuple[Stage, Stage] = ("aot_forward_graph", "aot_backward_graph")


def partitions(compilation: Compilation, nodes_of: NodesOf) -> tuple[Partition, ...]:
    """Return the partition of each joint graph: recorded, otherwise derived.

    A partition is derived from the joint, forward and backward graphs. Recorded partitions of subgraphs are left
    out.
    """
    recorded = tuple(partition for partition in compilation.partitions if not partition.subgraph)
    if recorded:
        return recorded
    joint_partitions = []
    for index, joint in enumerate(compilation.graphs):
        if joint.stage == "aot_joint_graph":
            rest = compilation.graphs[index + 1 :]
            forward, backward = (_first(rest, stage) for stage in HALVES)
            if forward is not None and backward is not None:
                joint_partitions.append(derived(joint.id, nodes_of(joint), nodes_of(forward), nodes_of(backward)))
    return tuple(joint_partitions)


def _first(graphs: tuple[FxGraph, ...], stage: Stage) -> FxGraph | None:
    """Return the first graph of a stage before the next joint graph; None if there is none."""
    for graph in graphs:
        if graph.stage == "aot_joint_graph":
            return None
        if graph.stage == stage:
            return graph
    return None


def derived(
    graph: str, joint: tuple[FxNode, ...], forward: tuple[FxNode, ...], backward: tuple[FxNode, ...]
) -> Partition:
    """Derive the partition from the three graphs; nodes renamed by passes count as dropped and new."""
    forward_nodes = {node.name: node for node in forward if node.op != "output"}
    backward_nodes = {node.name: node for node in backward if node.op != "output"}
    names = dict.fromkeys([node.name for node in joint if node.op != "output"] + [*forward_nodes, *backward_nodes])
    decisions = {
        name: decision for name in names if (decision := _decision(name, forward_nodes, backward_nodes)) is not None
    }
    saved = tuple(_saved_values(forward_nodes[name]) for name, decision in decisions.items() if decision == "saved")
    dropped = tuple(name for name in names if name not in decisions)
    return Partition(graph, False, decisions, saved, {}, {}, dropped)


def _decision(name: str, forward: dict[str, FxNode], backward: dict[str, FxNode]) -> Decision | None:
    if name not in forward:
        return "backward" if name in backward else None
    if name not in backward:
        return "forward"
    return "saved" if backward[name].op == "placeholder" else "recomputed"


def _saved_values(node: FxNode) -> SavedValue:
    kind = "other" if node.meta is None else "input" if node.op == "placeholder" else "activation"
    return SavedValue(node.name, kind, tensor_bytes(node))


def tensor_bytes(node: FxNode) -> int | None:
    """Return a node's bytes: elements times item size; None for symbolic sizes and non-tensors."""
    return tensor_size(node.meta.dtype, node.meta.shape) if node.meta else None


def saved_values(partition: Partition) -> tuple[SavedValue, ...]:
    """Return the values saved for the backward, largest first; unknown sizes last."""
    return tuple(sorted(partition.saved, key=lambda value: (value.bytes is None, -(value.bytes or 0), value.name)))


def saved_bytes(values: Iterable[SavedValue | KeptValue], kind: str) -> int:
    """Return the bytes of all values of one kind (`activation`, `input`) with a known size."""
    return sum(value.bytes or 0 for value in values if value.kind == kind)


def place_name(report: Report, use: MemoryUse, place: MemoryPlace) -> str:
    """Return the display name of a place: `layers.0.mlp · aten::linear`, or the called kernel's name."""
    call = kernel_at(report, use, place)
    if call is None:
        return place_words(place)
    compilation, kernel = call
    return dict(_named_calls([kernel], schedule_of(kernel, compilation), KernelNames.within(compilation)))[place.line]


def place_words(place: MemoryPlace) -> str:
    """Return the module and the op of a place: `layers.0.mlp · aten::linear`."""
    return " · ".join(filter(None, [place.module, place.op])) or "outside of any op"

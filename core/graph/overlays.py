"""Overlays of a graph: values that color the nodes.

A missing value is None. Each table of node values that a backend reports becomes an overlay.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from core.analysis.backend import NodeValues, node_values
from core.analysis.kernels.kernel import time_s
from core.analysis.numerics import STANDINGS
from core.analysis.work import NO_SHARED_DATA, reasons_of_pairs, refused_pairs
from core.base.words import bytes_
from core.base.words import number as number_
from core.graph.launches import FxNodes, Kernels, less_words
from core.graph.model import Launch, Node, Overlay
from core.graph.modules import Trait
from core.ops.costs import CALLS, Cost, FxCosts, op_class
from core.report import FxNode, Kernel, Report, Schedule, SchedulerNode

ONE_BY_ONE = "From shapes and dtypes, without fusion; views move no bytes. Symbolic shapes are not counted."
ESTIMATED_TIME = "time by bytes and FLOPs"
ESTIMATED = "Estimated share of the total: the larger of bytes and FLOPs of each op, at 20 FLOPs per byte."
FROM_EAGER = "The largest difference from eager, where the node's value was compared: the model's output."
FROM_FLOAT64 = "Compiled's difference from float64, norm over norm, where the node's value was compared."
# Name of the overlay of the accelerator's segments.
SEGMENT = "segment"
DIVIDED = "From the graph that the backend partitioned. Torch runs nodes outside segments, for the reason shown."
COMPARED = "Compiled compared with eager and float64, with node values as graph outputs."
MOST_ANNOTATION_OVERLAYS = 8  #: tables of a backend that are painted onto a graph
# Unit at the end of a column's name → unit of the overlay, and the factor between them.
UNITS = {"µs": ("s", 1e-6), "us": ("s", 1e-6), "ms": ("s", 1e-3), "s": ("s", 1.0), "bytes": ("B", 1.0)}
NOTE = "The backend's annotation; the first, if a node has several."
Value = str | int | float | None


def category(name: str, title: str, texts: Sequence[str], note: str) -> Overlay:
    """Return an overlay of categories, numbered by first occurrence; an empty text counts as not recorded."""
    numbers: dict[str, int] = {}
    values = tuple(numbers.setdefault(text, len(numbers)) if text else None for text in texts)
    return Overlay(name, title, "category", "", values, "commonest", tuple(numbers), note)


def ranked(name: str, title: str, texts: Sequence[str], ranks: Sequence[str], note: str) -> Overlay:
    """Return an overlay of ordered categories; a folded group is painted with the greatest."""
    values = tuple(ranks.index(text) if text in ranks else None for text in texts)
    return Overlay(name, title, "category", "", values, "largest", tuple(ranks), note)


def number(name: str, title: str, unit: str, values: Sequence[float | None], note: str) -> Overlay:
    """Return an overlay of numbers."""
    return Overlay(name, title, "number", unit, tuple(values), "sum", note=note)


def weights(traits: Sequence[Trait]) -> tuple[list[float | None], bool]:
    """Return measured seconds and True if any were measured; otherwise estimated percentages and False."""
    if any(trait.seconds for trait in traits):
        return [trait.seconds for trait in traits], True
    estimates = [trait.cost.weight for trait in traits]
    total = sum(weight for weight in estimates if weight is not None)
    return [None if weight is None or not total else 100 * weight / total for weight in estimates], False


def standard_overlays(nodes: Sequence[Node], traits: Sequence[Trait], costs_note: str = ONE_BY_ONE) -> list[Overlay]:
    """Return the overlays that every graph has."""
    seconds, measured = weights(traits)
    time = (
        number("time", "time (measured)", "s", seconds, "Measured per kernel, split over its ops by their estimates.")
        if measured
        else number("time", ESTIMATED_TIME, "%", seconds, ESTIMATED)
    )
    return [
        category("kernel", "kernel", [node.kernel for node in nodes], "Known on the graph that Inductor lowered."),
        category("module", "module class", [trait.module_class for trait in traits], "Where torch recorded a module."),
        category("op_class", "class of op", [node.op_class for node in nodes], ""),
        category(
            "dtype", "dtype", [trait.dtype for trait in traits], "A node with several values has none of its own."
        ),
        number("bytes", "bytes read and written", "B", [trait.cost.bytes for trait in traits], costs_note),
        number(
            "flops",
            "FLOPs",
            "FLOP",
            [trait.cost.flops for trait in traits],
            "Matrix products, convolutions and attention, as torch.utils.flop_counter counts them; other ops count "
            "none.",
        ),
        time,
        category("shapes", "dynamic shapes", [trait.shapes for trait in traits], "Where torch recorded a shape."),
    ]


def launch_costs(schedule: Schedule, drawn: Sequence[Launch]) -> list[Cost]:
    """Return bytes and FLOPs of each launch, as the scheduler counts them after fusion."""
    fused = {name: node for node in schedule.after for name in node.nodes}
    costs = []
    for launch in drawn:
        nodes = {after.name: after for node in launch.nodes for after in (fused.get(node.name, node),)}.values()
        flops = [node.flops for node in nodes if node.flops is not None]
        moved = sum(node.bytes_accessed for node in nodes) if schedule.one_count else None
        costs.append(Cost(moved, sum(flops) if flops else None))
    return costs


def op_shares(drawn: Sequence[Launch], nodes: Mapping[str, FxNode]) -> list[dict[str, float]]:
    """Return each op's part of its launch, in proportion to the estimated times of the ops by themselves."""
    costs = FxCosts(dict(nodes))
    shares = []
    for launch in drawn:
        known = {name: nodes[name] for name in launch.members if name in nodes}
        weights = {name: costs.cost(known[name]).weight or 0.0 if name in known else 0.0 for name in launch.members}
        total = sum(weights.values())
        shares.append({name: weight / total if total else 1 / len(weights) for name, weight in weights.items()})
    return shares


def ops_without_launch(schedule: Schedule, nodes: FxNodes) -> tuple[str, ...]:
    """Return the computing FX nodes, by name, that no scheduler node computes, such as constants."""
    computed = {name for node in schedule.before for name in node.origins}
    calls = (node for node in nodes.values() if node.op in CALLS and op_class(node.target) != "view")
    return tuple(node.name for node in calls if node.name not in computed)


def saved_bytes(schedule: Schedule, drawn: Sequence[Launch]) -> list[int | None]:
    """Return the memory traffic that fusing each launch's nodes saved: the bytes before minus after.

    None if the counts are not comparable. Over all launches of a graph, the sum is the graph's saving.
    """
    if not schedule.one_count:
        return [None] * len(drawn)
    place = {node.name: index for index, launch in enumerate(drawn) for node in launch.nodes}
    saved = [0] * len(drawn)
    covered: set[str] = set()
    for node in schedule.after:
        at = {place.get(name) for name in node.nodes}
        launch = at.pop() if len(at) == 1 else None
        if launch is not None:
            saved[launch] -= node.bytes_accessed
            covered.update(node.nodes)
    for launch, members in enumerate(drawn):
        saved[launch] += sum(node.bytes_accessed for node in members.nodes if node.name in covered)
    return list(saved)


def eager_bytes(schedule: Schedule, home: Mapping[str, int], launches: int) -> list[int | None]:
    """Return the bytes of the calls of eager that each launch computes; `home` has the launch of each op.

    None for a launch that computes no call, or only a part of one.
    """
    moved: list[int | None] = [None] * launches
    parts = set[int]()
    for call in schedule.eager_calls:
        at = {home[name] for name in call.nodes if name in home}
        parts |= at if len(at) > 1 else set()
        for place in at:
            moved[place] = (moved[place] or 0) + call.bytes
    return [None if place in parts else amount for place, amount in enumerate(moved)]


def saving_facts(launch: Launch, saved: int | None, moved: int | None, eager: int | None) -> Iterator[tuple[str, str]]:
    """Yield what fusing the nodes of a generated launch saved, and what it saves against eager's calls.

    `saved` is the scheduler's figure, `moved` and `eager` are the bytes of the launch and of its calls in eager.
    """
    nodes, ops = sum(node.runs for node in launch.nodes), len(launch.members)
    if saved is not None and nodes > 1:
        words = f"{bytes_(abs(saved))}{'' if saved >= 0 else ' more moved'}" if saved else "no bytes"
        yield "fusion saved", f"{words}: {number_(nodes)} scheduler nodes in one kernel"
    elif saved is not None:
        inlined = f"lowering made one scheduler node of its {number_(ops)} ops" if ops > 1 else "one op"
        yield "fusion saved", f"nothing: {inlined}"
    if eager is not None and moved is not None:
        words = less_words(eager, moved)
        yield "against eager", f"about {words}: {bytes_(eager)} by its calls, {bytes_(moved)} here"


def refused_launches(schedule: Schedule, drawn: Sequence[Launch]) -> dict[tuple[int, int], tuple[int, str]]:
    """Return pair of launches → shared bytes, and torch's reason for not fusing their parts."""
    nodes = {node.name: node for node in schedule.after}
    place = {node.name: index for index, launch in enumerate(drawn) for node in launch.nodes}
    reasons = reasons_of_pairs(schedule)
    refused: dict[tuple[int, int], tuple[int, str]] = {}
    for (first, second), size in refused_pairs(schedule).items():
        both = {place[name] for node in (first, second) for name in nodes[node].nodes if name in place}
        reason = reasons.get(frozenset((first, second)))
        if len(both) != 2:
            # One launch, or a damaged log.
            continue
        left, right = sorted(both)
        if reason is not None:
            known = refused.get((left, right), (0, NO_SHARED_DATA)), (size, reason)
            refused[left, right] = max(known, key=lambda each: (not each[1].startswith(NO_SHARED_DATA), each[0]))
    return refused


def launch_seconds(
    parts: Sequence[Sequence[SchedulerNode]], kernels: Kernels, seconds: Mapping[str, float]
) -> list[float | None]:
    """Return the measured seconds of each launch, by its scheduler nodes.

    `seconds` has the total of all launches of a kernel, by kernel id. A launch gets its own time if each launch was
    timed, otherwise an equal share.
    """
    places: dict[str, list[int]] = {}
    for place, nodes in enumerate(parts):
        places.setdefault(nodes[0].kernel, []).append(place)
    times: list[float | None] = [None] * len(parts)
    for kernel, of_kernel in places.items():
        if kernel in seconds:
            for place, share in zip(of_kernel, _shares(kernels.get(kernel), len(of_kernel)), strict=True):
                times[place] = seconds[kernel] * share
    return times


def run_order(drawn: Sequence[Launch], kernels: Kernels) -> dict[int, int]:
    """Return each launch's number in the order of the wrapper's calls, or in schedule order if unknown."""
    lines = {kernel: iter(kernels[kernel].call_lines) for kernel in {each.kernel for each in drawn} & kernels.keys()}
    known = [(next(lines[each.kernel], 0), place) for place, each in enumerate(drawn) if each.kernel in lines]
    order = sorted(known) if all(line for line, _ in known) else known
    return {place: at for at, (_, place) in enumerate(order, 1)}


def _shares(kernel: Kernel | None, times: int) -> list[float]:
    """Return each launch's share of the time of all launches."""
    timed = [(call.time.calls, time_s(call.time)) for call in kernel.calls if call.time] if kernel is not None else []
    spent = [calls * seconds for calls, seconds in timed if seconds is not None]
    if len(spent) != times or not sum(spent):
        return [1 / times] * times
    return [seconds / sum(spent) for seconds in spent]


def named_overlays(
    names: Sequence[str],
    partition: Mapping[str, str] | None,
    errors: Mapping[str, float] | None,
    standings: Mapping[str, str] | None = None,
    segments: Mapping[str, str] | None = None,
) -> list[Overlay]:
    """Return overlays of values by FX node; an argument of None adds no overlay.

    The values are AOTAutograd's partition decisions, numerical errors, accuracy classes from the comparison with
    float64, and accelerator segments.
    """
    overlays = []
    if partition is not None:
        texts = [partition.get(name, "") for name in names]
        overlays.append(
            category("partition", "partition decision", texts, "The partitioner decides on the joint graph.")
        )
    if errors is not None:
        values = tuple(errors.get(name) for name in names)
        note = FROM_EAGER if standings is None else FROM_FLOAT64
        overlays.append(Overlay("error", "numerics error", "number", "", values, "largest", note=note))
    if standings is not None:
        texts = [standings.get(name, "") for name in names]
        overlays.append(ranked("numerics", "right by float64", texts, STANDINGS, COMPARED))
    if segments is not None:
        texts = [segments.get(name, "") for name in names]
        overlays.append(category(SEGMENT, "segment", texts, DIVIDED))
    return overlays


def annotation_overlays(
    report: Report, compilation: str, nodes: Sequence[Node], names: Iterable[str]
) -> Iterator[Overlay]:
    """Yield an overlay for each reported table of a graph with these nodes."""
    for number, table in enumerate(annotations_of(report, compilation, set(names))[:MOST_ANNOTATION_OVERLAYS]):
        yield _overlay(annotation_name(number), table, nodes)


def annotation_name(number: int) -> str:
    """Return the overlay name of a graph's reported table."""
    return f"told-{number}"


def annotations_of(report: Report, compilation: str, names: Collection[str]) -> tuple[NodeValues, ...]:
    """Return the reported values of a graph: tables whose nodes are all in the graph."""
    tables = node_values(report, compilation)
    return tuple(table for table in tables if table.values and set(table.values).issubset(names))


def _overlay(name: str, table: NodeValues, nodes: Sequence[Node]) -> Overlay:
    title = f"{table.title}: {table.column}" if table.title else table.column
    values = [table.values.get(node.id.removeprefix("n:")) for node in nodes]
    if all(value is None or _is_number(value) for value in table.values.values()):
        return _numbers(name, title, table.column, values)
    return category(name, title, ["" if value is None else str(value) for value in values], NOTE)


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _numbers(name: str, title: str, column: str, values: Sequence[Value]) -> Overlay:
    unit, factor = UNITS.get(column.strip("()").rpartition(" ")[2].strip("("), ("", 1.0))
    painted = tuple(value * factor if isinstance(value, (int, float)) else None for value in values)
    return Overlay(name, title, "number", unit, painted, "sum", note=NOTE)

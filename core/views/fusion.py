"""Fusion of one scheduled graph: drawings, steps, and pairs that are not fused."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from core.analysis.dynamo.compilations import scope_words
from core.analysis.kernels.kernel import kernel_names, kernel_seconds
from core.analysis.kernels.ledger import fusion_schedules
from core.analysis.work import (
    NO_SHARED_DATA,
    UNTRIED,
    Traffic,
    distinct_kernels,
    nodes_between,
    reasons_of_pairs,
    refusal_reasons,
    refused_pair,
    refused_pairs,
    rejections,
    steps,
    traffic_within,
    working_ops,
)
from core.base import words as fmt
from core.graph.fusion import fusion_model
from core.graph.fx import source_path
from core.graph.launches import (
    EAGER_STEP,
    KERNELS_STEP,
    FxNodes,
    NestedGraph,
    fusion_frames,
    launch_words,
    launches,
)
from core.graph.model import Launch, launch_title
from core.graph.overlays import ops_without_launch
from core.graph.placing import nested_parts
from core.report import Compilation, FxGraph, FxNode, Kernel, Payload, Report, Schedule, SchedulerNode
from core.views.blocks import Column, Table
from core.views.glossary import GLOSSARY, INTERMEDIATE, REFUSALS
from core.views.graph import GraphFrame, GraphView
from core.views.markdown import LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from core.views.speedup import call_times
from core.views.verdict import UNEVEN, change_words, counted_words, traffic_words

__all__ = ["FusionView", "fusion_schedules"]

SCHEDULER_NAME = re.compile(r"\bop\d+\b")
KERNEL = re.compile(r"^.* \(kernel (.*)\)$")  # The title of a launch with the number of its kernel.
MOST_WORDS = 4  #: ops that name a scheduler node
# What the scheduler's traffic leaves out, and the signs of the drawing.
INLINED = "what lowering inlined before is not counted."
SIGNS = (
    "Edges are as wide as their bytes; dashed ones are not in the scheduler's traffic. Two bars across an edge: torch "
    "refused to fuse. A dashed hull is a library call, or has no kernel. A hull's number is that of its kernel."
)
OUTSIDE = "outside kernels: guards, the wrapper, gaps between launches"
MOST_REMOVED = 8  #: removed ops that are named
MOST_TITLE_CHARS = 140  #: characters of the title of a node after fusion
MOST_BETWEEN = 4  #: launches that are named between two others


@dataclass(frozen=True, slots=True)
class FusionRefusal:
    """Reasons why two nodes were not fused, with the user's ops after the scheduler's names.

    `because` is the reason if the kinds of the two nodes rule out fusion, otherwise empty. `recorded` are torch's
    reasons, each with its first round. `shared` is a sentence about the buffers that both nodes access, and `between`
    names the launches between them.
    """

    because: str
    recorded: tuple[tuple[int, str], ...]
    shared: str
    between: str = ""

    @property
    def lines(self) -> list[str]:
        """The reasons as Markdown, one a line: what they mean, and torch's words."""
        because = [plain(self.because, LONGEST_TEXT)] if self.because else []
        meant = (text for _, reason in self.recorded for begin, text in REFUSALS.items() if reason.startswith(begin))
        between = [f"Between them: {plain(self.between, LONGEST_TEXT)}."] if self.between else []
        rounds = [f"Torch's words in round {number}: {code(text, LONGEST_TEXT)}" for number, text in self.recorded]
        lines = [*because, *dict.fromkeys(meant), *between, *rounds]
        return lines or ["The scheduler recorded no reason for this pair."]


@dataclass(frozen=True, slots=True)
class RefusedPair:
    """Two refused nodes after fusion, by name, the bytes that both access, and torch's reason."""

    names: tuple[str, str]
    size: int
    reason: str

    @property
    def saves(self) -> bool:
        """True if fusing the two could save bytes, by torch's count."""
        return not self.reason.startswith(NO_SHARED_DATA)


@dataclass(frozen=True)
class FusionView:
    """The fusion of one scheduled graph: ops, scheduler nodes, and kernel launches.

    `nodes_of` reads the FX nodes of a graph.
    """

    not_recorded: ClassVar[str] = (
        "Only the backend `inductor` fuses ops into kernels. In a log from elsewhere, torch names the ops of each "
        "Triton kernel, and of the others if `torch._inductor.config.trace.provenance_tracking_level` is 1 or higher."
    )
    from_provenance: ClassVar[str] = (
        "Ops and kernels are from torch's log, which names the FX nodes of its kernels. It has no scheduler nodes, "
        "fusions and refusals."
    )
    from_debug_files: ClassVar[str] = "A debug directory has no fusions, no refusals, and no ops of a scheduler node."
    failed: ClassVar[str] = "This compilation failed before Inductor's scheduler. *Overview* shows the error."
    no_kernel_picked: ClassVar[str] = "Click a kernel to see its source and your lines. Double-click opens its page."
    one_node: ClassVar[str] = "There is only one node, so nothing to fuse."
    question: ClassVar[str] = "Why were these two not fused?"
    refusals_title: ClassVar[str] = "All pairs that torch refused"
    short_columns: ClassVar[tuple[str, ...]] = ("at stake", "kernels", "reason")
    same_nodes: ClassVar[str] = "Choose two different nodes."
    no_ir_picked: ClassVar[str] = "Click an op for its IR before fusion, a kernel for its IR after it."
    no_ir: ClassVar[str] = "Inductor's IR was not recorded for it: torch prints it as a debug file."

    report: Report
    compilation: Compilation
    schedule: Schedule
    nodes_of: Callable[[FxGraph], tuple[FxNode, ...]]

    @classmethod
    def why_none(cls, compilation: Compilation | None) -> str:
        """Return why a compilation has no scheduler nodes."""
        return cls.failed if compilation is not None and compilation.status == "failed" else cls.not_recorded

    @property
    def is_recorded(self) -> bool:
        """True if the scheduler's steps were recorded, as in Compileboard's own runs."""
        return self.schedule.has_steps

    @property
    def name(self) -> str:
        """Name of the graph among the compilation's scheduled graphs."""
        return schedule_name(self.schedule)

    @property
    def graph(self) -> FxGraph | None:
        """The graph that has the schedule's FX nodes; None if it was not recorded."""
        return self.compilation.lowered(self.schedule.direction)

    @property
    def graph_id(self) -> str:
        """Id of that graph; empty if it was not recorded."""
        return self.graph.id if self.graph is not None else ""

    @property
    def title(self) -> str:
        """Counts of ops, launches and kernels, and the memory traffic that fusion saves, if it is comparable."""
        traffic = traffic_within(self.schedule)
        after = launch_words(self._launches, self._kernels)
        inner = sum(bool(launch.kernel) for part in self._parts for launch in part.launches)
        after += f", {fmt.number(inner)} more in nested graphs" if inner else ""
        saved = f": fusion {_saved_words(change_words(traffic))}" if traffic else ""
        return f"{scope_words(self.report, self.compilation)}{self._ops_words} → {after}{saved}."

    @property
    def help(self) -> str:
        """Meaning of fusion, the numbers of fusions and rounds, and the rule that counts traffic."""
        fusions, rounds = fmt.count(len(steps(self.schedule)), "fusion"), fmt.count(len(self.schedule.rounds), "round")
        if not self.is_recorded:
            source = self.from_debug_files if self.schedule.is_recorded else self.from_provenance
            return f"{GLOSSARY['fusion']} {source} {SIGNS}"
        traffic = traffic_within(self.schedule)
        counted = counted_words(traffic) if traffic else UNEVEN
        removed = ops_without_launch(self.schedule, self._nodes) if not self.schedule.subgraph else ()
        names = fmt.first_of([*map(code, removed)], MOST_REMOVED)
        gone = f" {fmt.count(len(removed), 'op')} without a launch: {names}." if removed else ""
        moved = f" {traffic_words(traffic)}, by fusing scheduler nodes; {INLINED}{self._eager_words}" if traffic else ""
        idle = sum(not node.runs for node in self.schedule.before)
        nodes = fmt.count(len(self.schedule.before) - idle, "scheduler node")
        nodes += f" ({fmt.number(idle)} more without code)" if idle else ""
        tried = f"{nodes}, {fusions}; the scheduler tried {rounds}.{self._all_graphs_words}"
        return f"{GLOSSARY['fusion']} {tried}{moved} {counted}{gone}{self._time_words} {SIGNS}"

    @property
    def _all_graphs_words(self) -> str:
        """Launches and kernels of all graphs, as the menu counts kernels; empty for one graph."""
        if len(fusion_schedules(self.compilation)) < 2:
            return ""
        kernels = self.compilation.kernels
        launched = fmt.count(sum(len(kernel.calls) for kernel in kernels), "launch", "launches")
        distinct = fmt.count(distinct_kernels(kernels), "kernel")
        return f" All graphs of the compilation together: {launched} of {distinct}."

    @property
    def _eager_words(self) -> str:
        """Traffic of the launches compared with the estimate for eager's calls; empty if not recorded."""
        calls, after = self.schedule.eager_calls, self.schedule.bytes_after
        moved = sum(call.bytes for call in calls)
        if not moved or after is None:
            return ""
        change = change_words(Traffic(moved, after, at_most=False)) or "as much"
        of_eager = f"{fmt.count(len(calls), 'call')} of ATen ops, about {fmt.bytes_(moved)}"
        return f" Compared with eager instead ({of_eager}), the launches move about {change}: {fmt.bytes_(after)}."

    @property
    def _time_words(self) -> str:
        """Sum of the launches' times beside the time of a call; empty if either was not measured."""
        if KERNELS_STEP not in self._call_seconds or not self._seconds:
            return ""
        inside, call = fmt.duration_s(sum(self._seconds.values())), self._call_seconds[KERNELS_STEP][1]
        outside = f", {fmt.duration_s(self._outside_s)} of it {OUTSIDE}" if self._outside_s else ""
        return f" Launches are timed one by one, {inside} together; a call takes {call}{outside}."

    @property
    def _outside_s(self) -> float:
        """Seconds of a compiled call outside its launches; 0 if unknown, or if launches take longer."""
        call_s, _ = self._call_seconds.get(KERNELS_STEP, (0.0, ""))
        return max(0.0, call_s - sum(self._seconds.values())) if self._seconds else 0.0

    @cached_property
    def picture(self) -> GraphView:
        """Ops in the hulls of their launches; a film from the ops over each fusion to the launches."""
        source, kernels = source_path(self.report), self._kernels
        schedule, nodes, drawn, parts = self._drawn, self._nodes, self._launches, self._parts
        model = fusion_model(schedule, nodes, kernels, source=source, seconds=self._seconds, drawn=drawn, parts=parts)
        inner = {name for part in parts for launch in part.launches for name in launch.members}
        copies = len(model.nodes) - self._ops_drawn - len(inner)
        again = f", {fmt.count(copies, 'copy', 'copies')} (computed again, laid out or filled)" if copies else ""
        nested = f", {fmt.number(len(inner))} in graphs that they call" if inner else ""
        caption = f"{self._ops_words}{nested}{again}"
        names = kernel_names(self.compilation, {launch.kernel for launch in self._all_launches})
        return GraphView(model, names, tuple(self._frames()), caption)

    @property
    def _ops_words(self) -> str:
        """The number of ops; of the scheduler's nodes if no op of them is known."""
        known = any(name in self._nodes for launch in self._launches for name in launch.members)
        return fmt.count(self._ops_drawn, "op" if known else "scheduler node")

    @cached_property
    def _ops_drawn(self) -> int:
        """Number of distinct ops in the launches."""
        return len({name for launch in self._launches for name in launch.members})

    def _frames(self) -> Iterator[GraphFrame]:
        """Yield the frames of the film, each with its amounts."""
        frames = fusion_frames(self._drawn, self._nodes, self._kernels, self._launches, self._parts)
        most_units = max((step.units or 0 for step in frames), default=0)
        most_moved = max((step.moved or 0 for step in frames), default=0)
        times = self._call_seconds
        for step in frames:
            amounts = []
            if step.units is not None:
                plural = "launches" if step.unit == "launch" else f"{step.unit}s"
                amounts.append(("count", fmt.count(step.units, step.unit, plural), step.units / (most_units or 1)))
            if step.moved is not None:
                about = "about " if step.title == EAGER_STEP else ""
                amounts.append(("traffic", f"{about}{fmt.bytes_(step.moved)} moved", step.moved / (most_moved or 1)))
            if step.title in times:
                seconds, text = times[step.title]
                amounts.append(("time of a call", f"{text} a call", seconds / max(times.values())[0]))
            if step.title == KERNELS_STEP and self._outside_s:
                text = f"{fmt.duration_s(self._outside_s)} outside kernels"
                amounts.append((f"of the call {OUTSIDE}", text, self._outside_s / max(times.values())[0]))
            yield GraphFrame(step.title, step.detail, amounts=tuple(amounts), missing=step.missing)

    @cached_property
    def _call_seconds(self) -> dict[str, tuple[float, str]]:
        """Seconds of an eager and a compiled call, with text, by frame; empty if a call has more graphs."""
        alone = len(self.report.compilations) == len(fusion_schedules(self.compilation)) == 1
        times = call_times(self.report) if alone else {}
        steps = {"eager": EAGER_STEP, "compiled": KERNELS_STEP}
        return {step: times[side] for side, step in steps.items() if side in times}

    @cached_property
    def node_titles(self) -> dict[str, str]:
        """Titles of the nodes after fusion, by name: ops, kernel, and the scheduler's name."""
        return {node.name: self._node_title(node) for node in self.schedule.after}

    @property
    def pair(self) -> tuple[str, str]:
        """The two nodes after fusion that are selected by default: a refused pair, or the first two nodes."""
        first, second, *_ = self.node_titles
        return refused_pair(self.schedule) or (first, second)

    def chosen_pair(self, first: str | None, second: str | None) -> tuple[str, ...]:
        """Return two chosen nodes, by default those of `pair`; none if there is only one node."""
        titles = self.node_titles
        chosen = zip((first, second), self.pair, strict=True) if len(titles) > 1 else ()
        return tuple(name if name in titles else preset for name, preset in chosen)

    @cached_property
    def refusals(self) -> Table[RefusedPair]:
        """The pairs of launches that torch refused to fuse; first those whose fusion would save most."""
        reasons = reasons_of_pairs(self.schedule)
        pairs = {frozenset(names): (names, size) for names, size in refused_pairs(self.schedule).items()}
        rows = [RefusedPair(*pairs[key], reason) for key, reason in reasons.items() if key in pairs]
        nodes = {node.name: node for node in self.schedule.after}
        titles = {row.names: [self._launch_words(nodes[name]) for name in row.names] for row in rows}
        columns: tuple[Column[RefusedPair], ...] = (
            Column("at stake", lambda row: row.size * row.saves, fmt.bytes_, width=66),
            Column("kernels", lambda row: " with ".join(KERNEL.sub(r"K\1", title) for title in titles[row.names])),
            Column("reason", lambda row: next(filter(row.reason.startswith, REFUSALS), row.reason)),
            Column("two launches", lambda row: " with ".join(titles[row.names])),
            Column("torch's words", lambda row: row.reason),
        )
        return Table("refusals", columns, sorted(rows, key=lambda row: (not row.saves, -row.size)))

    @property
    def refusal_counts(self) -> str:
        """Torch's reasons, each with its number of refusals in all rounds; a sentence if there is none."""
        counts = [f"{fmt.number(times)} × {plain(reason)}" for reason, times in rejections(self.schedule).items()]
        return f"Refusals of all rounds: {', '.join(counts)}." if counts else "The scheduler refused no pair of nodes."

    def refusal(self, left: str, right: str) -> FusionRefusal | None:
        """Return why two nodes after fusion, by name, were not fused; None if both are the same node."""
        if left == right:
            return None
        nodes = {node.name: node for node in self.schedule.after}
        is_one = self.hulls(left) == self.hulls(right)
        reasons = refusal_reasons(self.schedule, nodes[left], nodes[right], is_one)
        recorded = tuple((number, self._with_ops(reason)) for number, reason in reasons.recorded)
        begins = [begin for _, reason in recorded for begin in REFUSALS if reason.startswith(begin)]
        shared = _shared_words(reasons.shared, bool(reasons.because), NO_SHARED_DATA in begins)
        is_apart = INTERMEDIATE in begins or reasons.because == UNTRIED
        between = nodes_between(self.schedule, nodes[left], nodes[right]) if is_apart else ()
        apart = (node for node in between if not {*self.hulls(node.name)} & {*self.hulls(left, right)})
        names = fmt.first_of([*dict.fromkeys(map(self._launch_words, apart))], MOST_BETWEEN)
        return FusionRefusal(self._with_ops(reasons.because), recorded, shared, names)

    def hulls(self, *names: str) -> tuple[str, ...]:
        """Return the ids of the launches of these nodes after fusion."""
        chosen = {part for node in self.schedule.after if node.name in names for part in node.nodes}
        return tuple(launch.id for launch in self._all_launches if any(node.name in chosen for node in launch.nodes))

    def tie(self, *names: str) -> str:
        """Return the words on the line between two refused nodes after fusion: the bytes at stake."""
        row = next((row for row in self.refusals.rows if set(row.names) == set(names)), None)
        at_stake = f"{fmt.bytes_(row.size)} at stake" if row is not None and row.saves else "none that saves bytes"
        return f"not fused: {at_stake}" if row is not None and row.size else "not fused"

    def kernel(self, item_id: str | None) -> Kernel | None:
        """Return the kernel of a hull, an op or a kernel by its id; None if it has no kernel."""
        kind, _, name = (item_id or "").partition(":")
        if kind == "k":
            return self._kernels.get(name)
        nodes = self._scheduled(kind, name)
        return self._kernels.get(nodes[0].kernel) if nodes else None

    def _scheduled(self, kind: str, name: str) -> tuple[SchedulerNode, ...]:
        """Return the scheduler nodes of a kernel, a hull, a scheduler node or an op."""
        drawn = self._all_launches
        if kind in ("k", "s"):
            nodes = (node for launch in drawn for node in launch.nodes)
            return tuple(node for node in nodes if name == (node.kernel if kind == "k" else node.name))
        if kind == "g":
            return next((launch.nodes for launch in drawn if launch.id == f"g:{name}"), ())
        op, _, place = name.partition("@")
        owners = {number: launch.owner[op] for number, launch in enumerate(drawn) if op in launch.owner}
        chosen = owners.get(int(place)) if place.isdecimal() else None
        return (chosen,) if chosen else tuple(owners.values())[:1]

    def ir(self, item_id: str | None, read: Callable[[Payload], str]) -> str:
        """Return Inductor's IR of a drawn op or launch, with its loop body; empty if it was not recorded.

        The IR of an op is from before fusion, the IR of a launch from after fusion. `read` returns a payload of the
        log as text.
        """
        kind, _, name = (item_id or "").partition(":")
        is_launch = kind in ("k", "g")
        before = {node.name for node in self._scheduled(kind, name)}
        nodes = {node.name for node in self.schedule.after if before & set(node.nodes)} if is_launch else before
        text = self._debug_file("ir_post_fusion.txt" if is_launch else "ir_pre_fusion.txt", read)
        blocks = (block.strip("\n") for block in text.split("\n\n\n"))
        return "\n\n".join(block for block in blocks if block.partition(":")[0] in nodes)

    def _debug_file(self, name: str, read: Callable[[Payload], str]) -> str:
        """Return a debug file of this schedule's graph; empty if it was not recorded."""
        whole = [schedule for schedule in self.compilation.schedules if not schedule.subgraph]
        if self.schedule not in whole:
            return ""
        file = self.report.debug_file(self.compilation.id, whole.index(self.schedule), name)
        return read(file) if file is not None else ""

    @cached_property
    def _launches(self) -> tuple[Launch, ...]:
        return launches(self._drawn, self._nodes, self._kernels)

    @cached_property
    def _all_launches(self) -> tuple[Launch, ...]:
        return (*self._launches, *(launch for part in self._parts for launch in part.launches))

    @cached_property
    def _all_parts(self) -> tuple[NestedGraph, ...]:
        """The nested graphs that the whole graph calls."""
        same = [each for each in self.compilation.schedules if each.direction == self.schedule.direction]
        outer = (
            self.schedule if not self.schedule.subgraph else next((each for each in same if not each.subgraph), None)
        )
        return () if outer is None else nested_parts(outer, self._outer_nodes, same, self._kernels)

    @cached_property
    def _own_part(self) -> NestedGraph | None:
        """The nested graph of the schedule; None for a whole graph, or if its call was not recorded."""
        return next((part for part in self._all_parts if part.schedule.subgraph == self.schedule.subgraph), None)

    @cached_property
    def _parts(self) -> tuple[NestedGraph, ...]:
        """The nested graphs that the schedule's graph calls."""
        own = self._own_part
        if own is None:
            return () if self.schedule.subgraph else self._all_parts
        return tuple(part for part in self._all_parts if part.path.startswith(own.path) and part is not own)

    @cached_property
    def _kernels(self) -> dict[str, Kernel]:
        return {kernel.id: kernel for kernel in self.compilation.kernels}

    @cached_property
    def _seconds(self) -> Mapping[str, float]:
        return kernel_seconds(self.report, self.compilation)

    @property
    def _drawn(self) -> Schedule:
        """The schedule, for a nested graph without the outer graph's nodes, which torch names in it."""
        if not self.schedule.subgraph:
            return self.schedule
        if self._own_part is not None:
            return self._own_part.schedule
        outer = self._outer_nodes
        own = (
            replace(node, origins=tuple(name for name in node.origins if name not in outer))
            for node in self.schedule.before
        )
        return replace(self.schedule, before=tuple(own))

    @property
    def _nodes(self) -> FxNodes:
        """FX nodes of the drawn graph; none if those of a nested graph were not recorded."""
        if not self.schedule.subgraph:
            return self._outer_nodes
        return self._own_part.nodes if self._own_part is not None else {}

    @cached_property
    def _outer_nodes(self) -> dict[str, FxNode]:
        """FX nodes of the lowered graph by name; empty if no lowered graph was recorded."""
        graphs = self.compilation.lowered_graphs
        lowered = self.compilation.lowered(self.schedule.direction) or next(iter(graphs), None)
        return {node.name: node for node in self.nodes_of(lowered)} if lowered else {}

    @cached_property
    def _ops(self) -> dict[str, str]:
        """First few user ops of each node before fusion."""
        ops = working_ops(self.schedule, self._nodes)
        return {name: ", ".join(names[:MOST_WORDS]) for name, names in ops.items()}

    def _node_title(self, node: SchedulerNode) -> str:
        ops = ", ".join(dict.fromkeys(text for name in node.nodes if (text := self._ops.get(name))))
        name = node.name if len(node.nodes) < 2 else f"{node.nodes[0]} and {fmt.number(len(node.nodes) - 1)} more"
        return " · ".join(filter(None, (self._launch_words(node), name, ops)))[:MOST_TITLE_CHARS]

    def _launch_words(self, node: SchedulerNode) -> str:
        """Return the name and the kernel's number of a node's launch in the drawing; its kind if it has none."""
        return next((self._hull_words[part] for part in node.nodes if part in self._hull_words), node.kind)

    @cached_property
    def _hull_words(self) -> dict[str, str]:
        """Name of the hull of each node before fusion, with its module and the number of its kernel."""
        words = {group.id: launch_title(group.name, group.badge) for group in self.picture.model.groups}
        return {node.name: words[launch.id] for launch in self._launches for node in launch.nodes if launch.id in words}

    def _with_ops(self, reason: str) -> str:
        """Return a reason with the user's ops in parentheses after each name of a scheduler node."""

        def annotated(match: re.Match[str]) -> str:
            ops = self._ops.get(match.group())
            return f"{match.group()} ({ops})" if ops else match.group()

        return SCHEDULER_NAME.sub(annotated, reason)


def schedule_name(schedule: Schedule) -> str:
    """Return the name of a scheduled graph among those of its compilation."""
    direction = schedule.direction or "graph"
    name = f"{direction} {schedule.graph_id}" if schedule.graph_id >= 0 else direction
    return f"{name}, {one_line(schedule.subgraph, LONGEST_NAME)}" if schedule.subgraph else name


def _saved_words(change: str) -> str:
    """Return what fusion saves by the change of traffic, such as 12.3 % less; empty for no change."""
    if change.endswith("more"):
        return f"moves {change} memory traffic"
    return f"saves {change.removesuffix('less')}of memory traffic" if change else "saves no memory traffic"


def _shared_words(shared: Mapping[str, int], is_explained: bool, is_apart: bool) -> str:
    """Return a sentence about the shared buffers (bytes by name).

    Their bytes are an upper bound on the traffic that a fusion saves. The bound is left out if the nodes' kinds already
    explain why the nodes were not fused, or if no access of one is an access of the other.
    """
    size = sum(shared.values())
    if not shared:
        return "They share no buffer."
    if not size:
        return "They share memory, but neither reads or writes it."
    if is_apart:
        return f"None to save: both access {fmt.bytes_(size)} of the same buffers, but other parts or in another order."
    bound = "" if is_explained else ": fusing could save at most this much traffic (a bound, not a measurement)"
    return f"They share {fmt.bytes_(size)} of buffers{bound}."

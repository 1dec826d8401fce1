"""Memory page: measured peaks of a run, and Inductor's plans.

`MemoryView` has the peak of each side (eager, compiled) and the allocations alive at the peak.
`MemoryPlanView` has the sentence, table and map of a plan. Texts are Markdown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from core.analysis.memory import (
    SIDE_NAMES,
    AliveRow,
    GraphPlan,
    alive_rows,
    graph_plans,
    memory_of,
    memory_ratio,
    place_name,
    place_of_peak,
    place_words,
)
from core.analysis.verdict import target_words
from core.base import words as fmt
from core.code.memory_plan import PlannedMemory
from core.report import Compilation, Kernel, MemoryUse, Payload, Report
from core.views.blocks import (
    Beside,
    Column,
    Curves,
    Data,
    Drawn,
    Heading,
    InLine,
    Line,
    PageBlock,
    PageLink,
    Table,
    Text,
    Title,
    paragraph,
    spans,
)
from core.views.colours import SIDE_COLOURS
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, code, one_line, plain
from core.views.texts import SourceView

# Parts that the page draws: a button, the curves, the tables of the peaks, and the plans.
MEASURE, CURVES, ALIVE, PLANS = "measure-memory", "memory-curves", "alive", "plans"
PEAK_OF = "Allocations at the peak of"
ALLOCATOR = (
    "Allocator figures exclude parameters, buffers and inputs, and memory that libraries allocate themselves, such as "
    "scratch space. Resident memory includes it."
)

MOST_BLOCKS = 4_000  #: limit: rectangles in a map of memory
MOST_PLACED = 1_000_000  #: limit: allocations times kernel calls in a map of memory; of more, the largest allocations
LABEL_CHARS = 40
# Points of a line in an HTML file.
MOST_POINTS = 500  #: points of a line of allocated memory, except in the dashboard


IN_GRAPH = (
    "The compiled call allocated nothing: it replays a CUDA graph in memory reserved when the graph was recorded, and "
    "the size of that memory was not recorded"
)


def memory(
    report: Report,
    compilation: Compilation | None,
    read: Callable[[Payload], str],
    plans: Sequence[MemoryPlanView] | None = None,
) -> Iterator[PageBlock]:
    """Yield the memory of a run: peaks of both sides, and the plans, read or given, of a compilation."""
    view = MemoryView(report, read)
    if plans is None:
        plans = MemoryPlanView.of_codes(compilation, read) if compilation is not None else ()
    skipped = "" if report.memory else view.compiled_for
    yield Title(spans(view.title), "" if skipped else GLOSSARY["peak memory"])
    for failure in view.failures:
        yield from paragraph(failure, "bad")
    yield from paragraph(skipped)
    if not skipped and not report.memory:
        yield from paragraph(view.how_to_measure)
        yield Drawn(MEASURE)
    yield from view.peaks
    if plans:
        tables = [block for plan in plans for block in (Text(spans(f"**{plan.title}**: {plan.summary}")), plan.table)]
        yield Drawn(PLANS, (Heading(plans[0].heading), *tables), (plans,))
    elif compilation is not None and not compilation.kernels:
        yield from paragraph("No memory plan: this compilation has no generated code.", "quiet")
    data = Data("memory", {"measured": report.memory, "plans": [plan.graph_plan.plan for plan in plans]})
    has_partitions = compilation is not None and compilation.partitions
    link = (PageLink("partition", "Values saved for the backward"),) if has_partitions else ()
    yield InLine((*link, data))


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """A rectangle of the map: one allocation over several steps of a plan, at one height."""

    memory: PlannedMemory
    first: int
    last: int
    base: int

    @property
    def bytes(self) -> int:
        """Height of the rectangle."""
        return self.memory.bytes or 0

    @property
    def saved(self) -> bool:
        """True if the forward saved this memory for the backward."""
        return self.memory.origin == "saved"

    @property
    def name(self) -> str:
        """Names of the buffers that use this memory, one after another."""
        return one_line(" → ".join(self.memory.names), LONGEST_NAME)


class PlannedCall(NamedTuple):
    """A call of a plan, counted from 1; `id` is the kernel's id, empty if it is no kernel."""

    call: int
    kernel: str
    live_bytes: int
    allocated_bytes: int
    freed_bytes: int
    id: str


PLAN_COLUMNS: tuple[Column[PlannedCall], ...] = (
    Column("call", lambda call: call.call, fmt.number, width=45),
    Column("kernel", lambda call: call.kernel, width=150),
    Column("live", lambda call: call.live_bytes, fmt.bytes_, "Allocated while the kernel runs", 70),
    Column("allocated", lambda call: call.allocated_bytes, fmt.bytes_, "Allocated for this call", 70),
    Column("freed", lambda call: call.freed_bytes, fmt.bytes_, "Not needed after it", 70),
)


@dataclass(frozen=True, slots=True)
class MemoryPlanView:
    """The memory plan in a graph's generated code.

    `title` is `forward`, for example, or `forward 2` for a graph that was lowered again.
    """

    title: str
    compilation: Compilation
    graph_plan: GraphPlan

    @classmethod
    def of_codes(cls, compilation: Compilation, read: Callable[[Payload], str]) -> tuple[MemoryPlanView, ...]:
        """Return a plan for each graph with kernel calls; `read` returns a payload of the log as text."""
        plans = [plan for plan in graph_plans(compilation, read) if plan.plan.steps]
        return tuple(cls(_title(plans, index), compilation, plan) for index, plan in enumerate(plans))

    @staticmethod
    def kernel_label(kernel: Kernel | None, page: str) -> str:
        """Return the label of a link to `page`, with the kernel's name unless `kernel` is None."""
        return f"{one_line(kernel.name, LABEL_CHARS)} in {page}" if kernel else page

    @property
    def heading(self) -> str:
        """Heading with the id of the compilation."""
        return f"Inductor's plan for [{self.compilation.id}]"

    @property
    def summary(self) -> str:
        """The plan in words."""
        return (
            f"{plan_sentence(self.graph_plan)}."
            + (" Branches and loop bodies count once, in code order." if self.graph_plan.plan.branches else "")
            + (" Symbolic sizes have the values of the compiled call." if self.compilation.symbols else "")
        )

    @property
    def caption(self) -> str:
        """The plan in words, and how to read its map."""
        saved = "; grey is saved by the forward for the backward" if self.graph_plan.plan.made("saved") else ""
        return (
            f"{self.summary} Each rectangle is an allocation: it spans its first to its last kernel, and has the first "
            f"kernel's colour{saved}."
        )

    @property
    def live_bytes(self) -> list[int]:
        """Allocated bytes during each kernel call."""
        return [step.live_bytes for step in self.graph_plan.plan.steps]

    @property
    def peak(self) -> int | None:
        """Kernel call with the most allocated bytes; None without kernel calls."""
        return self.graph_plan.plan.peak

    def kernel(self, kernel_id: str) -> Kernel | None:
        """Return a kernel of the plan by id; None if the plan does not call it."""
        return next((kernel for kernel in self.graph_plan.kernels.values() if kernel.id == kernel_id), None)

    @property
    def table(self) -> Table[PlannedCall]:
        """Kernel calls in order."""
        plan, names, kernels = self.graph_plan.plan, self.graph_plan.names, self.graph_plan.kernels
        allocated, freed = Counter[int](), Counter[int]()
        for memory in plan.memories:
            if memory.origin != "saved":
                allocated[memory.first] += memory.bytes or 0
            if not memory.returned:
                freed[memory.last] += memory.bytes or 0
        calls = [
            PlannedCall(
                index + 1,
                one_line(names.get(step.line, step.kernel), LONGEST_LINE),
                step.live_bytes,
                allocated[index],
                freed[index],
                kernel.id if (kernel := kernels.get(step.line)) else "",
            )
            for index, step in enumerate(plan.steps)
        ]
        return Table(f"plan-table-{self.compilation.id}-{self.title}", PLAN_COLUMNS, calls)

    @property
    def blocks(self) -> list[MemoryBlock]:
        """Rectangles of the map, the largest first; only the largest if there are too many."""
        plan = self.graph_plan.plan
        return sorted(blocks(plan.memories, len(plan.steps)), key=lambda block: -block.bytes)[:MOST_BLOCKS]

    def owner(self, block: MemoryBlock) -> str:
        """Return the id of a buffer's first kernel, or of a saved buffer's last kernel; empty if unknown."""
        step = block.memory.last if block.saved else block.memory.first
        kernel = self.graph_plan.kernels.get(self.graph_plan.plan.steps[step].line)
        return kernel.id if kernel else ""

    def lifetime(self, block: MemoryBlock) -> tuple[str, str]:
        """Return the origin of a buffer with its kernel call, and the end of its lifetime."""
        memory = block.memory
        until = "returned" if memory.returned else f"until {self._call(memory.last)}"
        if block.saved:
            return "saved by the forward", until
        maker = "allocated by a library" if memory.origin == "library" else "allocated"
        return f"{maker} for {self._call(memory.first)}", until

    def _call(self, step: int) -> str:
        line = self.graph_plan.plan.steps[step].line
        return one_line(self.graph_plan.names.get(line, ""), LONGEST_NAME)


def _title(plans: Sequence[GraphPlan], index: int) -> str:
    before = sum(plan.title == plans[index].title for plan in plans[:index])
    title = one_line(plans[index].title, LONGEST_NAME)
    return f"{title} {fmt.number(before + 1)}" if before else title


def blocks(memories: Sequence[PlannedMemory], steps: int) -> Iterator[MemoryBlock]:
    """Yield the rectangles of the map: buffers stacked by age, the oldest at the bottom.

    A buffer moves down when the memory below it is freed; the moved buffer is another rectangle. If there are too
    many buffers for the steps, only the largest are drawn.
    """
    most = max(1, MOST_PLACED // max(1, steps))
    largest = sorted((memory for memory in memories if memory.bytes), key=lambda memory: -(memory.bytes or 0))[:most]
    starts: dict[int, list[PlannedMemory]] = {}
    for memory in sorted(largest, key=lambda memory: memory.line):
        starts.setdefault(memory.first, []).append(memory)
    live: list[MemoryBlock] = []
    for step in range(steps):
        before, live, base = [*live, *(MemoryBlock(memory, step, step, -1) for memory in starts.get(step, ()))], [], 0
        for block in before:
            if step > block.memory.last:
                yield block
                continue
            if block.base not in (base, -1):
                yield block
            same = block.base == base
            live.append(MemoryBlock(block.memory, block.first if same else step, step, base))
            base += block.bytes
    yield from live


@dataclass(frozen=True, slots=True)
class AllocatedCurve:
    """Allocated bytes of a side over one call.

    `fractions` are the times of the points as fractions of the call, `labels` the texts of the points. The peak
    is at `peak_fraction`.
    """

    side: str
    fractions: tuple[float, ...]
    live_bytes: tuple[int, ...]
    labels: tuple[str, ...]
    peak_fraction: float
    peak_bytes: int

    def points(self, top: int) -> tuple[tuple[float, float], ...]:
        """Return the points as fractions of `top`; of many, the largest value of each stretch."""
        points = list(zip(self.fractions, self.live_bytes, strict=True))
        stretch = max(1, len(points) // MOST_POINTS)
        parts = (points[start : start + stretch] for start in range(0, len(points), stretch))
        return tuple((x, y / top) for x, y in (max(part, key=lambda point: point[1]) for part in parts))

    def peak_is_near(self, curve: AllocatedCurve) -> bool:
        """Return True if the labels of the peaks of both curves would overlap."""
        largest = max(self.peak_bytes, curve.peak_bytes)
        across = abs(self.peak_fraction - curve.peak_fraction)
        return across < 0.25 and abs(self.peak_bytes - curve.peak_bytes) < 0.08 * largest


@dataclass(frozen=True)
class MemoryView:
    """The measured memory of a run; `read` returns a payload of the log as text."""

    report: Report
    read: Callable[[Payload], str]

    @property
    def title(self) -> str:
        """Peaks of both sides, or a note that memory was not measured."""
        if self.report.memory:
            return memory_sentence(self.report)
        if target_words(self.report):
            return "Nothing was run, so no memory was measured."
        if self.report.script is not None:
            return "Memory was not measured: a script runs once, as it is."
        return "Memory was not measured."

    @property
    def failures(self) -> list[str]:
        """Reasons why sides could not be measured."""
        return [plain(reason) for reason in memory_unmeasured(self.report)]

    @property
    def compiled_for(self) -> str:
        """Sentence with the target of code that was compiled but not run; empty for a run with calls."""
        target = target_words(self.report)
        return f"The code was {target}." if target else ""

    @property
    def how_to_measure(self) -> str:
        """Instructions to measure memory in a new run."""
        return (
            "A run with *measure memory* repeats its last call, eager and compiled, each in a separate process, and "
            "records the allocator."
        )

    @cached_property
    def uses(self) -> tuple[MemoryUse, ...]:
        """Measured sides, eager first."""
        uses = (memory_of(self.report, "eager"), memory_of(self.report, "compiled"))
        return tuple(use for use in uses if use is not None)

    @property
    def method(self) -> str:
        """Sentences on the method, the constant memory, other memory statistics, and the places of the peaks."""
        first = self.uses[0]
        where = "in a separate process for each side" if first.device == "cpu" else f"on {plain(first.device)}"
        constant = fmt.bytes_(max(use.held_bytes for use in self.uses))
        resident = _by_side({use.side: use.resident_bytes for use in self.uses})
        counted = _by_side({use.side: use.counted_bytes for use in self.uses})
        sentences = [
            f"The last call was repeated {where}, next to {constant} of parameters, buffers and inputs.",
            f"The resident memory of the process grew by: {resident}." if resident else "",
            f"Peak by the device's statistics: {counted}." if counted else "",
        ]
        return " ".join(filter(None, (*sentences, *map(self._peak, self.uses), ALLOCATOR)))

    def _peak(self, use: MemoryUse) -> str:
        place = place_of_peak(use)
        if place is None:
            return ""
        line = f", line {fmt.number(place.line)}" if place.line and place.code is None else ""
        tensors = sum(row.tensors for row in use.alive)
        name = code(place_name(self.report, use, place), LONGEST_NAME)
        return f"{use.side.capitalize()}'s peak is at {name}{line}, with {fmt.count(tensors, 'tensor')} alive."

    @property
    def peaks(self) -> Iterator[PageBlock]:
        """The method, curves, and the memory alive at each peak; nothing without a measurement."""
        if not self.uses:
            return
        top = max(max(curve.live_bytes) for curve in self.curves) or 1
        lines = tuple(Line(curve.side, SIDE_COLOURS[curve.side], curve.points(top)) for curve in self.curves)
        curves = Curves("Allocated bytes over a call", fmt.bytes_(top), "from the start of a call to its end", lines)
        alive = [block for side in self.alive for block in (Text(spans(f"{PEAK_OF} {side}")), self.alive_table(side))]
        yield from paragraph(self.method, "quiet")
        yield Beside((Drawn(CURVES, (curves,), (self.curves,)),), (Drawn(ALIVE, tuple(alive), (self,)),), shares=(3, 2))

    @property
    def curves(self) -> tuple[AllocatedCurve, ...]:
        """Curve of each measured side."""
        return tuple(map(_curve, self.uses))

    @cached_property
    def alive(self) -> dict[str, tuple[AliveRow, ...]]:
        """Side → the memory alive at its peak, largest first."""
        rows = alive_rows(self.report)
        return {
            side: tuple(row for row in rows if row.side == side) for side in dict.fromkeys(row.side for row in rows)
        }

    def alive_table(self, side: str) -> Table[AliveRow]:
        """Return a row for each place with memory alive at a side's peak; `your line` only if it is known."""
        eager = memory_of(self.report, "eager")
        lines = SourceView(self.report, self.read).text(eager.path).split("\n") if eager is not None else []
        line: Column[AliveRow] = Column("your line", lambda row: _line(row, lines), optional=True)
        return Table(f"alive-{side}", (*ALIVE_COLUMNS, line), self.alive[side])


def _by_side(sizes: Mapping[str, int | None]) -> str:
    return ", ".join(f"{side} {fmt.bytes_(size)}" for side, size in sizes.items() if size is not None)


def _curve(use: MemoryUse) -> AllocatedCurve:
    call_us = use.call_us or 1.0
    curve = use.curve
    live_bytes = (0, *curve.live_bytes, use.left_bytes)
    places = ("", *(_place(use, index) for index in curve.places), "at the end")
    return AllocatedCurve(
        use.side,
        fractions=(0.0, *(min(1.0, moment / call_us) for moment in curve.at_us), 1.0),
        live_bytes=live_bytes,
        labels=tuple(
            f"{use.side}: {fmt.bytes_(size)}{f' · {place}' if place else ''}"
            for size, place in zip(live_bytes, places, strict=True)
        ),
        peak_fraction=use.peak_us / call_us,
        peak_bytes=use.peak_bytes,
    )


def _place(use: MemoryUse, index: int) -> str:
    return "released" if index < 0 else one_line(place_words(use.places[index]), LONGEST_NAME)


def _line(row: AliveRow, lines: Sequence[str]) -> str:
    number = row.place.line if row.side == "eager" else 0
    return one_line(f"{number}: {lines[number - 1].strip()}", LONGEST_LINE) if 0 < number <= len(lines) else ""


ALIVE_COLUMNS: tuple[Column[AliveRow], ...] = (
    Column("from", lambda row: one_line(row.what, LONGEST_LINE), help="Where it was allocated", width=165),
    Column("bytes", lambda row: row.bytes, fmt.bytes_, width=75),
    Column("tensors", lambda row: row.tensors, fmt.number, width=65),
)


def memory_sentence(report: Report) -> str:
    """Return the memory result in words; empty if memory was not requested."""
    if not report.memory:
        return ""
    eager, compiled = (memory_of(report, side) for side in SIDE_NAMES)
    if eager is None or compiled is None:
        missing = " and ".join(side for side in SIDE_NAMES if memory_of(report, side) is None)
        return f"The memory of {missing} was not measured."
    peaks = f"{fmt.bytes_(compiled.peak_bytes)} at its peak, eager {fmt.bytes_(eager.peak_bytes)}"
    ratio = memory_ratio(report)
    if eager.peak_bytes == compiled.peak_bytes:
        return f"Compiled takes as much memory as eager: {fmt.bytes_(eager.peak_bytes)} at the peak."
    if compiled.peak_bytes == 0 and compiled.device != "cpu" and eager.peak_bytes:
        return f"{IN_GRAPH}; eager takes {fmt.bytes_(eager.peak_bytes)} at its peak."
    if ratio is None:
        return f"Compiled takes {peaks}."
    factor = fmt.number(max(ratio, 1 / ratio))
    if factor == fmt.number(1.0):
        return f"Compiled takes about as much memory as eager: {peaks}."
    return f"Compiled takes {factor}× {'less' if ratio > 1 else 'more'} memory: {peaks}."


def memory_unmeasured(report: Report) -> tuple[str, ...]:
    """Return why requested sides could not be measured, one line each."""
    return tuple(f"{use.side}: {use.reason}" for use in report.memory if use.reason)


def plan_sentence(graph_plan: GraphPlan) -> str:
    """Return a plan in words: allocations, and buffers that reuse memory."""
    plan = graph_plan.plan
    allocated = plan.made("allocated", "library")
    parts = [
        f"{fmt.bytes_(sum(memory.bytes or 0 for memory in allocated))} in {fmt.count(len(allocated), 'allocation')}"
    ]
    if plan.reused:
        verb = fmt.agree(plan.reused, "reuses", "reuse")
        parts.append(f"{fmt.count(plan.reused, 'buffer')} {verb} {fmt.bytes_(plan.reused_bytes)} of allocated memory")
    if plan.peak is not None:
        parts.append(f"peak {fmt.bytes_(plan.steps[plan.peak].live_bytes)}")
    if saved := plan.made("saved"):
        parts.append(f"it starts with {fmt.bytes_(sum(memory.bytes or 0 for memory in saved))} saved by the forward")
    unknown = sum(memory.bytes is None for memory in plan.memories)
    if unknown:
        parts.append(f"{fmt.number(unknown)} of unknown size")
    return "; ".join(parts)

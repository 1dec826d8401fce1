"""Inductor's memory plans of a compilation: a sentence, rows, and the rectangles of a map; texts are Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.analysis import GraphPlan, graph_plans, plan_sentence
from core.base import words as fmt
from core.code import PlannedMemory
from core.report import Compilation, Kernel, Payload
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, one_line, plain

MOST_BLOCKS = 4_000
MOST_PLACED = 1_000_000


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """A piece of memory over steps of a plan, at one height: a rectangle of the map."""

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
        """True if the forward kept it for the backward."""
        return self.memory.origin == "saved"

    @property
    def name(self) -> str:
        """Names of the buffers that take this memory, one after the other."""
        return one_line(" → ".join(self.memory.names), LONGEST_NAME)


@dataclass(frozen=True, slots=True)
class MemoryPlanView:
    """The memory plan of one generated code; `title` is `forward`, or `forward 2` for a graph lowered again."""

    title: str
    compilation: Compilation
    graph_plan: GraphPlan

    @property
    def heading(self) -> str:
        """Compilation of the plan."""
        return f"Inductor's plan for [{plain(self.compilation.id)}]"

    @property
    def caption(self) -> str:
        """The plan in words, and how to read its map."""
        plan = self.graph_plan.plan
        saved = "; grey is what the forward kept for the backward" if plan.made("saved") else ""
        return (
            f"{plan_sentence(self.graph_plan)}. A rectangle is a piece of memory, from the kernel call that it is made "
            f"for to the last that needs it, in the colour of that first kernel{saved}."
            + (" Branches and loops are taken as they stand in the code." if plan.branches else "")
            + (" Symbols have the sizes that it was compiled for." if self.compilation.symbols else "")
        )

    @property
    def live_bytes(self) -> list[int]:
        """Allocated bytes during each kernel call."""
        return [step.live_bytes for step in self.graph_plan.plan.steps]

    @property
    def peak(self) -> int | None:
        """Kernel call with the most allocated bytes; None without kernel calls."""
        return self.graph_plan.plan.peak

    @property
    def kernels(self) -> list[str]:
        """Kernel of each call by id; empty for a call of something else."""
        kernels = self.graph_plan.kernels
        return [kernel.id if (kernel := kernels.get(step.line)) else "" for step in self.graph_plan.plan.steps]

    def kernel(self, kernel_id: str) -> Kernel | None:
        """Return a kernel of the plan by id; None if the plan does not call it."""
        return next((kernel for kernel in self.graph_plan.kernels.values() if kernel.id == kernel_id), None)

    @property
    def rows(self) -> list[dict[str, object]]:
        """Kernel calls with the bytes that are allocated, made for the call, and freed after it."""
        plan, names = self.graph_plan.plan, self.graph_plan.names
        allocated, freed = Counter[int](), Counter[int]()
        for memory in plan.memories:
            if memory.origin != "saved":
                allocated[memory.first] += memory.bytes or 0
            if not memory.returned:
                freed[memory.last] += memory.bytes or 0
        return [
            {
                "call": index + 1,
                "kernel": one_line(names.get(step.line, step.kernel), LONGEST_LINE),
                "there": step.live_bytes,
                "made": allocated[index],
                "freed": freed[index],
            }
            for index, step in enumerate(plan.steps)
        ]

    @property
    def blocks(self) -> list[MemoryBlock]:
        """Rectangles of the map, the largest first; only the largest if there are too many."""
        plan = self.graph_plan.plan
        return sorted(blocks(plan.memories, len(plan.steps)), key=lambda block: -block.bytes)[:MOST_BLOCKS]

    def owner(self, block: MemoryBlock) -> str:
        """Return the id of the kernel that a buffer is made for; for a saved buffer, of its last user."""
        step = block.memory.last if block.saved else block.memory.first
        kernel = self.graph_plan.kernels.get(self.graph_plan.plan.steps[step].line)
        return kernel.id if kernel else ""

    def lifetime(self, block: MemoryBlock) -> tuple[str, str]:
        """Return who made a buffer and for which kernel call, and until when it exists."""
        memory = block.memory
        until = "returned" if memory.returned else f"until {self._call(memory.last)}"
        if block.saved:
            return "kept by the forward", until
        maker = "made by a library" if memory.origin == "library" else "allocated"
        return f"{maker} for {self._call(memory.first)}", until

    def _call(self, step: int) -> str:
        line = self.graph_plan.plan.steps[step].line
        return one_line(self.graph_plan.names.get(line, ""), LONGEST_NAME)


def memory_plans(compilation: Compilation, read: Callable[[Payload], str]) -> tuple[MemoryPlanView, ...]:
    """Return the plans of a compilation's generated codes; `read` returns a payload of the log as text."""
    plans = [plan for plan in graph_plans(compilation, read) if plan.plan.steps]
    return tuple(MemoryPlanView(_title(plans, index), compilation, plan) for index, plan in enumerate(plans))


def _title(plans: Sequence[GraphPlan], index: int) -> str:
    before = sum(plan.title == plans[index].title for plan in plans[:index])
    title = one_line(plans[index].title, LONGEST_NAME)
    return f"{title} {fmt.number(before + 1)}" if before else title


def blocks(memories: Sequence[PlannedMemory], steps: int) -> Iterator[MemoryBlock]:
    """Stack buffers on top of each other, the oldest at the bottom.

    A buffer moves down when the memory below it is freed, and is then one more block. If there are too many for the
    steps, only the largest are drawn.
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


__all__ = ["MemoryBlock", "MemoryPlanView", "memory_plans"]

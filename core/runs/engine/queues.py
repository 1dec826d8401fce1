"""Interface between the Runner and its engine, and the queues of an engine.

Only a run directory with the job, and a handle, cross the interface. Visitors alternate in a queue, and no other run
disturbs a measured run.
"""

import heapq
import os
import time
from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import Protocol

from core.base.errors import CompileboardError
from core.base.machine import Environment
from core.job import CompileJob
from core.runs.status import Liveness
from core.runs.store import Run, Store

MOST_LOOKED = 8  #: newest runs among which those of other processes are looked for
SETTLED_S = 1.0  # after a change of the directory of runs, until its last run has its status


@dataclass(frozen=True, slots=True)
class Assignment:
    """Work for an engine: a run directory with a job or a tool's task, and the resources it needs.

    `target` is the target of cross-compiled code, empty for this machine. `measures` is True if the run is measured on
    `device`. `by` is the visitor who submitted it. `alike` is the sweep whose measured cells need nodes of one kind.
    `node` is the chosen node.
    """

    run: Run
    target: str = ""
    device: str = "cpu"
    measures: bool = False
    by: str = ""
    alike: str = ""
    node: str = ""


@dataclass(frozen=True, slots=True)
class Shortage:
    """Reason why no node can execute a run on a device now.

    `is_starting` is True if torch is starting on a node that may have the device.
    """

    reason: str
    is_starting: bool = False


class Engine(Liveness, Protocol):
    """An executor of assignments, which knows the live runs and can end them. Safe to use from threads."""

    def nodes(self, device: str, alike: str = "", /) -> Sequence[str]:
        """Return the nodes that can execute runs on a device now, the best first.

        All runs with the same `alike` get nodes of one kind.
        """

    def refusal(self, device: str, /) -> str:
        """Return the reason why no node will execute a run on a device; empty if a node may."""

    def shortage(self, device: str, /) -> Shortage | None:
        """Return the reason why no node can execute a run on a device now; None if a node can."""

    def silent(self) -> Sequence[str]:
        """Return the names of the nodes that do not answer and may come back."""

    def on_change(self, changed: Callable[[], None], /) -> None:
        """Call `changed` whenever the nodes that can execute runs change."""

    def prepare(self, assignment: Assignment) -> None:
        """Wait until an assignment can start; raises WorkerError if it can't.

        Raises SilentNodeError if its node stops answering; the assignment is then queued again.
        """

    def lacks(self, assignment: Assignment) -> str:
        """Return what `prepare` must start first, such as `torch for CUDA`; empty if nothing."""

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock the assignment's device without waiting; raises StoreError, SilentNodeError.

        Return False if another server is measuring on it. A measured run has its device to itself; all other runs share
        it. The lock ends with `end_turn`, or when this server ends.
        """

    def end_turn(self, run: Run) -> None:
        """Release the device lock of a run, if it has one."""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Start an assignment; raises WorkerError. `ended` is called once at its end, from any thread."""

    def cancel(self, run: Run) -> None:
        """Request the end of a started run, also if another server started it.

        Raises WorkerError if that is impossible.
        """

    def warm_up(self) -> None:
        """Prepare what the first run needs, in the background."""

    def environment(self) -> Environment:
        """Return the versions, devices and backends of torch."""

    def close(self) -> None:
        """End everything that this engine started."""


# Between two slots at the end; a slot between two others gets half of what is between them.
GAP = 2**64


@dataclass(slots=True)
class _Visitor:
    """The slots of a visitor, and the assignments that fill them, both in order."""

    slots: list[int] = field(default_factory=list)
    assignments: list[Assignment] = field(default_factory=list)


class FairQueue:
    """Assignments in the order in which they may start: visitors alternate.

    Each visitor has one slot per assignment. A visitor's n-th slot comes after the visitor's other slots, and
    before the first later slot that is at least the (n+1)-th of another visitor.

    Choosing a slot takes O(visitors · log slots) steps.
    """

    def __init__(self) -> None:
        # Slots in order, each with its visitor.
        self._order: list[tuple[int, str]] = []
        self._visitors: dict[str, _Visitor] = {}

    def __iter__(self) -> Iterator[Assignment]:
        """Iterate over the assignments in order."""
        following = {by: iter(visitor.assignments) for by, visitor in self._visitors.items()}
        return (next(following[by]) for _, by in self._order)

    def add(self, new: Assignment) -> None:
        visitor = self._visitors.setdefault(new.by, _Visitor())
        slot = self._new_slot(visitor)
        insort(self._order, (slot, new.by))
        visitor.slots.append(slot)
        visitor.assignments.append(new)

    def take(self, assignment: Assignment) -> None:
        """Remove an assignment that starts, with its slot."""
        visitor = self._visitors[assignment.by]
        place = visitor.assignments.index(assignment)
        self._remove(assignment.by, place, visitor.slots[place])

    def put_back(self, assignment: Assignment) -> None:
        """Add a removed assignment again, ahead of all others."""
        if self._order and self._order[0][0] < 2:
            self._space_out()
        slot = self._order[0][0] // 2 if self._order else GAP
        visitor = self._visitors.setdefault(assignment.by, _Visitor())
        self._order.insert(0, (slot, assignment.by))
        visitor.slots.insert(0, slot)
        visitor.assignments.insert(0, assignment)

    def withdraw(self, assignment: Assignment) -> None:
        """Remove an assignment that will not start.

        The visitor's later assignments each move up one slot.
        """
        visitor = self._visitors[assignment.by]
        self._remove(assignment.by, visitor.assignments.index(assignment), visitor.slots[-1])

    def _remove(self, by: str, place: int, slot: int) -> None:
        visitor = self._visitors[by]
        del visitor.assignments[place]
        visitor.slots.remove(slot)
        del self._order[bisect_left(self._order, (slot, by))]
        if not visitor.slots:
            del self._visitors[by]

    def _new_slot(self, visitor: _Visitor) -> int:
        """Return a new slot for a visitor's next assignment."""
        while True:
            last = visitor.slots[-1] if visitor.slots else 0
            fewest = len(visitor.slots) + 1
            behind = [
                each.slots[place]
                for each in self._visitors.values()
                if (place := max(fewest, bisect_right(each.slots, last))) < len(each.slots)
            ]
            if not behind:
                return (self._order[-1][0] if self._order else 0) + GAP
            place = bisect_left(self._order, min(behind), key=itemgetter(0))
            before, after = self._order[place - 1][0] if place else 0, self._order[place][0]
            if after - before > 1:
                return (before + after) // 2
            self._space_out()

    def _space_out(self) -> None:
        """Renumber the slots in order, with gaps between them."""
        for visitor in self._visitors.values():
            visitor.slots.clear()
        self._order = [((place + 1) * GAP, by) for place, (_, by) in enumerate(self._order)]
        for slot, by in self._order:
            self._visitors[by].slots.append(slot)


CPU = "cpu"
# The nodes of an engine that executes on one machine.
HERE = ("",)


def assigned(run: Run, job: CompileJob, by: str = "") -> Assignment:
    """Return the assignment of a visitor's job: its target, its device, and its sweep if it is measured."""
    measures = is_measured(job)
    return Assignment(run, job.target, device_of(job), measures, by, job.sweep if measures else "")


def is_measured(job: CompileJob) -> bool:
    """Return True if a job is timed on its device; cross-compiled code is not executed."""
    return job.measure and not job.target


def device_of(job: CompileJob) -> str:
    """Return the device that a job uses, such as `cuda:0` for `cuda`; `cpu` for a cross-compilation."""
    kind, _, index = job.device.partition(":")
    return CPU if job.target or kind == CPU else f"{kind}:{int(index or 0)}"


def disturbs(left: Assignment, right: Assignment) -> bool:
    """Return True if two assignments on one node disturb each other.

    They do if one of them is measured, and if they share a device or one uses the CPU, which launches all
    kernels.
    """
    if left.node != right.node:
        return False
    apart = left.device != right.device and CPU not in (left.device, right.device)
    return (left.measures or right.measures) and not apart


@dataclass(slots=True)
class Lane:
    """A queue, its running assignments, and the ids of the runs that the engine has started.

    On each node, at most `most` assignments run at once. If none of them uses the CPU, one more may start on each
    idle accelerator. A measured assignment runs alone on its device. `nodes` returns the nodes for a device and a
    sweep (`alike`).
    """

    most: int
    nodes: Callable[[str, str], Sequence[str]] = lambda device, alike: HERE
    queue: FairQueue = field(default_factory=FairQueue)
    going: dict[str, Assignment] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)

    def add(self, new: Assignment) -> None:
        """Queue an assignment so that visitors alternate; assignments of one visitor stay in order."""
        self.queue.add(new)

    def remove(self, run: Run) -> bool:
        """Remove a run from the queue.

        Its visitor's later runs each move up one place. Return False if not queued.
        """
        gone = self.waiting(run)
        if gone is not None:
            self.queue.withdraw(gone)
        return gone is not None

    def take(self) -> Assignment | None:
        """Move the first assignment that may start from the queue to the running ones; None if none may.

        An assignment may not overtake a queued assignment that it would disturb.
        """
        running: defaultdict[str, list[Assignment]] = defaultdict(list)
        for current in self.going.values():
            running[current.node].append(current)
        passed: dict[tuple[str, bool, str], Assignment] = {}
        for assignment in self.queue:
            needs = (assignment.device, assignment.measures, assignment.alike)
            if needs in passed or any(disturbs(assignment, earlier) for earlier in passed.values()):
                passed.setdefault(needs, assignment)
                continue
            at_nodes = (replace(assignment, node=node) for node in self.nodes(assignment.device, assignment.alike))
            placed = next((placed for placed in at_nodes if self._has_room(placed, running[placed.node])), None)
            if placed is not None:
                self.queue.take(assignment)
                self.going[placed.run.id] = placed
                return placed
            passed[needs] = assignment
        return None

    def _has_room(self, assignment: Assignment, running: Sequence[Assignment]) -> bool:
        if any(disturbs(assignment, current) for current in running):
            return False
        return len(running) < self.most or all(CPU != current.device != assignment.device != CPU for current in running)

    def waiting(self, run: Run) -> Assignment | None:
        """Return the queued assignment of a run; None if it is not queued."""
        return next((assignment for assignment in self.queue if assignment.run == run), None)

    def starting(self, run: Run) -> Assignment | None:
        """Return the assignment of a run that is being started; None if it isn't."""
        return None if run.id in self.started else self.going.get(run.id)

    def forget(self, run: Run) -> None:
        """Remove a run from the running ones."""
        self.going.pop(run.id, None)
        self.started.discard(run.id)


class OtherRuns:
    """Runs that other processes with the same home queued or execute, among the newest runs.

    The directory of runs is listed only if it changed.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._listed_ns = store, 0
        self._names: list[str] = []

    def are_live(self) -> bool:
        """Return True if a run is queued or executes; a log that is followed does neither."""
        try:
            changed_ns = self._store.runs_dir.stat().st_mtime_ns
            if changed_ns != self._listed_ns:
                is_settled = time.time_ns() - changed_ns > SETTLED_S * 1e9
                self._listed_ns = changed_ns if is_settled else 0
                self._names = heapq.nlargest(MOST_LOOKED, os.listdir(self._store.runs_dir))
        except OSError:
            return False
        if self._listed_ns:
            self._names = [name for name in self._names if self._is_live(name)]
        return any(map(self._is_live, self._names))

    def _is_live(self, name: str) -> bool:
        try:
            status = self._store.open(name).standing()
        except CompileboardError:
            return False
        return status.live and status.kind != "log"

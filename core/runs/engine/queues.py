"""Queues of assignments, and the rule for starting them: no other run disturbs a measured run."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.job import CompileJob
from core.runs.engine.protocol import Assignment
from core.runs.store import Run

CPU = "cpu"
# The nodes of an engine that executes on one machine.
HERE = ("",)


def assigned(run: Run, job: CompileJob, by: str = "") -> Assignment:
    """Return the assignment of a visitor's job: its device, and whether it is timed."""
    measures = is_measured(job)
    return Assignment(run, job.target, device_of(job), measures, by, job.sweep if measures else "")


def is_measured(job: CompileJob) -> bool:
    """Return True if a job is timed on its device: code for a target is not executed."""
    return job.measure and not job.target


def device_of(job: CompileJob) -> str:
    """Return the device that a job uses: `cpu`, or `cuda:0` for `cuda`."""
    kind, _, index = job.device.partition(":")
    return CPU if job.target or kind == CPU else f"{kind}:{int(index or 0)}"


def disturbs(left: Assignment, right: Assignment) -> bool:
    """Return True if one is measured while the other uses its device, or the CPUs that launch its kernels."""
    if left.node != right.node:
        return False
    apart = left.device != right.device and CPU not in (left.device, right.device)
    return (left.measures or right.measures) and not apart


@dataclass(slots=True)
class Lane:
    """A queue, the running assignments, and those already started by the engine.

    On each of its nodes at most `most` run at once, plus one on each further accelerator; a measured one runs alone on
    its device. `nodes` returns those for a device, and for what must be measured alike.
    """

    most: int
    nodes: Callable[[str, str], Sequence[str]] = lambda device, alike: HERE
    queue: deque[Assignment] = field(default_factory=deque)
    going: dict[str, Assignment] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)

    def add(self, new: Assignment) -> None:
        """Queue an assignment so that visitors alternate; assignments of one visitor stay in order."""
        places = [place for place, queued in enumerate(self.queue) if queued.by == new.by]
        before: Counter[str] = Counter()
        for place, queued in enumerate(self.queue):
            if place > max(places, default=-1) and before[queued.by] > len(places):
                self.queue.insert(place, new)
                return
            before[queued.by] += 1
        self.queue.append(new)

    def remove(self, run: Run) -> bool:
        """Remove a run from the queue.

        Its visitor's later runs each move up one place. Return False if not queued.
        """
        gone = self.waiting(run)
        if gone is None:
            return False
        places = [place for place, queued in enumerate(self.queue) if queued.by == gone.by]
        moved = [self.queue[place] for place in places if self.queue[place] != gone]
        del self.queue[places[-1]]
        for place, assignment in zip(places, moved, strict=False):
            self.queue[place] = assignment
        return True

    def take(self) -> Assignment | None:
        """Move the first assignment that may start from the queue to the running ones.

        It may not pass an assignment in the queue that it would disturb.
        """
        for place, assignment in enumerate(self.queue):
            if any(disturbs(assignment, self.queue[before]) for before in range(place)):
                continue
            at_nodes = (replace(assignment, node=node) for node in self.nodes(assignment.device, assignment.alike))
            placed = next(filter(self._has_room, at_nodes), None)
            if placed is not None:
                del self.queue[place]
                self.going[placed.run.id] = placed
                return placed
        return None

    def _has_room(self, assignment: Assignment) -> bool:
        running = [current for current in self.going.values() if current.node == assignment.node]
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

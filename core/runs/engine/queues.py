"""Queues of assignments, and the rule for starting them: no other run disturbs a measured run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from core.job import CompileJob
from core.runs.engine.fair import FairQueue
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
        """Move the first assignment that may start from the queue to the running ones.

        It may not pass an assignment in the queue that it would disturb.
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

"""What waits and what goes, and which of the waiting may go: what is measured is not disturbed by another run."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field

from core.job import CompileJob
from core.runs.engine.protocol import Assignment
from core.runs.store import Run

CPU = "cpu"


def assigned(run: Run, job: CompileJob, by: str = "") -> Assignment:
    """What is to be done of a visitor's job: where, and whether it is timed. Code for a target is not run."""
    return Assignment(run, job.target, device_of(job), job.measure and not job.target, by)


def device_of(job: CompileJob) -> str:
    """The one device that a job takes: `cpu`, or `cuda:0` for `cuda`."""
    kind, _, index = job.device.partition(":")
    return CPU if job.target or kind == CPU else f"{kind}:{int(index or 0)}"


def disturbs(one: Assignment, other: Assignment) -> bool:
    """Whether one of them would be measured while the other takes its device, or the CPUs that start its kernels."""
    apart = one.device != other.device and CPU not in (one.device, other.device)
    return (one.measures or other.measures) and not apart


@dataclass(slots=True)
class Lane:
    """What waits, what goes, and which of the latter the engine has started already.

    So many may go at once, and beside them one on each further accelerator; none that is measured beside another on
    its device.
    """

    most: int
    queue: deque[Assignment] = field(default_factory=deque)
    going: dict[str, Assignment] = field(default_factory=dict)
    started: set[str] = field(default_factory=set)

    def add(self, new: Assignment) -> None:
        """Queue it, behind no more of another visitor than wait of its own; those of one visitor keep their order."""
        own = [place for place, item in enumerate(self.queue) if item.by == new.by]
        before: Counter[str] = Counter()
        for place, item in enumerate(self.queue):
            if place > max(own, default=-1) and before[item.by] > len(own):
                self.queue.insert(place, new)
                return
            before[item.by] += 1
        self.queue.append(new)

    def remove(self, run: Run) -> bool:
        """Take a run out of the queue, False if it is not in it; the later runs of its visitor move up one by one."""
        gone = self.waiting(run)
        if gone is None:
            return False
        places = [place for place, item in enumerate(self.queue) if item.by == gone.by]
        own = [self.queue[place] for place in places if self.queue[place] != gone]
        del self.queue[places[-1]]
        for place, item in zip(places, own, strict=False):
            self.queue[place] = item
        return True

    def take(self) -> Assignment | None:
        """The first that may go, out of the queue and among those that go; none overtakes one that it would disturb."""
        for place, found in enumerate(self.queue):
            if self._has_room(found) and not any(disturbs(found, self.queue[before]) for before in range(place)):
                del self.queue[place]
                self.going[found.run.id] = found
                return found
        return None

    def _has_room(self, found: Assignment) -> bool:
        others = list(self.going.values())
        if any(disturbs(found, other) for other in others):
            return False
        return len(others) < self.most or all(CPU != other.device != found.device != CPU for other in others)

    def waiting(self, run: Run) -> Assignment | None:
        """That of a run, if it waits."""
        return next((item for item in self.queue if item.run == run), None)

    def starting(self, run: Run) -> Assignment | None:
        """That of a run, if it is being started."""
        return None if run.id in self.started else self.going.get(run.id)

    def forget(self, run: Run) -> None:
        """It goes no longer."""
        self.going.pop(run.id, None)
        self.started.discard(run.id)

"""Engines that compile nothing, here, in a cluster that shares nothing with this machine, or on Ray."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from core import Environment, Run, WorkerError
from core.runs.engine.local import Turns
from core.runs.engine.queues import HERE, Assignment, Shortage
from core.runs.processes.handles import LocalLiveness
from core.runs.status import Liveness

WAIT_S = 120.0
TOOK_S = 2.0
# Instead of a state: the supervisor is killed before it writes one.
KILLED = "killed"
ENDS: dict[str, str] = {"cancelled": "cancelled by the user", "failed": "a failure"}


class Site(Liveness, Protocol):
    """Where an engine's runs are: who is alive there, and which devices are locked."""

    def nodes(self) -> tuple[str, ...]: ...

    def take_turn(self, assignment: Assignment) -> bool: ...

    def end_turn(self, run: Run) -> None: ...

    def begin(self, assignment: Assignment, ended: Callable[[], None], error: WorkerError | None) -> None:
        """Start a run that goes on until `finish`, or fail to."""

    def cancel(self, run: Run) -> None:
        """Ask a run to end; a test says when it does."""

    def finish(self, run: Run, state: str, reason: str = "", signal: str | None = None) -> None:
        """End a run so, or kill its supervisor before it can say how; return once its server knows."""


class InMemory(Protocol):
    """The half of a site that knows its runs itself."""

    endings: dict[Path, Callable[[], None]]

    def supervised(self, run: Run, /) -> str:
        """The handle of a run that starts here."""

    def gone(self, run: Run, /) -> None:
        """Nothing of the run is alive any more."""

    def nodes(self) -> tuple[str, ...]:
        return HERE

    def begin(self, assignment: Assignment, ended: Callable[[], None], error: WorkerError | None) -> None:
        if error is not None:
            raise error
        run = assignment.run
        self.endings[run.path] = ended
        started_s = time.time() - TOOK_S
        run.write_status(replace(run.status(), state="running", started_s=started_s, handle=self.supervised(run)))

    def cancel(self, _: Run) -> None:
        return

    def finish(self, run: Run, state: str, reason: str = "", signal: str | None = None) -> None:
        if state != KILLED:
            status = replace(run.status(), state=state, reason=reason, signal=signal, handle="")  # type: ignore[arg-type]
            run.write_status(replace(status, ended_s=(status.started_s or 0.0) + TOOK_S))
        self.gone(run)
        self.endings.pop(run.path)()


class Here(LocalLiveness, InMemory):
    """This process, and the device locks of this machine."""

    def __init__(self) -> None:
        self.endings = {}
        self._turns = Turns()

    def take_turn(self, assignment: Assignment) -> bool:
        return self._turns.take(assignment)

    def end_turn(self, run: Run) -> None:
        self._turns.give_back(run)

    def supervised(self, _: Run) -> str:
        return self.local_handle()

    def gone(self, run: Run) -> None: ...


@dataclass
class Cluster:
    """What servers elsewhere share: the handles that are alive, and the devices that each run has locked."""

    alive: set[str] = field(default_factory=set)
    turns: dict[tuple[str, Path], dict[str, bool]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Elsewhere(InMemory):
    """A server of a cluster: no process id, no file lock, and nothing that this machine knows."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster, self.endings = cluster, {}
        self._handle = f"elsewhere:server {uuid.uuid4().hex}"
        cluster.alive.add(self._handle)

    def local_handle(self) -> str:
        return self._handle

    def is_alive(self, handle: str) -> bool:
        return handle in self.cluster.alive or not handle.startswith("elsewhere:")

    def take_turn(self, assignment: Assignment) -> bool:
        needs = {"cpu": False, assignment.device: assignment.measures}
        with self.cluster.lock:
            for (server, _), taken in self.cluster.turns.items():
                if server != self._handle and any(needs[device] or taken[device] for device in needs.keys() & taken):
                    return False
            self.cluster.turns[self._handle, assignment.run.path] = needs
            return True

    def end_turn(self, run: Run) -> None:
        with self.cluster.lock:
            self.cluster.turns.pop((self._handle, run.path), None)

    def supervised(self, run: Run) -> str:
        handle = f"elsewhere:run {run.id}"
        self.cluster.alive.add(handle)
        return handle

    def gone(self, run: Run) -> None:
        self.cluster.alive.discard(f"elsewhere:run {run.id}")

    def disconnect(self) -> None:
        """End this server, with its locks; its runs live on."""
        with self.cluster.lock:
            self.cluster.alive.discard(self._handle)
            self.cluster.turns = {key: taken for key, taken in self.cluster.turns.items() if key[0] != self._handle}


class FakeSite:
    """The half of an engine that its site answers; `new_site` makes that of each engine which is given none."""

    new_site: Callable[[], Site] = Here

    def __init__(self, site: Site | None = None) -> None:
        self.site = site or FakeSite.new_site()
        self.local_handle, self.is_alive = self.site.local_handle, self.site.is_alive
        self.take_turn, self.end_turn = self.site.take_turn, self.site.end_turn

    def nodes(self, _: str, _alike: str = "", /) -> tuple[str, ...]:
        return self.site.nodes()

    def refusal(self, _: str, /) -> str:
        return ""

    def shortage(self, _: str, /) -> Shortage | None:
        return None if self.site.nodes() else Shortage("no node has answered yet")

    def silent(self) -> tuple[str, ...]:
        return ()

    def on_change(self, _: Callable[[], None]) -> None: ...

    def warm_up(self) -> None: ...

    def environment(self) -> Environment:
        return Environment()

    def close(self) -> None: ...


class FakeEngine(FakeSite):
    """Starts runs by remembering them; a test says when each ends. Torch for jobs of the seed `slow` is there at
    `release`.
    """

    def __init__(self, error: str = "", slow: int | None = None, ended_by: str | None = None) -> None:
        super().__init__()
        self.release = threading.Event()
        self._slow = slow
        self.started: list[Run] = []
        self.visitors: list[str] = []
        self.cancelled: list[Run] = []
        self._error = WorkerError(error, ended_by) if error else None

    def prepare(self, assignment: Assignment) -> None:
        if self.lacks(assignment):
            assert self.release.wait(WAIT_S)

    def lacks(self, assignment: Assignment) -> str:
        job = assignment.run.job()
        slow = job is not None and job.seed == self._slow and not self.release.is_set()
        return "torch for CUDA" if slow else ""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        self.site.begin(assignment, ended, self._error)
        self.visitors.append(assignment.by)
        self.started.append(assignment.run)

    def end(self, index: int, state: str = "done") -> None:
        self.site.finish(self.started[index], state)

    def die(self, index: int) -> None:
        """End a run whose supervisor has written no end."""
        self.end(index, KILLED)

    def cancel(self, run: Run) -> None:
        self.cancelled.append(run)
        self.site.cancel(run)


class SlowToSay(FakeEngine):
    """Says late that it has started a run."""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        super().start(assignment, ended)
        assert self.release.wait(WAIT_S)


class PromptEngine(FakeSite):
    """Ends each run at once as `outcome` says of it, or holds it until it is released or cancelled."""

    def __init__(self, outcome: Callable[[Run], str] = lambda run: "done", hold_after: int | None = None) -> None:
        super().__init__()
        self.outcome = outcome
        self.hold_after = hold_after
        self.started: list[Run] = []
        self.at_once: list[tuple[str, ...]] = []
        self._going: dict[str, Assignment] = {}
        self._lock = threading.Lock()

    def prepare(self, _: Assignment) -> None: ...

    def lacks(self, _: Assignment) -> str:
        return ""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        run = assignment.run
        self.site.begin(assignment, ended, None)
        with self._lock:
            self.started.append(run)
            self._going[run.id] = assignment
            self.at_once.append(tuple(going.device for going in self._going.values()))
        if self.hold_after is None or len(self.started) <= self.hold_after:
            threading.Thread(target=self.end, args=(run,), daemon=True).start()

    def end(self, run: Run, state: str = "") -> None:
        """End a run that goes."""
        with self._lock:
            if self._going.pop(run.id, None) is None:
                return
        state = state or self.outcome(run)
        signal, state = (state, "crashed") if state.startswith("SIG") else (None, state)
        self.site.finish(run, state, ENDS.get(state, ""), signal)

    def cancel(self, run: Run) -> None:
        self.site.cancel(run)
        self.end(run, "cancelled")


def until(condition: Callable[[], bool]) -> None:
    """Wait for something that a thread does."""
    deadline = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)

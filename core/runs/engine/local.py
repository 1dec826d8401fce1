"""The engine of this machine: fork servers, handles that name processes, and device locks in the home of the runs."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from core.base.errors import WorkerError
from core.base.machine import Environment
from core.job.targets import TARGETS
from core.runs.engine.forkserver import COMMAND, ForkServer
from core.runs.engine.handles import LocalLiveness, engine_of, supervisor_of
from core.runs.engine.messages import Probe, ProbeResult
from core.runs.engine.processes import end_tree
from core.runs.engine.protocol import Assignment
from core.runs.engine.turns import Turns
from core.runs.status import Status
from core.runs.store import Run

# Seconds that a supervisor has to end its run.
CANCEL_S = 2.0
# The torch that a fork server has imported, by the backend of its targets.
TORCH = {"": "torch", "cuda": "torch for CUDA", "hip": "torch for ROCm"}


class LocalEngine(LocalLiveness):
    """The fork servers on this machine: one for runs, and one for targets of each backend, started when first needed.

    None waits for another. `command` starts one of them, with its backend as an argument.
    """

    def __init__(self, cache_dir: Path, command: Sequence[str] = COMMAND) -> None:
        self._cache_dir = cache_dir
        self._command = command
        self._lock = threading.Lock()
        self._requesting = threading.Lock()
        self._servers: dict[str, ForkServer] = {}
        self._turns = Turns()
        # Path of a run → its supervisor; ended ones may be among them, never confused with a later process of their id.
        self._supervisors: dict[Path, psutil.Process] = {}
        self._environment: Environment | None = None
        self._closed = False

    def prepare(self, assignment: Assignment) -> None:
        """Start the fork server that an assignment needs, which may take minutes the first time."""
        self._server(_backend(assignment)).prepare()

    def lacks(self, assignment: Assignment) -> str:
        """Return the torch that must still be started for an assignment, empty if it runs."""
        backend = _backend(assignment)
        return "" if self._server(backend).ready else TORCH[backend]

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock its device, unless another server over the same home measures there."""
        return self._turns.take(assignment)

    def end_turn(self, run: Run) -> None:
        """Release the device lock of a run, if it has one."""
        self._turns.give_back(run)

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Fork a supervisor for the run; raises WorkerError if the fork server cannot be started."""
        run = assignment.run

        def over() -> None:
            self._supervisors.pop(run.path, None)
            ended()

        pid = self._server(_backend(assignment)).start(run, over)
        with contextlib.suppress(psutil.Error):
            self._supervisors[run.path] = psutil.Process(pid)

    def cancel(self, run: Run) -> None:
        """End a run through its supervisor; one that does not end it in time is killed, with all its descendants.

        Raises WorkerError for a run of another engine.
        """
        supervisor = self._supervisors.get(run.path) or _supervisor(run.status())
        if supervisor is None:
            return
        with contextlib.suppress(psutil.Error):
            supervisor.terminate()
            supervisor.send_signal(signal.SIGCONT)
            threading.Thread(target=_end_in_time, args=(supervisor,), daemon=True).start()

    def environment(self) -> Environment:
        """Return versions, devices and backends, requested once."""
        with self._requesting:
            if self._environment is None:
                self._environment = self._server("").request(Probe(), ProbeResult).environment
            return self._environment

    def warm_up(self) -> None:
        """Start the fork server and have the precompiled header built, in the background."""
        self._server("").warm_up()

    def close(self) -> None:
        """End the fork servers for good, with all their descendants."""
        with self._lock:
            self._closed = True
        for server in list(self._servers.values()):
            server.close()

    def _server(self, backend: str) -> ForkServer:
        with self._lock:
            if self._closed:
                raise WorkerError("the engine has been closed")
            if backend not in self._servers:
                self._servers[backend] = ForkServer(self._cache_dir, backend, self._command)
            return self._servers[backend]


def _supervisor(status: Status) -> psutil.Process | None:
    if name := engine_of(status.handle):
        raise WorkerError(f"the run belongs to the engine `{name}`; cancel it from a server that uses this engine")
    return supervisor_of(status)


def _end_in_time(supervisor: psutil.Process) -> None:
    with contextlib.suppress(psutil.TimeoutExpired):
        supervisor.wait(CANCEL_S)
        return
    end_tree(supervisor)


def _backend(assignment: Assignment) -> str:
    return TARGETS[assignment.target].backend if assignment.target in TARGETS else ""

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
from core.runs.engine.messages import Probe, Probed
from core.runs.engine.processes import end_tree
from core.runs.engine.protocol import Assignment
from core.runs.engine.turns import Turns
from core.runs.status import Status
from core.runs.store import Run

# What a keeper may take to end its run when it is asked to.
CANCEL_S = 2.0
# Which torch a fork server holds, by the backend of its targets.
TORCH = {"": "torch", "cuda": "torch for CUDA", "hip": "torch for ROCm"}


class LocalEngine(LocalLiveness):
    """The fork servers on this machine: one for runs, and one for targets of each backend, started when first needed.

    None waits for another. `command` starts one of them, which is told its backend.
    """

    def __init__(self, cache_dir: Path, command: Sequence[str] = COMMAND) -> None:
        self._cache_dir = cache_dir
        self._command = command
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._servers: dict[str, ForkServer] = {}
        self._turns = Turns()
        # By the path of their run; one that has ended may be among them, and is not confused with another of its id.
        self._keepers: dict[Path, psutil.Process] = {}
        self._environment: Environment | None = None
        self._closed = False

    def prepare(self, assignment: Assignment) -> None:
        """Start the fork server that it needs, which may take minutes the first time."""
        self._server(_backend(assignment)).prepare()

    def lacks(self, assignment: Assignment) -> str:
        """Which torch is still to be started for it."""
        backend = _backend(assignment)
        return "" if self._server(backend).ready else TORCH[backend]

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock its device, unless another server over the same home measures there."""
        return self._turns.take(assignment)

    def end_turn(self, run: Run) -> None:
        """Release the device lock of a run, if it has one."""
        self._turns.give_back(run)

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Fork a keeper for the run; raises WorkerError if the fork server cannot be started."""
        run = assignment.run

        def over() -> None:
            self._keepers.pop(run.path, None)
            ended()

        pid = self._server(_backend(assignment)).start(run, over)
        with contextlib.suppress(psutil.Error):
            self._keepers[run.path] = psutil.Process(pid)

    def cancel(self, run: Run) -> None:
        """End a run through its keeper; one that does not end it in time is killed, with all that came of it.

        Raises WorkerError for a run of another engine.
        """
        keeper = self._keepers.get(run.path) or _supervisor(run.status())
        if keeper is None:
            return
        with contextlib.suppress(psutil.Error):
            keeper.terminate()
            keeper.send_signal(signal.SIGCONT)
            threading.Thread(target=_end_in_time, args=(keeper,), daemon=True).start()

    def environment(self) -> Environment:
        """Versions, devices and backends, asked once."""
        with self._asking:
            if self._environment is None:
                self._environment = self._server("").ask(Probe(), Probed).environment
            return self._environment

    def warm_up(self) -> None:
        """Start the fork server and have the precompiled header built, in the background."""
        self._server("").warm_up()

    def close(self) -> None:
        """End the fork servers for good, and all that came of them."""
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


def _end_in_time(keeper: psutil.Process) -> None:
    with contextlib.suppress(psutil.TimeoutExpired):
        keeper.wait(CANCEL_S)
        return
    end_tree(keeper)


def _backend(assignment: Assignment) -> str:
    return TARGETS[assignment.target].backend if assignment.target in TARGETS else ""

"""Where runs are executed: the seam behind the Runner, and the fork servers of this machine.

All that crosses the seam is a run directory, which holds what is to be done, and the target that it is for.
`LocalEngine` is the engine for this machine; tests use a fake.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import psutil

from core.base.errors import WorkerError
from core.base.machine import Environment
from core.job.targets import TARGETS
from core.runs.engine.forkserver import COMMAND, ForkServer
from core.runs.engine.messages import Probe, Probed
from core.runs.engine.processes import end_tree
from core.runs.status import keeper_of
from core.runs.store import Run

# What a keeper may take to end its run when it is asked to.
CANCEL_S = 2.0
# Which torch a fork server holds, by the backend of its targets.
TORCH = {"": "torch", "cuda": "torch for CUDA", "hip": "torch for ROCm"}


@dataclass(frozen=True, slots=True)
class Assignment:
    """Something to do: a run directory, which holds a job or a tool's task, and the target that its code is for, if not
    for here; the device that it takes, whether it is measured there, and the visitor who submitted it.
    """

    run: Run
    target: str = ""
    device: str = "cpu"
    measures: bool = False
    by: str = ""


class Engine(Protocol):
    """Something that carries out an assignment, tells when it has ended, and can end it."""

    def prepare(self, assignment: Assignment) -> None:
        """Wait until it can be started; raises WorkerError if that cannot be."""

    def lacks(self, assignment: Assignment) -> str:
        """What `prepare` would have to start first, such as `torch for CUDA`; nothing once it is there."""

    def start(self, assignment: Assignment, ended: Callable[[], None]) -> None:
        """Start it; raises WorkerError. `ended` is called once, from any thread."""

    def cancel(self, run: Run) -> None:
        """Ask a started run to end, also one that another engine of this kind has started."""

    def warm_up(self) -> None:
        """Have ready what the first run will need, in the background."""

    def environment(self) -> Environment:
        """What torch there is and what it can do."""

    def close(self) -> None:
        """End everything that was started."""


class LocalEngine:
    """The fork servers on this machine: one for runs, and one for targets of each backend, started when first needed.

    None waits for another. `command` starts one of them, which is told its backend.
    """

    def __init__(self, cache_dir: Path, command: Sequence[str] = COMMAND) -> None:
        self._cache_dir = cache_dir
        self._command = command
        self._lock = threading.Lock()
        self._asking = threading.Lock()
        self._servers: dict[str, ForkServer] = {}
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
        """End a run through its keeper; one that does not end it in time is killed, with all that came of it."""
        keeper = self._keepers.get(run.path) or keeper_of(run.status())
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


def _end_in_time(keeper: psutil.Process) -> None:
    with contextlib.suppress(psutil.TimeoutExpired):
        keeper.wait(CANCEL_S)
        return
    end_tree(keeper)


def _backend(assignment: Assignment) -> str:
    return TARGETS[assignment.target].backend if assignment.target in TARGETS else ""

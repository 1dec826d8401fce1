"""Where runs are executed: the seam behind the Runner, and the fork servers of this machine.

All that crosses the seam is a run directory, which holds the job, and an id to cancel it by. `LocalEngine` is the engine for
this machine; tests use a fake.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import psutil

from core.errors import WorkerError
from core.forkserver import COMMAND, ForkServer
from core.processes import end_tree
from core.store import Run
from core.targets import TARGETS

# What a keeper may take to end its run when it is asked to.
CANCEL_S = 2.0
# Which torch a fork server holds, by the backend of its targets.
TORCH = {"": "torch", "cuda": "torch for CUDA", "hip": "torch for ROCm"}


class Engine(Protocol):
    """Something that starts the run of a run directory, tells when it has ended, and can end it."""

    def prepare(self, run: Run) -> None:
        """Wait until a run can be started; raises WorkerError if that cannot be."""

    def lacks(self, run: Run) -> str:
        """What `prepare` would have to start first for a run, such as `torch for CUDA`; nothing once it is there."""

    def start(self, run: Run, ended: Callable[[], None]) -> int:
        """Start a run; returns the id to cancel it by. `ended` is called once, from any thread."""

    def cancel(self, pid: int) -> None:
        """Ask a started run to end."""

    def environment(self) -> dict[str, Any]:
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
        self._environment: dict[str, Any] | None = None
        self._closed = False

    def prepare(self, run: Run) -> None:
        """Start the fork server of a run, which may take minutes the first time."""
        self._server(_backend(run)).prepare()

    def lacks(self, run: Run) -> str:
        """Which torch is still to be started for a run."""
        backend = _backend(run)
        return "" if self._server(backend).ready else TORCH[backend]

    def start(self, run: Run, ended: Callable[[], None]) -> int:
        """Fork a keeper for the run; raises WorkerError if the fork server cannot be started."""
        return self._server(_backend(run)).start(run, ended)

    def cancel(self, pid: int) -> None:
        """End a run through its keeper; one that does not end it in time is killed, with all that came of it."""
        with contextlib.suppress(psutil.Error):
            keeper = psutil.Process(pid)
            keeper.terminate()
            keeper.send_signal(signal.SIGCONT)
            threading.Thread(target=_end_in_time, args=(keeper,), daemon=True).start()

    def environment(self) -> dict[str, Any]:
        """Versions, devices and backends, asked once."""
        with self._asking:
            if self._environment is None:
                self._environment = self._server("").ask({"probe": True}, "environment")["environment"]
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


def _backend(run: Run) -> str:
    job = run.job()
    target = TARGETS.get(job.target) if job is not None else None
    return target.backend if target else ""

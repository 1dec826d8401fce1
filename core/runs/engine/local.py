"""Engine of this machine: fork servers, process handles, and device locks in the home of the runs.

All processes with one home share the device locks; a lock ends with its process.
"""

import contextlib
import errno
import fcntl
import os
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from core.base.errors import ClosedError, WorkerError
from core.base.files import OWNER_ALONE, in_words
from core.base.machine import Environment
from core.job.targets import TARGETS
from core.runs.engine.forkserver import COMMAND, ForkServer, Probe, ProbeResult
from core.runs.engine.queues import CPU, HERE, Assignment, Shortage
from core.runs.processes.handles import LocalLiveness, end_tree, engine_of, supervisor_of
from core.runs.status import Status
from core.runs.store import Run

# Seconds for a supervisor to end its run.
CANCEL_S = 2.0
# The torch that a fork server imports, by the backend of its targets.
TORCH = {"": "torch", "cuda": "torch for CUDA", "hip": "torch for ROCm"}
HELD = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)


class LocalEngine(LocalLiveness):
    """Fork servers on this machine: one for runs without a target, and one for each target backend.

    Each server starts when it is first needed. `command` is a server's command line, without the backend.
    """

    def __init__(self, cache_dir: Path, command: Sequence[str] = COMMAND) -> None:
        self._cache_dir = cache_dir
        self._command = command
        self._lock = threading.Lock()
        self._requesting = threading.Lock()
        self._servers: dict[str, ForkServer] = {}
        self._turns = Turns()
        # Path of a run → its supervisor; ended ones may remain, but are never confused with a later process of the same
        # id.
        self._supervisors: dict[Path, psutil.Process] = {}
        self._environment: Environment | None = None
        self._closed = False

    def nodes(self, _device: str, _alike: str = "", /) -> Sequence[str]:
        """Return this machine as the only node; its name is empty."""
        return HERE

    def refusal(self, _device: str, /) -> str:
        """Return an empty text: the run itself fails if torch does not have the device."""
        return ""

    def shortage(self, _device: str, /) -> Shortage | None:
        """Return None: this machine is always there."""
        return None

    def silent(self) -> Sequence[str]:
        """Return no names: this machine always answers."""
        return ()

    def on_change(self, _changed: Callable[[], None]) -> None:
        """Do nothing: there is only one node, and it does not change."""

    def prepare(self, assignment: Assignment) -> None:
        """Start the fork server for an assignment, which may take minutes the first time."""
        self._server(_backend(assignment)).prepare()

    def lacks(self, assignment: Assignment) -> str:
        backend = _backend(assignment)
        return "" if self._server(backend).ready else TORCH[backend]

    def take_turn(self, assignment: Assignment) -> bool:
        """Lock the assignment's device; return False if a lock of another server conflicts."""
        return self._turns.take(assignment)

    def end_turn(self, run: Run) -> None:
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
        """End a run through its supervisor, or kill it with all its descendants after a while."""
        supervisor = self._supervisors.get(run.path) or _supervisor(run.status())
        if supervisor is None:
            return
        with contextlib.suppress(psutil.Error):
            supervisor.terminate()
            supervisor.send_signal(signal.SIGCONT)
            threading.Thread(target=_end_in_time, args=(supervisor,), daemon=True).start()

    def environment(self) -> Environment:
        """Return versions, devices and backends; requested once and cached."""
        with self._requesting:
            if self._environment is None:
                self._environment = self._server("").request(Probe(), ProbeResult).environment
            return self._environment

    def warm_up(self) -> None:
        """Start the fork server and build the precompiled header, in the background."""
        self._server("").warm_up()

    def close(self) -> None:
        """End the fork servers permanently, with all their descendants."""
        with self._lock:
            self._closed = True
        for server in list(self._servers.values()):
            server.close()

    def _server(self, backend: str) -> ForkServer:
        with self._lock:
            if self._closed:
                raise ClosedError
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


class Turns:
    """Lock files in the home of the runs, one per device.

    A measured run locks its device exclusively; other runs share the lock. A run on an accelerator also shares
    the CPU's lock, so that nothing is measured on the CPU meanwhile. Within one server, the queues ensure
    exclusive use. If the file system has no locks, every device counts as free.
    """

    def __init__(self) -> None:
        self._files: dict[Path, contextlib.ExitStack] = {}

    def take(self, assignment: Assignment) -> bool:
        """Lock an assignment's devices; return False if another process's lock conflicts. Raises StoreError."""
        folder = assignment.run.path.parents[1] / "turns"
        with in_words(folder), contextlib.ExitStack() as locks:
            folder.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
            for device, mode in _needs(assignment).items():
                name = device.replace(":", "-")
                file = os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                locks.callback(os.close, file)
                if not _try_lock(file, mode):
                    return False
            self._files[assignment.run.path] = locks.pop_all()
        return True

    def give_back(self, run: Run) -> None:
        """Release the locks of a run, if it has any."""
        self._files.pop(run.path, contextlib.ExitStack()).close()


def _needs(assignment: Assignment) -> dict[str, int]:
    """Return the lock mode of each device for an assignment."""
    # FileLock is exclusive only, and its shared locks are SQLite databases; flock(2) has both modes in one empty file.
    mode = fcntl.LOCK_EX if assignment.measures else fcntl.LOCK_SH
    return {CPU: fcntl.LOCK_SH, assignment.device: mode}


def _try_lock(file: int, mode: int) -> bool:
    try:
        fcntl.flock(file, mode | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in HELD
    return True

"""Where runs are executed: the seam behind the Runner, and the fork servers of this machine.

All that crosses the seam is a run directory, which holds the job, and an id to cancel it by. `LocalEngine` is the engine for
this machine; tests use a fake.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from core.errors import WorkerError
from core.store import Run
from core.targets import TARGETS

START_LIMIT_S = 60.0
PROJECT_DIR = Path(__file__).resolve().parent.parent


class Engine(Protocol):
    """Something that starts the run of a run directory, tells when it has ended, and can end it."""

    def start(self, run: Run, ended: Callable[[], None]) -> int:
        """Start a run; returns the id to cancel it by. `ended` is called once, from any thread."""

    def cancel(self, pid: int) -> None:
        """Ask a started run to end."""

    def environment(self) -> dict[str, Any]:
        """What torch there is and what it can do."""

    def close(self) -> None:
        """End everything that was started."""


class LocalEngine:
    """The fork servers on this machine: one for runs, and one for targets of each backend, started when first needed."""

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._servers: dict[str, ForkServer] = {}
        self._environment: dict[str, Any] | None = None
        self._closed = False

    def start(self, run: Run, ended: Callable[[], None]) -> int:
        """Fork a keeper for the run; raises WorkerError if the fork server cannot be started."""
        job = run.job()
        target = TARGETS.get(job.target) if job is not None else None
        with self._lock:
            return self._server(target.backend if target else "").start(run, ended)

    def cancel(self, pid: int) -> None:
        """End a run through its keeper."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    def environment(self) -> dict[str, Any]:
        """Versions, devices and backends, asked once."""
        with self._lock:
            if self._environment is None:
                self._environment = self._server("").ask({"probe": True}, "environment")["environment"]
            return self._environment

    def warm_up(self) -> None:
        """Start the fork server and have the precompiled header built, in the background."""
        with self._lock:
            self._server("").warm_up()

    def close(self) -> None:
        """End the fork servers for good; the kernel tells their keepers."""
        self._closed = True
        for server in list(self._servers.values()):
            server.close()

    def _server(self, backend: str) -> ForkServer:
        if self._closed:
            raise WorkerError("the engine has been closed")
        if backend not in self._servers:
            self._servers[backend] = ForkServer(self._cache_dir, backend)
        return self._servers[backend]


class ForkServer:
    """One `python -m core.worker`, started when first asked and again if it dies; `backend` is that of its targets."""

    def __init__(self, cache_dir: Path, backend: str = "") -> None:
        self._cache_dir = cache_dir
        self._backend = backend
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None
        self._answers: deque[dict[str, Any]] = deque()
        self._answered = threading.Condition()
        self._ended: dict[int, Callable[[], None]] = {}
        self._ended_early: set[int] = set()
        self._closed = False

    def start(self, run: Run, ended: Callable[[], None]) -> int:
        """Fork a keeper for the run; raises WorkerError."""
        pid = int(self.ask({"run": str(run.path)}, "started")["pid"])
        with self._answered:
            self._ended[pid] = ended
            early = pid in self._ended_early
        if early:
            self._end(pid)
        return pid

    def warm_up(self) -> None:
        """Have the precompiled header built, in the background."""
        pid = int(self.ask({"warm_up": True}, "warming")["warming"])
        with self._answered:
            self._ended[pid] = lambda: None

    def ask(self, request: dict[str, Any], answer: str) -> dict[str, Any]:
        """Send a request and wait for the answer that has the given key; raises WorkerError."""
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except (OSError, ValueError):
            raise WorkerError("the fork server ended; see the log of the dashboard, then try again") from None
        return self._wait_for(answer, process)

    def close(self) -> None:
        """End it for good."""
        self._closed = True
        if self._process is not None:
            _stop(self._process)
        if self._listener is not None:
            self._listener.join(5)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        if self._process is not None:
            _stop(self._process)
        if self._closed:
            raise WorkerError("the engine has been closed")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.worker", *filter(None, [self._backend])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=_environment(self._cache_dir),
            cwd=PROJECT_DIR,
            start_new_session=True,
        )
        self._answers.clear()
        self._ended_early.clear()
        self._listener = threading.Thread(target=self._listen, args=(self._process,), daemon=True)
        self._listener.start()
        if self._closed:
            _stop(self._process)
        self._wait_for("ready", self._process)
        return self._process

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                answer = json.loads(line)
                if "ended" in answer:
                    self._end(int(answer["ended"]))
                    continue
                with self._answered:
                    self._answers.append(answer)
                    self._answered.notify_all()
        with self._answered:
            self._answers.append({"over": True})
            self._answered.notify_all()
        for pid in list(self._ended):
            self._end(pid)

    def _end(self, pid: int) -> None:
        """Tell of an end in a thread of its own: what is done then may ask the fork server, and only this one listens."""
        with self._answered:
            ended = self._ended.pop(pid, None)
            if ended is None:
                self._ended_early.add(pid)
                return
            self._ended_early.discard(pid)
        threading.Thread(target=ended, daemon=True).start()

    def _wait_for(self, answer: str, process: subprocess.Popen[bytes]) -> dict[str, Any]:
        def there() -> bool:
            return any(answer in item or "over" in item for item in self._answers) or process.poll() is not None

        with self._answered:
            self._answered.wait_for(there, START_LIMIT_S)
            found = next((item for item in self._answers if answer in item), None)
            failed = next((item["failed"] for item in self._answers if "failed" in item), "")
            if failed:
                raise WorkerError(failed)
            if found is None:
                raise WorkerError("torch could not be started; run `python -m core.worker` to see why")
            self._answers.remove(found)
            return found


def _environment(cache_dir: Path) -> dict[str, str]:
    environment = {
        **os.environ,
        "COMPILEBOARD_CACHE": str(cache_dir),
        "TORCHINDUCTOR_CACHE_DIR": str(cache_dir / "inductor"),
        "TRITON_CACHE_DIR": str(cache_dir / "triton"),
        "TORCH_WARM_POOL": "0",
        "OPENBLAS_NUM_THREADS": "1",
        # Asking the CUDA driver whether there is a device would spoil every fork; NVML can be asked safely.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "PYTHONPATH": os.pathsep.join(filter(None, [str(PROJECT_DIR), os.environ.get("PYTHONPATH", "")])),
    }
    for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG"):
        environment.pop(name, None)
    return environment


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Close the fork server's input, which ends it; one that does not listen yet is killed."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()
    try:
        process.wait(1)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

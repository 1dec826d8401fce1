"""Where runs are executed: the seam behind the Runner, and the fork server of this machine.

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
    """The fork server on this machine, started when first needed and again if it dies."""

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None
        self._answers: deque[dict[str, Any]] = deque()
        self._answered = threading.Condition()
        self._ended: dict[int, Callable[[], None]] = {}
        self._ended_early: set[int] = set()
        self._environment: dict[str, Any] | None = None
        self._closed = False

    def start(self, run: Run, ended: Callable[[], None]) -> int:
        """Fork a keeper for the run; raises WorkerError if the fork server cannot be started."""
        with self._lock:
            pid = int(self._ask({"run": str(run.path)}, "started")["pid"])
            with self._answered:
                self._ended[pid] = ended
                early = pid in self._ended_early
            if early:
                self._end(pid)
            return pid

    def cancel(self, pid: int) -> None:
        """End a run through its keeper."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)

    def environment(self) -> dict[str, Any]:
        """Versions, devices and backends, asked once."""
        with self._lock:
            if self._environment is None:
                self._environment = self._ask({"probe": True}, "environment")["environment"]
            return self._environment

    def warm_up(self) -> None:
        """Start the fork server and have the precompiled header built, in the background."""
        with self._lock:
            pid = int(self._ask({"warm_up": True}, "warming")["warming"])
        with self._answered:
            self._ended[pid] = lambda: None

    def close(self) -> None:
        """End the fork server for good; the kernel tells its keepers."""
        self._closed = True
        if self._process is not None:
            _stop(self._process)
        if self._listener is not None:
            self._listener.join(5)

    def _ask(self, request: dict[str, Any], answer: str) -> dict[str, Any]:
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
        except (OSError, ValueError):
            raise WorkerError("the fork server ended; see the log of the dashboard, then try again") from None
        return self._wait_for(answer, process)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        if self._process is not None:
            _stop(self._process)
        if self._closed:
            raise WorkerError("the engine has been closed")
        environment = {
            **os.environ,
            "TORCHINDUCTOR_CACHE_DIR": str(self._cache_dir / "inductor"),
            "TRITON_CACHE_DIR": str(self._cache_dir / "triton"),
            "TORCH_WARM_POOL": "0",
            "OPENBLAS_NUM_THREADS": "1",
            # Asking the CUDA driver whether there is a device would spoil every fork; NVML can be asked safely.
            "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, [str(PROJECT_DIR), os.environ.get("PYTHONPATH", "")])),
        }
        for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG"):
            environment.pop(name, None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "core.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
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
            return any(answer in item for item in self._answers) or process.poll() is not None

        with self._answered:
            self._answered.wait_for(there, START_LIMIT_S)
            found = next((item for item in self._answers if answer in item), None)
            if found is None:
                raise WorkerError("torch could not be started; run `python -m core.worker` to see why")
            self._answers.remove(found)
            return found


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

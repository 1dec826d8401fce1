"""Client of a fork server: its process, requests to it, and its last error lines.

`core.worker.forkserver` is the server. Messages are one JSON object a line, with the class name in `type`:

→ Start        ← StartMessage, or FailureMessage; later EndMessage
→ Probe        ← ProbeResult
→ WarmUp       ← StartMessage; later EndMessage

The server's first message is Ready, or FailureMessage before it ends. It sends Alive every second.
"""

import contextlib
import os
import secrets
import signal
import subprocess
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import ClosedError, DecodeError, WorkerError
from core.base.machine import PROJECT_DIR, Environment, own_process, python_path
from core.runs.processes.handles import MARK, PARENT, end_groups, end_with_mark, groups_of, resume
from core.runs.store import Run


class Start(msgspec.Struct, frozen=True, tag=True):
    """Request to fork the supervisor of a run directory.

    `run` is the directory's path, `id` the run's id. On a node, the directory's name differs from the id.
    """

    run: str
    id: str


class Probe(msgspec.Struct, frozen=True, tag=True):
    """Request for torch's capabilities on this machine."""


class WarmUp(msgspec.Struct, frozen=True, tag=True):
    """Request to build the precompiled header of C++ kernels in a separate process."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """Message that the fork server has imported torch and accepts requests."""


class FailureMessage(msgspec.Struct, frozen=True, tag=True):
    """Message that a request failed, with the reason."""

    why: str


class StartMessage(msgspec.Struct, frozen=True, tag=True):
    """Message that a process was forked."""

    pid: int


class ProbeResult(msgspec.Struct, frozen=True, tag=True):
    """Versions, devices and backends of torch on this machine."""

    environment: Environment


class EndMessage(msgspec.Struct, frozen=True, tag=True):
    """Message that a forked process has ended, with all its descendants."""

    pid: int


class Alive(msgspec.Struct, frozen=True, tag=True):
    """Message that the fork server isn't hanging."""


Request = Start | Probe | WarmUp
Answer = Ready | FailureMessage | StartMessage | ProbeResult | EndMessage | Alive


def written(message: Request | Answer) -> bytes:
    """Return a message as one line of JSON."""
    return msgspec.json.encode(message) + b"\n"


def request(line: bytes) -> Request:
    """Parse a request line; raises DecodeError."""
    parsed: Request = decoded_as(line, Request)
    return parsed


def answer(line: bytes) -> Answer:
    """Parse a result line; raises DecodeError."""
    parsed: Answer = decoded_as(line, Answer)
    return parsed


COMMAND = own_process("core.worker")
POLL_S = 1.0
# A fork server reports every second. One without a report for so many polls of this process is hanging.
SILENT_POLLS = 20
# Seconds to end its forked processes, and seconds for these to end by themselves if it was killed.
CLOSE_S, PATIENCE_S = 6.0, 2.0
LAST_LINES, MAX_WORDS = 3, 600
A = TypeVar("A", bound=Answer)


class ForkServer:
    """A `python -m core.worker` process; a request starts the process if it is not running.

    The process handles one request at a time; the client waits for the result as long as the process lives. A
    stopped process is resumed, and a hanging one is killed with all its descendants. `backend` is the backend of
    the runs' targets, empty for runs without a target.
    """

    def __init__(
        self, cache_dir: Path, backend: str = "", command: Sequence[str] = COMMAND, silent_polls: int = SILENT_POLLS
    ) -> None:
        self._cache_dir = cache_dir
        self._silent_polls = silent_polls
        self._command = [*command, *filter(None, [backend])]
        self._requesting = threading.Lock()
        self._ready = False
        self._hung = False
        self._heard = threading.Event()
        self._words: LastWords | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._listener: threading.Thread | None = None
        # Results that are not read yet; the last is None after the process has ended.
        self._answers: deque[Answer | None] = deque()
        self._answered = threading.Condition()
        self._ended: dict[int, Callable[[], None]] = {}
        self._ended_early: set[int] = set()
        self._closed = False

    @property
    def ready(self) -> bool:
        """Return True if the process has imported torch and accepts requests."""
        return self._ready and self._process is not None and self._process.poll() is None

    def prepare(self) -> None:
        """Start the process if it is not running; raises WorkerError with its last error lines."""
        with self._requesting:
            self._running()

    def start(self, run: Run, ended: Callable[[], None]) -> int:
        """Fork a supervisor for the run, and return its process id; raises WorkerError.

        `ended` is called in a new thread after the supervisor has ended.
        """
        pid = self._request_start(run).pid
        with self._answered:
            self._ended[pid] = ended
            early = pid in self._ended_early
        # A fork server that died just now may have reported all ends before this run was registered.
        if early or not self.ready:
            self._end(pid)
        return pid

    def _request_start(self, run: Run) -> StartMessage:
        """Request a supervisor; if the fork server dies first, request it once from a new fork server."""
        message = Start(str(run.path), run.id)
        try:
            return self.request(message, StartMessage)
        except WorkerError:
            # All that a dead fork server has forked was ended before.
            was_lost = self._ready and not self.ready and not self._closed
            if not was_lost or run.written_status().state != "queued":
                raise
        return self.request(message, StartMessage)

    def warm_up(self) -> None:
        """Build the precompiled header of C++ kernels in the background; raises WorkerError."""
        pid = self.request(WarmUp(), StartMessage).pid
        with self._answered:
            self._ended[pid] = lambda: None

    def request(self, request: Request, kind: type[A]) -> A:
        """Send a request and wait for its result, of type `kind`; raises WorkerError."""
        with self._requesting:
            process = self._running()
            assert process.stdin is not None
            with contextlib.suppress(OSError, ValueError):
                process.stdin.write(written(request))
                process.stdin.flush()
            return self._wait_for(kind, process)

    def close(self) -> None:
        """End the process permanently."""
        self._closed = True
        self._stop()

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        if self._closed:
            raise ClosedError
        self._ready = self._hung = False
        mark = secrets.token_hex(8)
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**_environment(self._cache_dir), MARK: mark, PARENT: str(os.getpid())},
            cwd=PROJECT_DIR,
            start_new_session=True,
        )
        self._words = LastWords(self._process)
        self._answers.clear()
        self._ended_early.clear()
        watcher = threading.Thread(target=self._watch, args=(self._process, mark), daemon=True)
        self._listener = threading.Thread(target=self._listen, args=(self._process, watcher), daemon=True)
        watcher.start()
        self._listener.start()
        if self._closed:
            self._stop()
        self._wait_for(Ready, self._process)
        self._ready = True
        return self._process

    def _stop(self) -> None:
        """Close the process's input, which ends the process; kill it if it does not end."""
        if self._process is None or self._process.stdin is None or self._listener is None:
            return
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        try:
            self._process.wait(CLOSE_S if self._ready else POLL_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._listener.join()

    def _watch(self, process: subprocess.Popen[bytes], mark: str) -> None:
        """Resume the process if stopped, kill it if it hangs, and end its remaining descendants.

        The process hangs if it sends nothing for `silent_polls` polls. Polls are counted instead of seconds, since no
        poll happens while Compileboard itself is stopped.
        """
        silent = 0
        while process.poll() is None:
            resume(process.pid)
            silent = 0 if self._heard.wait(POLL_S) or not self._ready else silent + 1
            self._heard.clear()
            if silent > self._silent_polls:
                self._hung = True
                process.kill()
        end_with_mark(mark, PATIENCE_S)
        end_groups(groups_of(mark))

    def _listen(self, process: subprocess.Popen[bytes], watcher: threading.Thread) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self._heard.set()
                # A process killed while writing leaves half a line.
                with contextlib.suppress(DecodeError):
                    self._take(answer(line))
        process.wait()
        self._heard.set()
        watcher.join()
        with self._answered:
            self._answers.append(None)
            self._answered.notify_all()
        for pid in list(self._ended):
            self._end(pid)

    def _take(self, message: Answer) -> None:
        if isinstance(message, EndMessage):
            self._end(message.pid)
        elif not isinstance(message, Alive):
            with self._answered:
                self._answers.append(message)
                self._answered.notify_all()

    def _end(self, pid: int) -> None:
        """Call the callback of an ended process in a new thread.

        The callback may send a request, which needs the calling thread to read its result. If the process has no
        callback yet, its end is remembered for `start`.
        """
        with self._answered:
            ended = self._ended.pop(pid, None)
            if ended is None:
                self._ended_early.add(pid)
                return
            self._ended_early.discard(pid)
        threading.Thread(target=ended, daemon=True).start()

    def _wait_for(self, kind: type[A], process: subprocess.Popen[bytes]) -> A:
        def has_answer() -> bool:
            return any(answer is None or isinstance(answer, (kind, FailureMessage)) for answer in self._answers)

        with self._answered:
            while not self._answered.wait_for(has_answer, POLL_S):
                pass
            result = next((message for message in self._answers if isinstance(message, kind)), None)
            failed = next((message for message in self._answers if isinstance(message, FailureMessage)), None)
            if (received := result or failed) is not None:
                self._answers.remove(received)
        if result is None:
            if failed:
                raise WorkerError(failed.why)
            if self._closed:
                raise ClosedError
            raise WorkerError(self._end_in_words(process), signal_of(process.wait()))
        return result

    def _end_in_words(self, process: subprocess.Popen[bytes]) -> str:
        """Return why the fork server ended: it hung, its last error lines, or its exit code or signal."""
        assert self._words is not None
        if self._hung:
            return "the fork server hung and was ended; try again"
        code = process.wait()
        how = f"was ended by {signal_of(code)}" if code < 0 else f"ended with exit code {code}"
        message = self._words.read() or f"its process {how}"
        return (
            f"the fork server ended; try again: {message}" if self._ready else f"torch could not be started: {message}"
        )


def signal_of(exit_code: int) -> str | None:
    """Return the name of the signal that ended a process; None if the process exited."""
    if exit_code >= 0:
        return None
    try:
        return signal.Signals(-exit_code).name
    except ValueError:
        return f"signal {-exit_code}"


class LastWords:
    """The last lines of a process's standard error. All lines are also copied to our standard error."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._thread = threading.Thread(target=self._pass_on, args=(process,), daemon=True)
        self._thread.start()

    def read(self) -> str:
        """Return the last nonempty lines, after the process has ended."""
        self._thread.join(POLL_S)
        return " · ".join(self._lines)[-MAX_WORDS:]

    def _pass_on(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for line in lines:
                with contextlib.suppress(OSError):
                    os.write(2, line)
                if text := line.decode(errors="replace").strip():
                    self._lines.append(text)


def _environment(cache_dir: Path) -> dict[str, str]:
    environment = {
        **os.environ,
        "COMPILEBOARD_CACHE": str(cache_dir),
        "TORCHINDUCTOR_CACHE_DIR": str(cache_dir / "inductor"),
        "TRITON_CACHE_DIR": str(cache_dir / "triton"),
        "TORCH_WARM_POOL": "0",
        "OPENBLAS_NUM_THREADS": "1",
        # A query of the CUDA driver for devices would break every fork; a query of NVML is safe.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        "PYTHONPATH": python_path(),
    }
    for name in ("TORCH_TRACE", "TORCH_LOGS", "TORCH_COMPILE_DEBUG"):
        environment.pop(name, None)
    return environment

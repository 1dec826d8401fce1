"""A process that is forked before torch starts threads; it runs each task in a separate process.

If a library crashes its process or never returns, only the task fails, not the run.
"""

import json
import math
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Generic, TypeVar

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.words import limit_s
from core.report.places import Record
from core.runs.processes.handles import follow_parent

Task = TypeVar("Task")
Result = TypeVar("Result", bound=Record)
MAX_REASON_CHARS = 400  #: the reason of a failed task in a separate process
POLL_S = 0.2
ENDED = "its process ended before it was done"
NO_TIME = "the run had no time left for it"


class StandBy(Generic[Task, Result]):
    """A standby process that does `work` for each task on request, and sends the records back.

    `failed` makes the record of a task without a result, from the task and the reason.
    """

    def __init__(
        self,
        tasks: Sequence[Task],
        kind: type[Result],
        work: Callable[[Task], Result],
        failed: Callable[[Task, str], Result],
    ) -> None:
        self._tasks, self._kind, self._work, self._failed = tasks, kind, work, failed
        request, self._ask = os.pipe()
        self._answers, answer = os.pipe()
        self._pid = forked(lambda: self._serve(request, answer))
        os.close(request)
        os.close(answer)

    def results(self, most_s: float = math.inf, task_s: float = math.inf) -> Iterator[Result]:
        """Yield each task's record at its end; all take at most `most_s` seconds, each at most `task_s`."""
        lines = self._lines(f"{time.monotonic() + most_s} {task_s}")
        for task in self._tasks:
            yield self._read(next(lines, b"")) or self._failed(task, ENDED)

    def _lines(self, request: str) -> Iterator[bytes]:
        """Yield the answer to each task; it is empty if user code ended the process or closed the pipe."""
        try:
            os.write(self._ask, request.encode())
            with os.fdopen(self._answers, "rb") as answers:
                yield from (answers.readline() for _ in self._tasks)
        except OSError:
            return
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    def _read(self, line: bytes) -> Result | None:
        try:
            return decoded_as(line, self._kind)
        except DecodeError:
            return None

    def _serve(self, request: int, answer: int) -> None:
        """Wait for the run's request, then send the record of each task; do nothing if the run ends first."""
        os.close(self._ask)
        limits = os.read(request, 200).split()
        if not limits:
            return
        deadline, task_s = map(float, limits)
        silent = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silent, 1)
        os.dup2(silent, 2)
        for task in self._tasks:
            line, reason = self._attempt(task, answer, min(task_s, deadline - time.monotonic()))
            left = line or _line(self._failed(task, reason))
            while left:
                left = left[os.write(answer, left) :]

    def _attempt(self, task: Task, answer: int, most_s: float) -> tuple[bytes, str]:
        """Run a task in a separate process; return its line, or an empty line and the reason."""
        if most_s <= 0:
            return b"", NO_TIME
        reading, writing = os.pipe()

        def alone() -> None:
            # A process that outlives this one must not hold the run's end of the pipe.
            os.close(answer)
            os.close(reading)
            with os.fdopen(writing, "wb") as file:
                file.write(self._line_of(task))

        pid = forked(alone)
        os.close(writing)
        try:
            return _awaited(reading, pid, most_s)
        finally:
            os.close(reading)

    def _line_of(self, task: Task) -> bytes:
        try:
            return _line(self._work(task))
        except BaseException as error:
            return _line(self._failed(task, f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS]))


def forked(task: Callable[[], None]) -> int:
    """Run a task in a child process, and return its id; the child is killed when this process ends."""
    me = os.getpid()
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        follow_parent(me, signal.SIGKILL)
        task()
        code = 0
    finally:
        os._exit(code)


def _line(record: Record) -> bytes:
    return json.dumps(asdict(record)).encode() + b"\n"  # type: ignore[call-overload]


def _awaited(reading: int, pid: int, most_s: float) -> tuple[bytes, str]:
    """Return the line that a process writes, or an empty line and the reason; end the process."""
    data, deadline = b"", time.monotonic() + most_s
    reason, status = "", None
    while not data.endswith(b"\n") and time.monotonic() < deadline:
        part = os.read(reading, 65_536) if select.select([reading], [], [], POLL_S)[0] else None
        data += part or b""
        if not part and (status := _exit_status(pid, part == b"")) is not None:
            reason = _ending(status)
            break
    if status is None:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if data.endswith(b"\n"):
        return data, ""
    return b"", reason or f"it took longer than {limit_s(round(most_s))}"


def _exit_status(pid: int, wait: bool) -> int | None:
    """Return the exit status of a process from `os.waitpid`; None if it has not ended."""
    ended, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
    return status if ended else None


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return f"its process crashed: signal {-code} ({signal.strsignal(-code)})"
    return f"its process ended with exit code {code}"

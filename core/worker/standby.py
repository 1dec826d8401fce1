"""Work before all runs: MKL's functions, Inductor's header, and a process that is forked before torch starts threads.

Code of a library may end its process by a signal, or never return: that costs its task, and not the run.

The header takes 10–18 s the first time on a machine, while the user is still choosing. Torch's builder of compiled
objects is wrapped for all runs, so that it builds a broken object again, and its builder of headers, so that it looks
once whether a header has changed.
"""

from __future__ import annotations

import json
import math
import os
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch._inductor import codecache
from torch.utils._filelock import FileLock

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.base.files import regular
from core.base.words import limit_s
from core.report.places import Record
from core.runs.engine.processes import follow_parent

Task = TypeVar("Task")
Result = TypeVar("Result", bound=Record)
MAX_REASON_CHARS = 400
POLL_S = 0.2
ENDED = "its process ended before it was done"
NO_TIME = "the run had no time left for it"


class StandBy(Generic[Task, Result]):
    """Does `work` for each of some tasks on request, and returns its records.

    `failed` returns the record of a task that has none, with the reason.
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
        """Yield the record of each task as soon as there is one; errors are part of a record.

        All tasks together take at most `most_s` seconds, and a single one `task_s`.
        """
        lines = self._lines(f"{time.monotonic() + most_s} {task_s}")
        for task in self._tasks:
            yield self._read(next(lines, b"")) or self._failed(task, ENDED)

    def _lines(self, request: str) -> Iterator[bytes]:
        """Yield a line for each task; fewer if the user's code ended the process or closed the pipe."""
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
        """Wait until the run requests the tasks, or ends without a request."""
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
        """Return the line of a task's process, or why there is none."""
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
    """Run a task in a separate process, which is killed when this one ends."""
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
    """Return the line that a process writes, or why it wrote none; the process is ended."""
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
    """Return how a process ended, as `os.waitpid` reports it; None if it has not ended."""
    ended, status = os.waitpid(pid, 0 if wait else os.WNOHANG)
    return status if ended else None


def _ending(status: int) -> str:
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return f"its process crashed: signal {-code} ({signal.strsignal(-code)})"
    return f"its process ended with exit code {code}"


# Functions that ATen calls in MKL's vector math: IMPLEMENT_VML_MKL in its header vml.h.
VECTOR_MATH = (
    *("acos", "asin", "atan", "cos", "erf", "erfc", "erfinv", "exp", "log", "log10", "log2"),
    *("sin", "sqrt", "tan", "tanh", "trunc"),
)
# A header with the compiler's options → its file: what this process, or one it was forked from, has precompiled.
HEADERS: dict[str, str] = {}
ELF_HEADER_BYTES = 64
# Place of the section headers in a file of 64 bits: their offset, the size of each, and their number.
SECTIONS = ((40, 48), (58, 60), (60, 62))


def resolve_vector_math() -> None:
    """Call each function of MKL's vector math once, on one element, so that forked processes inherit MKL's choice.

    MKL chooses a function's kernel at its first call. If several threads make that call at once, one of them may use a
    kernel of low accuracy for its part (pytorch/pytorch issue 188792). One element needs no other thread.
    """
    for dtype in (torch.float32, torch.float64):
        value = torch.full((1,), 0.5, dtype=dtype)
        for name in VECTOR_MATH:
            getattr(value, name)()


def warm_up() -> dict[str, str]:
    """Compile the smallest possible C++ kernel; return the headers that this has precompiled."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    torch.compile(lambda x: x.sin() + 1)(torch.ones(64))
    return HEADERS


def remember_headers() -> None:
    """Have torch preprocess and hash a header once, and not in each run: 0.2 s of CPU."""
    precompile = getattr(codecache, "_precompile_header", None)
    if precompile is None:
        return

    def remembered(*args: str, **options: Any) -> str:
        key = repr((args, sorted(options.items())))
        if not os.path.exists(HEADERS.get(key, "")):
            HEADERS[key] = precompile(*args, **options)
        return HEADERS[key]

    codecache._precompile_header = remembered


def rebuild_broken_objects() -> None:
    """Have torch build an object again if its build was killed: torch loads any file of the right name.

    A cancelled or ended run leaves such a file in the shared cache, empty or cut off.
    """
    build = codecache._worker_compile_cpp

    def build_whole(lock_path: str, builders: Sequence[Any], *more: Any) -> None:
        # Whoever has the lock is building: its file is not whole yet.
        with FileLock(lock_path, timeout=codecache.LOCK_TIMEOUT):
            for path in (Path(builder.get_target_file_path()) for builder in builders):
                if is_broken(path):
                    path.unlink()
        build(lock_path, builders, *more)

    codecache._worker_compile_cpp = build_whole


def is_broken(path: Path) -> bool:
    """Return True if a built file is empty, or an ELF file that ends before its section headers."""
    status = regular(path)
    if status is None or path.suffix not in (".so", ".o"):
        return False
    with path.open("rb") as file:
        header = file.read(ELF_HEADER_BYTES)
    if not header.strip(b"\0"):
        return True
    if not header.startswith(b"\x7fELF"):
        return False
    offset, size, count = (int.from_bytes(header[start:end], "little") for start, end in SECTIONS)
    return len(header) < ELF_HEADER_BYTES or status.st_size < offset + size * count

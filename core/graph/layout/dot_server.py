"""Persistent dot process, since starting one takes longer than most layouts; killed at the time limit."""

from __future__ import annotations

import os
import select
import subprocess
from functools import lru_cache
from pathlib import Path
from threading import Lock
from time import monotonic
from weakref import finalize

CHILD = Path(__file__).with_name("dot_process.py")
START_S = 10.0
CHUNK_BYTES = 1 << 20

Process = subprocess.Popen[bytes]


class DotError(Exception):
    """dot gave no layout: timeout, not installed, or crashed."""

    def __init__(self, message: str, out_of_time: bool = False) -> None:
        super().__init__(message)
        self.out_of_time = out_of_time


class DotServer:
    """A dot process shared by all threads; lays out one graph at a time."""

    def __init__(self, executable: str) -> None:
        self._command = [executable, "-P", str(CHILD)]
        self._lock = Lock()
        self._process: Process | None = None
        self._ready = False

    def ask(self, text: str, budget_s: float) -> bytes:
        """Return Graphviz's JSON for a graph.

        Raises DotError. The process's start does not count toward the budget.
        """
        with self._lock:
            process = self._started()
            try:
                return _exchange(process, text.encode(), monotonic() + budget_s)
            except (OSError, DotError) as error:
                end(process)
                self._start()
                raise error if isinstance(error, DotError) else _broken() from error

    def _started(self) -> Process:
        if self._process is None or self._process.poll() is not None:
            self._start()
        process = self._process
        if process is None:
            raise _broken()
        if not self._ready:
            _read(process, monotonic() + START_S)
            self._ready = True
        return process

    def _start(self) -> None:
        """Start a process without waiting until it is ready: after a kill, the next layout waits for it."""
        self._process, self._ready = None, False
        try:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, bufsize=0
            )
        except OSError:
            return
        finalize(self, end, self._process)


@lru_cache(maxsize=1)
def dot_server(executable: str) -> DotServer:
    """Return the single server that runs with this Python."""
    return DotServer(executable)


def end(process: Process) -> None:
    """Kill a process and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _exchange(process: Process, text: bytes, deadline: float) -> bytes:
    assert process.stdin is not None
    message = b"%d\n%b" % (len(text), text)
    while message:
        message = message[process.stdin.write(message) :]
    return _read(process, deadline)


def _read(process: Process, deadline: float) -> bytes:
    """Return one message from the process; raises DotError after the deadline or if the process ended."""
    assert process.stdout is not None
    pipe = process.stdout.fileno()
    message = bytearray()
    length: int | None = None
    while length is None or len(message) < length:
        left = deadline - monotonic()
        if left <= 0 or not select.select([pipe], [], [], left)[0]:
            raise DotError("dot did not finish", out_of_time=True)
        chunk = os.read(pipe, CHUNK_BYTES)
        if not chunk:
            raise _broken()
        message += chunk
        if length is None and b"\n" in message:
            header, _, rest = message.partition(b"\n")
            length, message = int(header), rest
    return bytes(message)


def _broken() -> DotError:
    return DotError("dot failed (is pygraphviz installed?)")

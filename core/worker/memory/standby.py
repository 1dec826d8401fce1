"""Process forked before the run starts, which waits for a request to measure memory.

It has no thread and no model, so each side that it forks starts fresh and may use torch's threads. The request comes
last, after the timing; until then the process uses almost no resources. It ends with the run.
"""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from itertools import takewhile
from typing import get_args

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.report import MemorySide
from core.report.records.run import MemoryRecord
from core.runs.engine.processes import follow_parent

MAX_REASON_CHARS = 400
LAST = b"\n"
ENDED = "the process that measured it ended before it was done"
SIDES: tuple[MemorySide, ...] = get_args(MemorySide)
Measure = Callable[[MemorySide], MemoryRecord]


class StandBy:
    """Measures each side in a separate process, on request."""

    def __init__(self, measure: Measure) -> None:
        asked, self._ask = os.pipe()
        self._answers, answer = os.pipe()
        self._pid = _forked(lambda: _wait(asked, answer, self._ask, measure))
        os.close(asked)
        os.close(answer)

    def measured(self) -> Iterator[MemoryRecord]:
        """Yield the records of both sides; errors are part of a record."""
        found = {record.side: record for record in self._said()}
        for side in SIDES:
            yield found.get(side) or MemoryRecord(side=side, reason=ENDED)

    def _said(self) -> list[MemoryRecord]:
        """Return the records of the sides; empty if the user's code ended the process or closed the pipe."""
        try:
            os.write(self._ask, b".")
            with os.fdopen(self._answers, "rb") as answers:
                lines = list(takewhile(lambda line: line != LAST, answers))
        except OSError:
            return []
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)
        return [record for record in map(_record, lines) if record]


def failed(side: MemorySide, error: BaseException) -> MemoryRecord:
    """Return the record of a side that could not be measured, with the reason."""
    return MemoryRecord(side=side, reason=f"{type(error).__name__}: {error}"[:MAX_REASON_CHARS])


def _record(line: bytes) -> MemoryRecord | None:
    """Return a side's record; None for an incomplete line."""
    try:
        return decoded_as(line, MemoryRecord)
    except DecodeError:
        return None


def _forked(task: Callable[[], None]) -> int:
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


def _wait(request: int, answer: int, request_fd: int, measure: Measure) -> None:
    """Wait until the run requests the measurement, or ends without a request."""
    os.close(request_fd)
    if not os.read(request, 1):
        return
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    for side in SIDES:
        os.waitpid(_forked(lambda side=side: _say(answer, side, measure)), 0)  # type: ignore[misc]
    os.write(answer, LAST)


def _say(answer: int, side: MemorySide, measure: Measure) -> None:
    """Measure one side and write its record, a line."""
    try:
        record = measure(side)
    except BaseException as error:
        record = failed(side, error)
    with os.fdopen(answer, "wb") as answers:
        answers.write(json.dumps(asdict(record)).encode() + b"\n")

"""Memory of both sides of a run on request; on a CPU each side is measured in a standby process."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict
from itertools import takewhile
from pathlib import Path
from typing import get_args

from core.base.decoder import decoded_as
from core.base.errors import DecodeError
from core.job import CompileJob
from core.report import MemorySide
from core.report.records.run import MemoryRecord
from core.runs.engine.processes import follow_parent
from core.worker.calls import Pair
from core.worker.load import ModelCopy
from core.worker.memory.sides import measured, side_alone
from core.worker.record import emit
from core.worker.streams import silence


class MemoryWatch:
    """Measures memory at the end of a run; on a CPU in a standby process, so it must be created first."""

    def __init__(self, job: CompileJob, original: Path, path: Path) -> None:
        self._job = job
        self._paths: dict[MemorySide, Path] = {"eager": original, "compiled": path}
        alone = job.memory and not job.target and job.device.partition(":")[0] == "cpu"
        self._stand_by = StandBy(lambda side: side_alone(side, job, self._paths[side])) if alone else None

    def emit(self, calls: Pair, twins: tuple[ModelCopy, ModelCopy]) -> None:
        """Measure and record both sides; errors are recorded, not raised."""
        if self._stand_by is not None:
            for record in self._stand_by.measured():
                emit(record)
            return
        for side, call, twin in zip(SIDES, calls, twins, strict=True):
            try:
                with silence():
                    record = measured(side, call, twin, self._job.device, self._paths[side])
            except Exception as error:
                record = failed(side, error)
            emit(record)


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
        found = {record.side: record for record in self._records()}
        for side in SIDES:
            yield found.get(side) or MemoryRecord(side=side, reason=ENDED)

    def _records(self) -> list[MemoryRecord]:
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

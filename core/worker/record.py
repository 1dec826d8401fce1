"""Output of a worker: Compileboard's records in torch's structured trace, and standard streams.

Each record is an `artifact` named `compileboard_<what>`, written by `torch._logging.trace_structured`. The
payload is JSON with a `schema` number. So tlparse can read our logs, and our reader needs only one format.
`core/report/records/` declares the records.

Our records have a logger of their own, with a second descriptor of torch's file, so that a script may replace or
close the handlers of torch's logger. `LogWatch` checks that the log is still the file that torch opened. `has_end`
checks that a log has its last record.
"""

import json
import logging
import os
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import fields
from pathlib import Path
from types import FunctionType
from typing import Any

import torch
import torch._inductor.metrics
import torch._logging._internal as torch_logging
from torch._dynamo.utils import counters
from torch._logging import trace_structured

from core.base.errors import TraceError
from core.base.files import NO_ROOM, sizes
from core.base.words import number
from core.report.records import RECORDS, SCHEMA, Record
from core.report.records.compilation import EndRecord, StepRecord
from core.trace.reader import TraceReader

NAMES = {kind: f"compileboard_{what}" for what, kind in RECORDS.items()}
END = "artifact:compileboard_end"
# The last record is small; threads of user code may write after it.
TAIL_BYTES = 1 << 20


class RunLog(logging.Handler):
    """A handler for our records in the file of torch's handler, even after a script closed that."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        handler = torch_logging.LOG_TRACE_HANDLER
        assert handler is not None
        self.torchs = handler
        self.lock = handler.lock
        self.formatter = handler.formatter
        self.stream: Any = None
        self._pid = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; torch's handler opens the file at the first record of each process."""
        if self._pid == os.getpid():
            self.stream.write(f"{self.format(record)}\n")
            self.stream.flush()
            return
        self.torchs.emit(record)
        if self.torchs.stream is not None:
            self._pid = os.getpid()
            self.stream = os.fdopen(os.dup(self.torchs.stream.fileno()), "w", encoding="utf-8")


# A logger apart from torch's, since a script may change the handlers of that one, and sees none of our records.
OUR_LOG = logging.Logger(torch_logging.trace_log.name, logging.DEBUG)
OUR_LOG.isEnabledFor = lambda level: True  # type: ignore[method-assign]
_trace_ours = FunctionType(
    trace_structured.__code__, {**vars(torch_logging), "trace_log": OUR_LOG}, "trace_structured", None
)
_trace_ours.__defaults__, _trace_ours.__kwdefaults__ = trace_structured.__defaults__, trace_structured.__kwdefaults__


def emit(record: Record) -> None:
    """Write one artifact; inside a compilation it carries the compile id."""
    inside = torch._guards.CompileContext.current_compile_id() is not None
    _trace_ours(
        "artifact",
        metadata_fn=lambda: {"name": NAMES[type(record)], "encoding": "json"},
        payload_fn=lambda: as_json_lines(record),
        suppress_context=not inside,
        expect_trace_id=False,
    )


def as_json_lines(record: Record) -> str:
    """Return JSON with one line per field: torch's own format, one line per value, is many times slower."""
    payload = {"schema": SCHEMA, **field_values(record)}
    lines = (f"{json.dumps(name)}: {json.dumps(value, default=field_values)}" for name, value in payload.items())
    return "{\n" + ",\n".join(lines) + "\n}"


def field_values(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass by name."""
    return {field.name: getattr(value, field.name) for field in fields(value)}


def step(name: str) -> None:
    """Record the worker's next step, for the live timeline."""
    emit(StepRecord(name=name))


def start_trace(directory: Path) -> None:
    """Write torch's trace into a directory like TORCH_TRACE; for a process forked after torch's import."""
    log = RunLog()
    log.torchs.root_dir = str(directory)
    torch_logging.trace_log.addHandler(log.torchs)
    OUR_LOG.handlers[:] = [log]


def is_recorded() -> bool:
    """Return True if compilations are currently written to the log."""
    return any(log.torchs in torch_logging.trace_log.handlers for log in OUR_LOG.handlers if isinstance(log, RunLog))


@contextmanager
def unrecorded() -> Iterator[None]:
    """Keep compilations inside this context out of the log and of torch's counters."""
    logs = (torch_logging.trace_log, OUR_LOG)
    handlers = [log.handlers[:] for log in logs]
    for log in logs:
        log.handlers.clear()
    counted = {group: Counter(values) for group, values in counters.items()}
    names = vars(torch._inductor.metrics)
    metrics = {name: value for name, value in names.items() if type(value) is int}
    try:
        yield
    finally:
        names.update(metrics)
        counters.clear()
        counters.update(counted)
        for log, before in zip(logs, handlers, strict=True):
            log.handlers[:] = before


class LogWatch(logging.Filter):
    """Filter that checks before each record that the log is still the file that torch opened.

    User code may have closed, replaced, truncated or deleted the log. A closed log gets no more records: its
    descriptor may now belong to another file.
    """

    def __init__(self) -> None:
        super().__init__()
        (log,) = OUR_LOG.handlers
        assert isinstance(log, RunLog)
        self._log = log
        self._pid = os.getpid()
        self._file: tuple[int, int] | None = None
        self._size = 0
        self._lost = False
        log.addFilter(self)
        log.torchs.addFilter(lambda record: self.filter(record) and self._has_torchs())

    def filter(self, _: logging.LogRecord) -> bool:
        """Return True if the record can be written."""
        return os.getpid() != self._pid or self._is_open()

    @property
    def lacks_torchs_records(self) -> bool:
        """True if torch's logger no longer writes to the log: user code changed it or its handler."""
        log = torch_logging.trace_log
        attached = self._log.torchs in log.handlers and not log.disabled and log.level <= logging.DEBUG
        return not attached or not self._has_torchs()

    def end(self, outcome: str) -> bool:
        """Write the last record; return False if the log lost records."""
        emit(EndRecord(outcome=outcome))
        return self._is_open() and not self._lost

    def _has_torchs(self) -> bool:
        """Return True if torch's handler writes to this file, or will open it."""
        return os.getpid() != self._pid or self._file is None or _file_of(self._log.torchs.stream) == self._file

    def _is_open(self) -> bool:
        stream = self._log.stream or self._log.torchs.stream
        if stream is None and self._file is None:
            return True
        try:
            file_status = os.fstat(stream.fileno())
        except (AttributeError, OSError, ValueError):
            self._lost = True
            return False
        self._file = self._file or (file_status.st_dev, file_status.st_ino)
        same = self._file == (file_status.st_dev, file_status.st_ino)
        self._lost |= not same or file_status.st_size < self._size or file_status.st_nlink == 0
        self._size = file_status.st_size
        return same


def _file_of(stream: Any) -> tuple[int, int] | None:
    """Return the device and inode of a stream's file; None if it is closed."""
    try:
        status = os.fstat(stream.fileno())
    except (AttributeError, OSError, ValueError):
        return None
    return status.st_dev, status.st_ino


def has_end(directory: Path) -> bool:
    """Return True if a log in a directory has its last record."""
    return any(_has_end(path) for path in sizes(directory, "*.log"))


def _has_end(path: Path) -> bool:
    try:
        with TraceReader(path) as reader:
            return any(record.kind == END for record in reader.records(max(0, reader.size - TAIL_BYTES)))
    except TraceError:
        return False


HEAD_BYTES = 1_000_000
KEPT_TAIL_BYTES = 64_000


class OutputFile:
    """An output file of bounded size that has the beginning and the end of the output.

    `full` is True if the disk had no room; later output is dropped.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb", buffering=0)
        self.full = False
        self._written = 0
        self._tail = b""
        self._left_out = 0

    def write(self, chunk: bytes) -> None:
        """Write a chunk of the worker's output."""
        if not chunk or self.full:
            return
        try:
            self._take(chunk)
        except OSError as error:
            self.full = error.errno in NO_ROOM
            if not self.full:
                raise

    def _take(self, chunk: bytes) -> None:
        head = chunk[: max(0, HEAD_BYTES - self._written)]
        self._put(head)
        self._written += len(head)
        self._tail += chunk[len(head) :]
        if self._tail:
            self._rewrite_tail()

    def close(self) -> None:
        with suppress(OSError):
            self._file.close()

    def _rewrite_tail(self) -> None:
        self._left_out += max(0, len(self._tail) - KEPT_TAIL_BYTES)
        self._tail = self._tail[-KEPT_TAIL_BYTES:]
        note = f"\n… {number(self._left_out)} bytes left out …\n" if self._left_out else ""
        self._file.seek(self._written)
        self._put(note.encode() + self._tail)
        self._file.truncate()

    def _put(self, data: bytes) -> None:
        """Write all data; a write to a nearly full disk writes only a part, and the next one fails."""
        while data:
            data = data[self._file.write(data) :]


def flush() -> None:
    """Flush printed output; closed streams are skipped."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()


@contextmanager
def silence() -> Iterator[None]:
    """Drop standard output in this context: repeated calls would print their text thousands of times."""
    flush()
    try:
        kept = os.dup(1)
    except OSError:
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
    try:
        yield
    finally:
        flush()
        os.dup2(kept, 1)
        os.close(kept)

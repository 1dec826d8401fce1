"""Checks of a run's log: whether it is still the file that torch opened, and has its last record."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import torch._logging._internal as torch_logging

from core.base.errors import TraceError
from core.base.files import sizes
from core.report.records.run import EndRecord
from core.trace import TraceReader
from core.worker.record import emit

END = "artifact:compileboard_end"
# The last record is small; threads of user code may write after it.
TAIL_BYTES = 1 << 20


class LogWatch(logging.Filter):
    """Filter that checks before each record whether user code has closed, replaced, truncated or deleted the log.

    A closed log gets no more records: its descriptor may now belong to another file.
    """

    def __init__(self) -> None:
        super().__init__()
        handler = torch_logging.LOG_TRACE_HANDLER
        assert handler is not None
        self._handler = handler
        self._pid = os.getpid()
        self._file: tuple[int, int] | None = None
        self._size = 0
        self._lost = False
        handler.addFilter(self)

    def filter(self, _: logging.LogRecord) -> bool:
        """Return True if the record can be written."""
        return os.getpid() != self._pid or self._is_open()

    def end(self, outcome: str) -> bool:
        """Write the last record; return False if the log lost records."""
        emit(EndRecord(outcome=outcome))
        return self._is_open() and not self._lost

    def _is_open(self) -> bool:
        stream = self._handler.stream
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


def has_end(directory: Path) -> bool:
    """Return True if a log in a directory has its last record."""
    return any(_has_end(path) for path in sizes(directory, "*.log"))


def _has_end(path: Path) -> bool:
    try:
        with TraceReader(path) as reader:
            return any(record.kind == END for record in reader.records(max(0, reader.size - TAIL_BYTES)))
    except TraceError:
        return False

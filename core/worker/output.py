"""Standard streams of a worker: output, bounded to the first megabyte and the end, and closed streams."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from core.base.files import NO_ROOM
from core.base.words import number

HEAD_BYTES = 1_000_000
TAIL_BYTES = 64_000


class OutputFile:
    """An output file of bounded size, whose end is always the end of the output.

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
        """Close the file."""
        with contextlib.suppress(OSError):
            self._file.close()

    def _rewrite_tail(self) -> None:
        self._left_out += max(0, len(self._tail) - TAIL_BYTES)
        self._tail = self._tail[-TAIL_BYTES:]
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
    """Drop the model's output in this context: repeated calls would print it thousands of times."""
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

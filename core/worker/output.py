"""What a worker prints, bounded: its first megabyte and its last words."""

from __future__ import annotations

from pathlib import Path

HEAD_BYTES = 1_000_000
TAIL_BYTES = 64_000


class OutputFile:
    """A file that takes any amount of output and stays small; the end of the output is always at its end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._written = 0
        self._tail = b""
        self._left_out = 0

    def write(self, chunk: bytes) -> None:
        """Take what the worker printed."""
        if not chunk:
            return
        head = chunk[: max(0, HEAD_BYTES - self._written)]
        self._file.write(head)
        self._written += len(head)
        self._tail += chunk[len(head) :]
        if self._tail:
            self._rewrite_tail()
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _rewrite_tail(self) -> None:
        self._left_out += max(0, len(self._tail) - TAIL_BYTES)
        self._tail = self._tail[-TAIL_BYTES:]
        note = f"\n… {self._left_out:,} bytes left out …\n" if self._left_out else ""
        self._file.seek(self._written)
        self._file.write(note.encode() + self._tail)
        self._file.truncate()

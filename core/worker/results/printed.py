"""Text that a call prints through Python's standard streams, compared between eager and compiled."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from core.job import CompileJob

MAX_CHARS = 20_000
SHOWN_CHARS = 60
WARNING = re.compile(r"^\S.*?:\d+: (\w*Warning: )")


class RecordedStream(io.TextIOBase):
    """A stream that passes on what is written to it and keeps the beginning."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text[: max(0, MAX_CHARS - len(self.text))]
        return self._stream.write(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def flush(self) -> None:
        self._stream.flush()


class PrintedText:
    """The text of a call, of both streams, each in its order; of a job without repairs nothing is listened to."""

    def __init__(self, job: CompileJob) -> None:
        self._listens = bool(job.repairs)
        self.streams = ("", "")

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Listen for as long as this lasts; what the user's code puts in place of a stream stays."""
        if not self._listens:
            yield
            return
        kept = sys.stdout, sys.stderr
        ours = RecordedStream(kept[0]), RecordedStream(kept[1])
        sys.stdout, sys.stderr = ours
        try:
            yield
        finally:
            self.streams = (ours[0].text, ours[1].text)
            if sys.stdout is ours[0]:
                sys.stdout = kept[0]
            if sys.stderr is ours[1]:
                sys.stderr = kept[1]


def print_difference(eager: PrintedText, compiled: PrintedText) -> str:
    """Return the difference of the texts as a part of a sentence; empty if there is none.

    Standard error also has torch's own messages: there, only lines that are missing in compiled count.
    """
    one, other = eager.streams[0].splitlines(), compiled.streams[0].splitlines()
    for place, line in enumerate(one):
        if place >= len(other) or other[place] != line:
            return _differ(line, other[place] if place < len(other) else "")
    if len(other) > len(one):
        return _differ("", other[len(one)])
    told = set(map(_message, compiled.streams[1].splitlines()))
    missing = [line for line in map(_message, eager.streams[1].splitlines()) if line and line not in told]
    return _differ(missing[0], "") if missing else ""


def _differ(left: str, right: str) -> str:
    return f"compiled prints {_short(right)} where eager prints {_short(left)}"


def _message(line: str) -> str:
    """A line of standard error without the place of a warning, and nothing for the code that Python shows of it."""
    return "" if line.startswith("  ") else WARNING.sub(r"\1", line)


def _short(line: str) -> str:
    return repr(line if len(line) <= SHOWN_CHARS else f"{line[:SHOWN_CHARS]}…") if line else "nothing"

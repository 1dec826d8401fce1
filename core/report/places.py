"""Where things lie: texts in the log, lines in files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Payload:
    """Where the text of something lies in the log: byte offset and length, with torch's tab at each line's start."""

    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Frame:
    """One entry of a stack: file, line, function, and the text of the line where torch recorded it."""

    file: str
    line: int
    name: str
    text: str = ""

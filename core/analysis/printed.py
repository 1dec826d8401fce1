"""Printed output of a run's code and libraries: distinct lines with their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

PrintedKind = Literal["slow", "deprecated", ""]

# Terminal colours, and other control characters.
ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# `path:12: UserWarning: text`, and the line of code that Python's warnings print below it.
WARNING = re.compile(r"^(?P<file>\S[^:]*):(?P<line>\d{1,7}): (?P<kind>\w*Warning): (?P<text>.*)$")
# Line of torch's own loggers: `W1123 17:33:28.036000 19654 torch/_logging/_internal.py:1345] [2/0]`.
LOGGED = re.compile(r"^[VDIWEC]\d{4} [\d:.]+ \d+ (?P<file>\S+?):(?P<line>\d{1,7})\] (?:\[[^\]]*\] )?(?P<text>.*)$")
SLOW = re.compile(
    r"\b(?:fall(?:s|ing)?[ -]?back|fallback|much slower|slower|slow path|is slow|(?:is|are) not installed"
    r"|fast path is not available|not been compiled with|without (?:the )?(?:fast|optimi[sz]ed))\b",
    re.IGNORECASE,
)
DEPRECATED = re.compile(r"\bdeprecated\b|\bDeprecationWarning\b|\bFutureWarning\b", re.IGNORECASE)
MOST_LINES = 2_000
LONGEST_LINE = 600


@dataclass(frozen=True, slots=True)
class PrintedLine:
    """A printed line without a logger's prefix, and its count.

    `place` is the file and line that it names as its origin, empty without one.
    """

    text: str
    count: int
    kind: PrintedKind
    place: str = ""


def printed_lines(output: str) -> tuple[PrintedLine, ...]:
    """Return the distinct lines of an output in order, at most 2,000."""
    counts: dict[tuple[str, str, PrintedKind], int] = {}
    for key in _lines(output):
        if key in counts or len(counts) < MOST_LINES:
            counts[key] = counts.get(key, 0) + 1
    return tuple(PrintedLine(text, count, kind, place) for (text, place, kind), count in counts.items())


def _lines(output: str) -> Iterator[tuple[str, str, PrintedKind]]:
    quoted = False
    for raw in ESCAPE.sub("", output).splitlines():
        line = CONTROL.sub("", raw)[:LONGEST_LINE].rstrip()
        # Python prints the line of code below a warning.
        skipped, quoted = quoted and line.startswith("  "), False
        if not line.strip() or skipped:
            continue
        match = WARNING.match(line) or LOGGED.match(line)
        quoted = match is not None and "kind" in match.groupdict()
        text = match["text"] if match else line.strip()
        place = f"{match['file'].rpartition('/')[2]}:{match['line']}" if match else ""
        yield text, place, _kind(text, line)


def _kind(text: str, line: str) -> PrintedKind:
    if SLOW.search(text):
        return "slow"
    return "deprecated" if DEPRECATED.search(line) else ""

"""Messages of torch's log, read from the text that TORCH_LOGS prints.

Each line of a message begins alike, with level, date, time, process, place, compile id and artifact. In a run's log, an
empty line stands between two messages, since two of the same millisecond and place begin alike as well:

    V1125 16:22:55.570000 16718 torch/_dynamo/guards.py:5012] [0/0] [__guards] GUARDS:
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

LINE = re.compile(
    r"(?P<head>(?P<level>[VIWEC])\d{4} (?P<time>[\d:.]+) \d+ (?P<place>[^\]\n]*:\d+)\]"
    r"(?: \[(?P<id>[^\]\n]*\d/\d+)(?:_\d+)?\])?(?: \[__(?P<artifact>\w+)\])?) ?(?P<text>.*)"
)
LEVELS = {"V": "debug", "I": "info", "W": "warning", "E": "error", "C": "critical"}


@dataclass(frozen=True, slots=True)
class LogMessage:
    """A message of torch's log; `place` is the line of torch that logs it, `name` its artifact or, without one, its
    module.
    """

    level: str
    time: str
    place: str
    compilation: str
    name: str
    text: str


def log_messages(text: str) -> Iterator[LogMessage]:
    """Yield the messages in a text; lines before the first message are left out."""
    head, lines, match = "", list[str](), None
    for line in text.split("\n"):
        if not line and match is not None:
            yield _message(match, lines)
            match = None
            continue
        found = LINE.match(line)
        if match is not None and (found is None or found["head"] == head):
            lines.append(line if found is None else found["text"])
            continue
        if match is not None:
            yield _message(match, lines)
        if found is not None:
            match, head, lines = found, found["head"], [found["text"]]
    if match is not None:
        yield _message(match, lines)


def _message(match: re.Match[str], lines: list[str]) -> LogMessage:
    module = match["place"].rpartition(":")[0].removesuffix(".py").replace("/", ".")
    return LogMessage(
        level=LEVELS[match["level"]],
        time=match["time"],
        place=match["place"],
        compilation=match["id"] or "",
        name=match["artifact"] or module,
        text="\n".join(lines).rstrip(),
    )

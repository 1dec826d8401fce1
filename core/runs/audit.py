"""Audit log of a server: what people changed, and what was refused to them.

`<home>/audit.jsonl` has one JSON object a line. When it is full, it becomes `audit.1.jsonl` in place of an earlier one.
Several servers of one home may append at once.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, MutableSequence
from pathlib import Path
from typing import Literal

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import AccessError, CompileboardError, DecodeError
from core.base.files import append_line, in_words, one_line, open_regular
from core.runs.status import Seconds

NAME, EARLIER = "audit.jsonl", "audit.1.jsonl"
MOST_FILE_BYTES = 16_000_000
MOST_TEXT_CHARS = 300
Outcome = Literal["done", "refused", "failed"]


class Event(msgspec.Struct, frozen=True):
    """An action of a person: the time, the address, the action, the run or sweep, and what came of it.

    `reason` is the message of an action that was refused or failed.
    """

    at_s: Seconds
    by: str
    action: str
    subject: str = ""
    outcome: Outcome = "done"
    reason: str = ""


def append(home: Path, event: Event) -> None:
    """Add an event to the log below a store's home; raises StoreError."""
    path = home / NAME
    with in_words(path):
        append_line(path, msgspec.json.encode(_bounded(event)), MOST_FILE_BYTES, home / EARLIER)


def events(home: Path) -> Iterator[Event]:
    """Yield the events below a store's home, oldest first; damaged lines are left out."""
    for name in (EARLIER, NAME):
        with contextlib.suppress(OSError), open_regular(home / name) as file:
            for line in file:
                with contextlib.suppress(DecodeError):
                    yield decoded_as(line, Event)


@contextlib.contextmanager
def audited(home: Path, by: str, action: str) -> Iterator[MutableSequence[str]]:
    """Log an action that is carried out in this context; its subject is what the caller adds to the list.

    Raises what the action raises, and StoreError if the action cannot be logged.
    """
    subject: list[str] = []
    try:
        yield subject
    except CompileboardError as error:
        outcome: Outcome = "refused" if isinstance(error, AccessError) else "failed"
        append(home, Event(time.time(), by, action, " ".join(subject), outcome, str(error)))
        raise
    append(home, Event(time.time(), by, action, " ".join(subject)))


def _bounded(event: Event) -> Event:
    texts = {name: one_line(getattr(event, name), MOST_TEXT_CHARS) for name in ("by", "action", "subject", "reason")}
    return msgspec.structs.replace(event, **texts)

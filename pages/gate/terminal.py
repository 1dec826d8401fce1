"""The filter of the server's log for the owner's terminal: each problem once, and no control characters.

A visitor can make a page of their own session fail as often as they like, with their text in the message. They must
control neither the length of the log nor what a terminal does with it.
"""

from __future__ import annotations

import logging
import threading
import traceback
from types import TracebackType

SERVERS = ("streamlit", "uvicorn", "websockets", "asyncio", "starlette")
MAX_PLACES = 500
MAX_CHARS = 400
Place = tuple[str, int, str, str, int]


class Once(logging.Filter):
    """Filter that passes a warning or an error once per place in the code, and all other records; as printable text."""

    def __init__(self) -> None:
        super().__init__()
        self._seen: set[Place] = set()
        self._lock = threading.Lock()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return True if the record is to be printed; replaces its text by a printable one."""
        if record.levelno >= logging.WARNING and not self._is_new(place_of(record)):
            return False
        record.msg, record.args = printable(record.getMessage()), ()
        if record.exc_info and record.exc_info[1]:
            record.exc_text = traceback_text(record.exc_info[1])
            record.exc_info = None
        return True

    def _is_new(self, place: Place) -> bool:
        with self._lock:
            new = place not in self._seen and len(self._seen) < MAX_PLACES
            self._seen |= {place} if new else set()
            return new


def place_of(record: logging.LogRecord) -> Place:
    """Return the place of the log call and of the exception's origin, which a visitor cannot invent."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return record.pathname, record.lineno, "", "", 0
    raised = _last(error.__traceback__)
    where = (raised.tb_frame.f_code.co_filename, raised.tb_lineno) if raised else ("", 0)
    return record.pathname, record.lineno, type(error).__name__, *where


def _last(traceback: TracebackType | None) -> TracebackType | None:
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    return traceback


def traceback_text(error: BaseException) -> str:
    """Return the traceback, with the exception's message as one line."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"Traceback (most recent call last):\n{frames}{type(error).__name__}: {printable(str(error))}"


def printable(text: str) -> str:
    """Return a text as one line, with escapes for unprintable characters, cut if it is long."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text[:MAX_CHARS])


def print_once() -> None:
    """Filter the log of the server's libraries; call it once the server runs, when their loggers exist."""
    only_once = Once()
    # Libraries make their loggers when they first log something.
    for name in {*SERVERS, *logging.root.manager.loggerDict}:
        if name.partition(".")[0] in SERVERS:
            logging.getLogger(name).addFilter(only_once)

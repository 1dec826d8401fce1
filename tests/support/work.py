"""How much work something is, counted instead of timed: a busy machine is slow, and counts the same."""

import sys
import threading
from collections.abc import Callable
from typing import Any


def calls_of(action: Callable[[], object]) -> int:
    """Count the calls of Python functions that an action makes, those of threads that it starts included."""
    counts: list[None] = []

    def note(_frame: Any, event: str, _argument: Any) -> None:
        if event == "call":
            counts.append(None)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return len(counts)

"""Pause of Python's garbage collection while many long-lived objects are created."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

_lock = Lock()
_pausing = 0


@contextmanager
def collection_paused() -> Iterator[None]:
    """Pause cyclic garbage collection, which would collect nothing and take half of the time.

    Threads may overlap.
    """
    global _pausing
    with _lock:
        enabled = gc.isenabled()
        _pausing += int(enabled or _pausing > 0)
        gc.disable()
    try:
        yield
    finally:
        with _lock:
            if _pausing:
                _pausing -= 1
                if not _pausing:
                    gc.enable()

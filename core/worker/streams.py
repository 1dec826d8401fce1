"""Standard streams of the worker, which the user's code may have closed or replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress


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

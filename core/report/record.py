"""Record: the base of all that the worker adds to a log, report types among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """An artifact that the worker adds to the log.

    A field without a default is in every log; one with a default may be missing in the log of an older version. The
    text below a field is its meaning, and its row in `docs/trace-records.md`.
    """


Emit = Callable[[Record], None]

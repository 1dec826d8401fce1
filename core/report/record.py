"""Base class of all artifacts that the worker adds to a log; many are report types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Record:
    """An artifact that the worker adds to the log.

    A field without a default is in every log; a field with a default may be missing in logs of older versions. The
    text below a field explains it, and becomes its row in `docs/trace-records.md`.
    """


Emit = Callable[[Record], None]

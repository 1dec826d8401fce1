"""Reasons in one line."""

from __future__ import annotations

LONGEST_REASON = 300


def first_line(error: Exception) -> str:
    """Return an error's type and the first line of its message."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:LONGEST_REASON]

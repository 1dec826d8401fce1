"""Why something could not be done, in one line."""

from __future__ import annotations

LONGEST_REASON = 300


def first_line(error: Exception) -> str:
    """An error by its type and the first line that it says."""
    return f"{type(error).__name__}: {(str(error).splitlines() or [''])[0]}"[:LONGEST_REASON]

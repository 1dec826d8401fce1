"""Text of a page in short lines: what is long is cut, and says so."""

from __future__ import annotations

from collections.abc import Sequence

MAX_CHARS = 200


def clipped(text: str, most: int = MAX_CHARS) -> str:
    """Return the text in at most so many letters, and how many are left out."""
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more letters)"


def listed(items: Sequence[str], most: int, between: str = ", ") -> str:
    """Return the first items of a list, and how many more there are."""
    left = len(items) - most
    return between.join(items[:most]) + (f"{between}… {left:,} more" if left > 0 else "")


def indented(text: str, by: int = 2) -> str:
    """Return the text with each line that is not blank further to the right."""
    return "\n".join(" " * by + line if line else "" for line in text.splitlines())

"""Audience of a run or a sweep: who may see it besides its author and the server's owner, as a file."""

from __future__ import annotations

from pathlib import Path

from core.base.errors import StoreError
from core.base.files import in_words, read_line, write_atomically

AUDIENCE = "audience.txt"
PRIVATE = "private"
# Nobody, whoever has its address, or all in their lists.
AUDIENCES = (PRIVATE, "link", "all")
MOST_CHARS = 80


def read_audience(directory: Path) -> str:
    """Return one of AUDIENCES; empty if the author did not choose. An unknown one is private."""
    text = read_line(directory / AUDIENCE, MOST_CHARS)
    return text if text in ("", *AUDIENCES) else PRIVATE


def write_audience(directory: Path, audience: str) -> None:
    """Set who may see what is in a directory; raises StoreError."""
    if audience not in AUDIENCES:
        raise StoreError(f"a run or a sweep is for one of {', '.join(AUDIENCES)}")
    with in_words(directory):
        write_atomically(directory / AUDIENCE, audience.encode())

"""Marks of a run by its owner: tags, which a search finds, and a pin, which keeps the run from being deleted."""

from __future__ import annotations

from collections.abc import Iterable

from core.base.files import in_words, one_line, read_line, remove, write_atomically
from core.runs.store import PINNED, Run

TAGS = "tags.txt"
MOST_TAGS = 20
MOST_TAG_CHARS = 40


def tags_of(run: Run) -> tuple[str, ...]:
    """Return the tags of a run, sorted."""
    words = read_line(run.path / TAGS, MOST_TAGS * (MOST_TAG_CHARS + 1)).split()
    return tuple(sorted({word[:MOST_TAG_CHARS] for word in words}))


def set_tags(run: Run, tags: Iterable[str]) -> None:
    """Set the tags of a run, which are words; none removes them. Raises StoreError."""
    words = sorted({one_line(word, MOST_TAG_CHARS) for tag in tags for word in tag.split()})[:MOST_TAGS]
    with in_words(run.path):
        write_atomically(run.path / TAGS, " ".join(words).encode())


def set_pinned(run: Run, pinned: bool) -> None:
    """Protect a run from being deleted, or no longer; raises StoreError."""
    with in_words(run.path):
        write_atomically(run.path / PINNED, b"") if pinned else remove(run.path / PINNED)

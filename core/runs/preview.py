"""Tokens of links that preview: who has one sees a run's title, verdict and picture, and nothing else, without a role.

The token of a run is in its directory, made when its author asks for such a link. A private run previews nowhere.
"""

from __future__ import annotations

import secrets

from core.base.files import in_words, read_line, remove, write_atomically
from core.runs.audience import PRIVATE
from core.runs.store import Run

TOKEN = "preview.txt"
MOST_TOKEN_CHARS = 64


def preview_token(run: Run) -> str:
    """Return the token of the run's link; empty without one."""
    return read_line(run.path / TOKEN, MOST_TOKEN_CHARS)


def set_preview(run: Run, allowed: bool) -> None:
    """Make a new token, or withdraw it; raises StoreError."""
    with in_words(run.path):
        path = run.path / TOKEN
        write_atomically(path, secrets.token_urlsafe(24).encode()) if allowed else remove(path)


def may_preview(run: Run, token: str) -> bool:
    """Return True if the token is the run's, and the run is not private; the comparison takes constant time."""
    own = preview_token(run)
    return bool(own) and secrets.compare_digest(own.encode(), token.encode("utf-8", "replace")) and not _private(run)


def _private(run: Run) -> bool:
    return run.audience() == PRIVATE

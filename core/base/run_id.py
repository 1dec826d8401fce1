"""The id of a run, which is the name of its directory: when it was made, of what, and four digits that make it its
own.
"""

from __future__ import annotations

import re
import secrets
import time
from pathlib import Path

RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z0-9_]{1,40}-[0-9a-f]{4}")
STAMP = "%Y%m%d-%H%M%S"
STAMP_CHARS = 15


def fresh_id(title: str, folder: Path | None = None) -> str:
    """The id of a run that is made at this moment, which none in the folder has."""
    slug = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:40] or "run"
    found = f"{time.strftime(STAMP)}-{slug}-{secrets.token_hex(2)}"
    return fresh_id(title, folder) if folder is not None and (folder / found).exists() else found


def made_s(run_id: str) -> float:
    """When a run was made, in seconds since the epoch; 0 where its id names no such day."""
    try:
        return time.mktime(time.strptime(run_id[:STAMP_CHARS], STAMP))
    except (ValueError, OverflowError):
        return 0.0


def slug_of(run_id: str) -> str:
    """What a run was made of, as far as its id says."""
    return run_id[STAMP_CHARS + 1 : -5]

"""Run ids, used as directory names: creation time, subject, and four random hexadecimal digits.

`ID@3` is rank 3 of the run `ID`.
"""

from __future__ import annotations

import re
import secrets
import time
from pathlib import Path

RUN_ID = re.compile(r"[0-9]{8}-[0-9]{6}-[a-z0-9_]{1,40}-[0-9a-f]{4}")
RANKED_ID = re.compile(rf"({RUN_ID.pattern})(?:@(0|[1-9][0-9]{{0,5}}))?")
STAMP = "%Y%m%d-%H%M%S"
STAMP_CHARS = 15


def fresh_id(title: str, folder: Path | None = None) -> str:
    """Return a new run id from the current time and a title; no run in the folder has this id."""
    slug = re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")[:40] or "run"
    run_id = f"{time.strftime(STAMP)}-{slug}-{secrets.token_hex(2)}"
    return fresh_id(title, folder) if folder is not None and (folder / run_id).exists() else run_id


def creation_time_s(run_id: str) -> float:
    """Return a run's creation time in seconds since the epoch; 0 if its id has no valid time."""
    try:
        return time.mktime(time.strptime(run_id[:STAMP_CHARS], STAMP))
    except (ValueError, OverflowError):
        return 0.0


def slug_of(run_id: str) -> str:
    """Return the subject of a run, from its id."""
    return run_id.partition("@")[0][STAMP_CHARS + 1 : -5]


def split_rank(run_id: str) -> tuple[str, int | None]:
    """Return a run's id without its rank, and the rank; None for an id without a rank.

    The returned id is empty if the text is no run id.
    """
    match = RANKED_ID.fullmatch(run_id)
    if match is None:
        return "", None
    return match[1], None if match[2] is None else int(match[2])


def with_rank(run_id: str, rank: int) -> str:
    """Return the id of one rank of a run."""
    return f"{run_id.partition('@')[0]}@{rank}"

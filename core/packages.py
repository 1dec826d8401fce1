"""A package beside the log of the run that made it."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from core.store import Run

# The log says its name, and a log says what it likes.
PACKAGE = re.compile(r"[\w-]{1,80}\.pt2")


def package_path(run: Run, name: str) -> Path | None:
    """The file of a run's package; None where it is not kept, or is no regular file of the run's own."""
    if not PACKAGE.fullmatch(name):
        return None
    path = run.path / name
    try:
        return path if stat.S_ISREG(path.lstat().st_mode) else None
    except OSError:
        return None

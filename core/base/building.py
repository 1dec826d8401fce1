"""Files built once by the machine's compiler, in the store's cache."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path


def build_cache(part: str) -> Path:
    """Return the cache directory for a part's built files."""
    return Path(os.environ.get("COMPILEBOARD_CACHE") or Path(tempfile.gettempdir()) / "compileboard") / part


def build_once(path: Path, make: Callable[[Path], None]) -> bool:
    """Build a file unless it exists; returns True if it was built now.

    `make` gets a path of that name in a directory of its own. One process builds at a time; the others use its result.
    """
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path.parent / "lock", "w") as lock, tempfile.TemporaryDirectory(dir=path.parent) as made:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if path.exists():
            return False
        make(Path(made) / path.name)
        shutil.move(Path(made) / path.name, path)
    return True

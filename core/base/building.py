"""Files built once by the machine's compiler, in the store's cache."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock


def build_cache(part: str) -> Path:
    """Return the cache directory for a part's built files."""
    return Path(os.environ.get("COMPILEBOARD_CACHE") or Path(tempfile.gettempdir()) / "compileboard") / part


def build_once(path: Path, make: Callable[[Path], None]) -> bool:
    """Build a file unless it exists; returns True if it was built now.

    `make` gets a path of that name in a fresh directory. One process builds at a time; the others use its result.
    """
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    # The system's lock ends with its process; a lock file would outlive it, and nobody could build again.
    lock = FileLock(path.parent / "lock", fallback_to_soft=False)
    with lock, tempfile.TemporaryDirectory(dir=path.parent) as folder:
        if path.exists():
            return False
        make(Path(folder) / path.name)
        shutil.move(Path(folder) / path.name, path)
    return True

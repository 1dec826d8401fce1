"""What the machine's compiler builds at first use, kept in the store's cache."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from filelock import FileLock


def build_cache(part: str) -> Path:
    """Where what is built of a part is kept."""
    return Path(os.environ.get("COMPILEBOARD_CACHE") or Path(tempfile.gettempdir()) / "compileboard") / part


def build_once(path: Path, make: Callable[[Path], None]) -> bool:
    """Have a file made, unless it is there; returns whether it was made now.

    `make` is given a path of that name in a directory of its own. One process builds at a time; the others find what it
    has built.
    """
    if path.exists():
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    # A lock of the system ends with its process; a file instead of one would outlive it, and nobody would build again.
    lock = FileLock(path.parent / "lock", fallback_to_soft=False)
    with lock, tempfile.TemporaryDirectory(dir=path.parent) as made:
        if path.exists():
            return False
        make(Path(made) / path.name)
        shutil.move(Path(made) / path.name, path)
    return True

"""Every way in which a file of a run can be damaged."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

DEEP = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
STATUS = b'{"state": "%b", "created_s": %b, "pid": %b}'


def _write(data: bytes) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        path.write_bytes(data)

    return write


def _link(to: str) -> Callable[[Path], None]:
    def link(path: Path) -> None:
        remove(path)
        path.symlink_to(to)

    return link


def remove(path: Path) -> None:
    """Take away what is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _directory(path: Path) -> None:
    remove(path)
    (path / "inner").mkdir(parents=True)


def _pipe(path: Path) -> None:
    remove(path)
    os.mkfifo(path)


def _halved(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def _endless(path: Path) -> None:
    """A file of a terabyte that takes no room."""
    path.write_bytes(b"")
    os.truncate(path, 1 << 40)


DAMAGE: dict[str, Callable[[Path], None]] = {
    "missing": remove,
    "empty": _write(b""),
    "truncated": _halved,
    "directory": _directory,
    "dangling link": _link("/nowhere/at/all"),
    "link to itself": _link("status.json"),
    "link to a device": _link("/dev/zero"),
    "pipe": _pipe,
    "endless": _endless,
    "binary": _write(bytes(range(256)) * 10),
    "deep": _write(DEEP),
    "list": _write(b"[]"),
    "number": _write(b"1e300"),
    "half a character": _write(b'{"state": "done", "created_s": 1, "reason": "\\ud800", "model": {"kind": "\\udfff"}}'),
    "not a number": _write(STATUS % (b"done", b"NaN", b"null")),
    "infinity": _write(STATUS % (b"done", b"Infinity", b"null")),
    "huge time": _write(STATUS % (b"running", b"1e300", b"null")),
    "huge integer": _write(STATUS % (b"done", b"9" * 5_000, b"9" * 50)),
    "negative time": _write(STATUS % (b"done", b"-1", b"null")),
    "negative pid": _write(STATUS % (b"running", b"1", b"-1")),
    "huge pid": _write(STATUS % (b"running", b"1", b"9" * 30)),
    "other types": _write(b'{"state": ["done"], "created_s": "now", "model": 3, "title": {}}'),
}

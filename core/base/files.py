"""Bounded reads and atomic writes of files that may be damaged, on disks that may be full.

Homes are private to their owner unless they have other files. `tidy` removes files left by interrupted writes, known by
name and age.
"""

import errno
import mmap
import os
import random
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from core.base.errors import StoreError
from core.base.words import RUN_ID, number

MOST_BYTES = 512 * 1024**2  #: a file that is read at once
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
NO_WRITING = (errno.EROFS, errno.EACCES, errno.EPERM)
NO_FILE = "it is not a regular file"
OWNER_ALONE = 0o700
ROOT = 0
NOBODYS_S = 3600.0
TIDY_S = 0.3
# Names of unfinished runs, deleted runs, unfinished tool tasks, and partially written files.
UNFINISHED = re.compile(rf"\.(?:{RUN_ID.pattern}|[0-9a-f]{{16}}|[\w.-]{{1,200}}\.[0-9]{{1,10}})\.[0-9a-f]{{8}}")


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file to read; raises OSError for any other, such as a pipe that would block."""
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    file = os.fdopen(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, NO_FILE, str(path))
    return file


@contextmanager
def mapped(path: Path) -> Iterator[mmap.mmap | bytes]:
    """Map a regular file that is no longer written; raises OSError."""
    with open_regular(path) as file:
        if not os.fstat(file.fileno()).st_size:
            yield b""
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            yield data


def read(path: Path, most_bytes: int = MOST_BYTES) -> bytes:
    """Return the bytes of a regular file; raises OSError, also if it has more than `most_bytes`."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > most_bytes:
            raise OSError(errno.EFBIG, f"it is larger than {number(most_bytes)} bytes", str(path))
        return file.read(most_bytes)


def read_line(path: Path, most_chars: int) -> str:
    """Return the text of a file as one line; empty if the file is missing or too long."""
    try:
        return one_line(read(path, 4 * most_chars).decode("utf-8", "replace"), most_chars)
    except OSError:
        return ""


def one_line(text: str, most_chars: int) -> str:
    """Return a text as one line of at most `most_chars`, without invisible characters.

    Characters that change the direction of text would make one name look like another.
    """
    return " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())[:most_chars]


def regular(path: Path, *, links: bool = True) -> os.stat_result | None:
    """Return the stat result of a regular file, or of one behind a link unless `links` is False; or None."""
    try:
        status = path.stat(follow_symlinks=links)
    except (OSError, ValueError):
        return None
    return status if stat.S_ISREG(status.st_mode) else None


def sizes(directory: Path, pattern: str) -> dict[Path, int]:
    """Return the size in bytes of each regular file of a directory that matches a pattern."""
    try:
        paths = list(directory.glob(pattern))
    except OSError:
        return {}
    return {path: status.st_size for path in paths if (status := regular(path))}


def largest(directory: Path, pattern: str) -> Path | None:
    """Return the largest regular file of a directory; None if there is none."""
    files = sizes(directory, pattern)
    return max(files, key=files.__getitem__, default=None)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that it exists whole or not at all."""
    with writing(path) as file:
        file.write(data)


def append_line(path: Path, line: bytes, most_bytes: int, earlier: Path) -> None:
    """Append a line to a log that several processes write; raises OSError.

    A log that then has more than `most_bytes` is renamed to `earlier`, and replaces an existing file.
    """
    # One write at the end of the file: lines of several processes do not mix.
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        os.write(file, line + b"\n")
        is_full = os.fstat(file).st_size > most_bytes
    finally:
        os.close(file)
    if is_full:
        path.replace(earlier)


@contextmanager
def writing(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write; it exists whole once the block ends without an error, or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{secrets.token_hex(4)}")
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink()


def write_even_if_full(path: Path, data: bytes) -> None:
    """Write a small file completely, on a full disk over the existing bytes."""
    try:
        write_atomically(path, data)
    except OSError as error:
        if error.errno not in NO_ROOM or regular(path) is None:
            raise
        with path.open("r+b", buffering=0) as file:
            file.write(data.ljust(os.fstat(file.fileno()).st_size))


def remove(path: Path) -> None:
    """Remove a file, a link (but not its target), or a directory with everything in it.

    Another thread or process may remove it at the same time.
    """
    while path.is_dir() and not path.is_symlink():
        with suppress(FileNotFoundError):
            shutil.rmtree(path)
    path.unlink(missing_ok=True)


def make_private(directory: Path) -> None:
    """Create a directory that only its owner can enter; restrict an existing one if possible.

    Compiled code is loaded from it, so a directory of another user raises StoreError.
    """
    directory.mkdir(exist_ok=True, mode=OWNER_ALONE)
    status = directory.stat()
    if hasattr(os, "getuid") and status.st_uid not in (os.getuid(), ROOT):
        raise StoreError(f"{directory} belongs to another user; set COMPILEBOARD_HOME to a directory of your own")
    if stat.S_IMODE(status.st_mode) != OWNER_ALONE:
        with suppress(OSError):
            directory.chmod(OWNER_ALONE)


@contextmanager
def in_words(where: Path) -> Iterator[None]:
    """Turn OSErrors inside the context into a StoreError with advice."""
    try:
        yield
    except OSError as error:
        raise StoreError(words(error, where)) from None


def words(error: OSError, where: Path) -> str:
    """Return the failure on the disk in words, with advice."""
    message = error.strerror or str(error)
    if error.errno in NO_ROOM:
        return f"the disk is full ({message}): delete runs, or make room below {where}, and try again"
    if error.errno in NO_WRITING:
        return f"{where} cannot be written ({message}): set COMPILEBOARD_HOME to a directory that can"
    return f"{where} cannot be used: {message}"


def tidy(runs_dir: Path) -> None:
    """Remove unfinished files and empty runs that no process has written to for an hour.

    A call takes at most about `TIDY_S` seconds. Runs are in random order, so that later calls visit other runs.
    """
    _remove_old(_abandoned(runs_dir, time.monotonic() + TIDY_S))


def tidy_sweeps(sweeps_dir: Path) -> None:
    """Remove unfinished files of sweeps that no process has written to for an hour."""
    sweeps = _entries_of(sweeps_dir)
    within = (path for sweep in sweeps for directory in (sweep, sweep / "rows") for path in _entries_of(directory))
    _remove_old(path for path in (*sweeps, *within) if UNFINISHED.fullmatch(path.name))


def _remove_old(paths: Iterable[Path]) -> None:
    oldest = time.time() - NOBODYS_S
    for path in paths:
        with suppress(OSError):
            if _written_s(path) < oldest:
                remove(path)


def _abandoned(runs_dir: Path, end_s: float) -> Iterator[Path]:
    paths = _entries_of(runs_dir)
    random.shuffle(paths)
    for path in paths:
        if time.monotonic() > end_s:
            return
        if UNFINISHED.fullmatch(path.name) or (RUN_ID.fullmatch(path.name) and _is_empty(path)):
            yield path
            continue
        tools = path / "tools"
        ranks = [
            directory for rank in _entries_of(path / "ranks") for directory in (rank, rank / "graphs", rank / "results")
        ]
        for directory in (path, path / "graphs", path / "results", *ranks, tools, *_entries_of(tools)):
            yield from (entry for entry in _entries_of(directory) if UNFINISHED.fullmatch(entry.name))


def _entries_of(directory: Path) -> list[Path]:
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def _is_empty(run: Path) -> bool:
    """Return True if a directory never became a run: it has no status, and no log with content."""
    return not (run / "status.json").exists() and not any(sizes(run / "trace", "*.log").values())


def _written_s(path: Path) -> float:
    """Return the time of the last write to a path or anything below it."""
    return max(entry.lstat().st_mtime for entry in (path, *path.rglob("*")))


# Records of what deleted runs have in an archive elsewhere.
DELETED_RECORDS = "deleted-archived"
# Locks of runs whose files are moved to or from there.
LOCKS = "archive-locks"
# What a home has that is used for nothing else.
OURS = {
    *(
        "runs",
        "cache",
        "index",
        "sweeps",
        "turns",
        "servers",
        "hosts",
        "hosted",
        "carried",
        "store-id",
        "workers-token",
    ),
    *("audit.jsonl", "audit.1.jsonl", "deleted.jsonl", "deleted.1.jsonl", "retention.lock", DELETED_RECORDS, LOCKS),
}


def keep_record(home: Path, name: str, record: Path) -> None:
    """Copy a deleted run's record of its archived files to the home; raises no OSError.

    The record is needed to remove these files from the archive later.
    """
    with suppress(OSError):
        data = read(record)
        make_private(home / DELETED_RECORDS)
        write_atomically(home / DELETED_RECORDS / f"{name}.json", data)


def make_home(home: Path, *private: Path) -> None:
    """Create a home and its private directories; raises StoreError."""
    with in_words(home):
        home.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
        if {entry.name for entry in home.iterdir()} <= OURS:
            make_private(home)
        for directory in private:
            make_private(directory)

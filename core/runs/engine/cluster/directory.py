"""Run directories as they cross machines: which files, by safe names, as bytes and digests. Links are never followed.

A host gets the files of a new run, all at once. The server gets new bytes of the files that grow, and in the end each
file that differs from its own. Neither trusts the names of the other.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path

from core.base.errors import StoreError
from core.base.files import OWNER_ALONE
from core.base.words import number
from core.runs.audience import AUDIENCE
from core.runs.engine.cluster.messages import MOST_FILES, PIECE_BYTES, HostFile, PieceReply
from core.runs.store import NAME, NOTE, RANKS

# The server's own: the status is carried over by itself, and the rest is written by who looks at the run.
OWN = ("status.json", NAME, NOTE, AUDIENCE)
OWN_PREFIXES = ("report.", "verdict-")
OWN_DIRECTORIES = (RANKS, "graphs", "tools")
PARTS = re.compile(r"[\w@+=-][\w.@+=-]{0,199}")
MOST_DEPTH = 20
# The room that a message needs beside its files.
MOST_DELIVERED_BYTES = 63 * 1024**2
# What a run leaves, with its log.
MOST_COLLECTED_BYTES = 16 * 1024**3


def check_name(name: str) -> str:
    """Return the name of a file relative to its run; raises StoreError if it leads elsewhere or is the server's own."""
    parts = name.split("/")
    if len(parts) > MOST_DEPTH or not all(map(PARTS.fullmatch, parts)):
        raise StoreError(f"`{name[:80]}` is no name of a run's file")
    if name in OWN or parts[0] in OWN_DIRECTORIES or name.startswith(OWN_PREFIXES):
        raise StoreError(f"`{name[:80]}` is the server's own file")
    return name


def is_carried(name: str) -> bool:
    """Return True if a file crosses machines."""
    try:
        return bool(check_name(name))
    except StoreError:
        return False


def names(directory: Path) -> list[str]:
    """Return the names of the files that cross machines; raises StoreError if there are too many."""
    carried = sorted(filter(is_carried, _walk(directory)))
    if len(carried) > MOST_FILES:
        raise StoreError(f"the run has more than {number(MOST_FILES)} files")
    return carried


def parcel(directory: Path) -> dict[str, bytes]:
    """Return the files of a new run; raises StoreError if they are too large to be sent, or cannot be read."""
    files, room = {}, MOST_DELIVERED_BYTES
    for name in names(directory):
        with opened(directory, name) as file:
            files[name] = file.read(room + 1)
        room -= len(files[name])
        if room < 0:
            raise StoreError(f"the run's files are larger than {MOST_DELIVERED_BYTES // 1024**2} MiB")
    return files


def digest(files: dict[str, bytes]) -> str:
    """Return the address of a parcel's content."""
    named = "".join(f"{name}\0{hashlib.sha256(files[name]).hexdigest()}\n" for name in sorted(files))
    return hashlib.sha256(named.encode()).hexdigest()


def unpack(files: dict[str, bytes], directory: Path) -> None:
    """Write a parcel's files into a new directory; raises StoreError, OSError."""
    for name, data in files.items():
        path = directory / check_name(name)
        path.parent.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
        with path.open("xb") as file:
            file.write(data)


def entries(directory: Path) -> tuple[HostFile, ...]:
    """Return each file with its bytes and digest; raises StoreError, OSError."""
    listed = []
    for name in names(directory):
        with opened(directory, name) as file:
            digest_of_file = hashlib.file_digest(file, "sha256").hexdigest()
            listed.append(HostFile(name, file.tell(), digest_of_file))
    return tuple(listed)


def piece(directory: Path, name: str, offset: int) -> PieceReply:
    """Return the next bytes of a file; none at its end, and if it is gone. Raises StoreError."""
    try:
        with opened(directory, check_name(name)) as file:
            file.seek(offset)
            return PieceReply(name, offset, file.read(PIECE_BYTES))
    except OSError:
        return PieceReply(name, offset, b"")


def append(directory: Path, new: PieceReply) -> int:
    """Add bytes to the end of a file; return its bytes. A piece that does not continue it is left out.

    Raises StoreError, OSError.
    """
    path = _place(directory, new.name)
    with path.open("ab") as file:
        if file.tell() == new.offset:
            file.write(new.data)
        return file.tell()


def has(directory: Path, entry: HostFile) -> bool:
    """Return True if a file is there with the same bytes."""
    try:
        with opened(directory, entry.name) as file:
            same = os.fstat(file.fileno()).st_size == entry.size
            return same and hashlib.file_digest(file, "sha256").hexdigest() == entry.digest
    except OSError:
        return False


def place(directory: Path, name: str, source: Path) -> None:
    """Move a complete file to its name; raises StoreError, OSError."""
    source.replace(_place(directory, name))


def opened(directory: Path, name: str) -> BufferedReader:
    """Open a regular file of a run to read, through no link; raises OSError."""
    at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        *parents, last = name.split("/")
        for parent in parents:
            inner = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
            os.close(at)
            at = inner
        file = os.open(last, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=at)
    finally:
        os.close(at)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        raise OSError(f"{name} is not a regular file")
    return os.fdopen(file, "rb")


def _place(directory: Path, name: str) -> Path:
    path = directory / check_name(name)
    path.parent.mkdir(parents=True, exist_ok=True, mode=OWNER_ALONE)
    return path


def _walk(directory: Path, prefix: str = "", depth: int = 0) -> Iterator[str]:
    """Yield the regular files below a directory, relative to it."""
    if depth > MOST_DEPTH:
        return
    try:
        found = list(os.scandir(directory))
    except OSError:
        return
    for each in found:
        if each.is_dir(follow_symlinks=False):
            yield from _walk(Path(each.path), f"{prefix}{each.name}/", depth + 1)
        elif each.is_file(follow_symlinks=False):
            yield f"{prefix}{each.name}"

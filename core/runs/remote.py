"""Remote archive: the large files of runs, moved to any URL that fsspec opens.

`COMPILEBOARD_ARCHIVE` is the URL of a directory, such as `s3://bucket/runs`. Each moved run has one file
there, with the SHA-256 of its content in its name, and a record in the run's directory:

  archived.json   name and bytes of the archive's file; path, bytes and modification time of each moved file

Status, job, code, names, tags, comments, tool results and the summary stay. Results from the log are deleted,
and made again when needed. Opening a run fetches its files. Fetched files are a cache: if they take more than
`COMPILEBOARD_ARCHIVE_CACHE_GIB`, the files of the run that was opened least recently are removed first.
Fetched files are not trusted: size and SHA-256 are checked, and a name or link that leads out of the run is
refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import secrets
import shutil
import tarfile
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, BinaryIO

import msgspec
from filelock import FileLock
from msgspec import Meta

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, SettingError, StoreError, TraceError
from core.base.files import (
    DELETED_RECORDS,
    LOCKS,
    OWNER_ALONE,
    in_words,
    make_private,
    one_line,
    read,
    regular,
    remove,
    write_atomically,
)
from core.base.words import bytes_
from core.job import GIB
from core.runs.inputs.archives import unpack
from core.runs.store import ARCHIVED, RANKS, TOOLS, Run, Store

VARIABLE, CACHE_VARIABLE = "COMPILEBOARD_ARCHIVE", "COMPILEBOARD_ARCHIVE_CACHE_GIB"
CACHE_GIB = 20.0
# Files of a run that stay: small ones, and what its people wrote.
STAYS = re.compile(r"[\w-]{1,40}\.(?:json|txt|py)|pinned|summary-\d+\.json")
MOVED = ("profile.json", "output.txt")
# What is made from the log.
MADE = re.compile(r"report\.[\w.]+|graphs|results")
NAME = re.compile(r"([\w.-]{1,150})-([0-9a-f]{64})\.tar\.gz")
MAX_MARKER_BYTES = 4_000_000  #: `archived.json`
MOST_FILES = 10_000  #: limit: files of a run in an external archive
MAX_MOVED_BYTES = 64 * GIB  #: limit: all files of a run in an external archive
MOST_REASON_CHARS = 300  #: the reason why an external archive is unavailable
PIECE = 1 << 20
# Headers of a file in a tar file, and the end of one.
TAR_BYTES = 20_480
MOST_AT_ONCE = 2  #: limit: runs that a server fetches from an external archive at once
_turn = threading.BoundedSemaphore(MOST_AT_ONCE)
Bytes = Annotated[int, Meta(ge=0, le=MAX_MOVED_BYTES)]


class ArchiveError(StoreError):
    """Error for an archive that cannot be used now, for any run."""


@dataclass(frozen=True, slots=True)
class MovedFile:
    """A file of a run that was moved: its path below the run, its bytes, and its modification time."""

    path: str
    size_bytes: Bytes
    mtime_ns: Annotated[int, Meta(ge=0, le=2**63 - 1)]

    def is_at(self, run: Run) -> bool:
        """Return True if the run has the file with the same size and modification time."""
        status = regular(run.path / self.path, links=False)
        return status is not None and (status.st_size, status.st_mtime_ns) == (self.size_bytes, self.mtime_ns)


@dataclass(frozen=True, slots=True)
class MovedFiles:
    """Files of a run that were moved together into one file of the archive.

    `name` and `size_bytes` are those of the file in the archive; `files` are the moved files.
    """

    name: str
    size_bytes: Bytes
    files: Annotated[tuple[MovedFile, ...], Meta(max_length=MOST_FILES)]

    @property
    def unpacked_bytes(self) -> int:
        """Bytes of the run's files together."""
        return sum(file.size_bytes for file in self.files)

    def missing(self, run: Run) -> tuple[MovedFile, ...]:
        """Return the files that do not exist in the run's directory; changed files are not missing."""
        return tuple(file for file in self.files if not os.path.lexists(run.path / file.path))


def moved_of(run: Run, record: Path | None = None) -> MovedFiles | None:
    """Return the record of a run's moved files; None if there is no readable record of this run."""
    try:
        moved = decoded_as(read(record or run.path / ARCHIVED, MAX_MARKER_BYTES), MovedFiles)
    except (OSError, DecodeError):
        return None
    match = NAME.fullmatch(moved.name)
    return moved if match is not None and match[1] == run.path.name else None


def is_away(run: Run) -> bool:
    """Return True if some files of a run are only in the archive."""
    moved = moved_of(run)
    return moved is not None and bool(moved.missing(run))


def remote_archive(store: Store, environment: Mapping[str, str] = os.environ) -> RemoteArchive | None:
    """Return the archive of a store; None if no archive is configured. Raises SettingError."""
    url, text = environment.get(VARIABLE, "").strip(), environment.get(CACHE_VARIABLE, "").strip()
    if not url:
        return None
    try:
        cache_gib = float(text or CACHE_GIB)
    except ValueError:
        cache_gib = -1.0
    if not 0 <= cache_gib < MAX_MOVED_BYTES:
        raise SettingError(f"{CACHE_VARIABLE} is `{text[:60]}`, and must be a number of GiB")
    return RemoteArchive(store, url, int(cache_gib * GIB))


def bring_back(run: Run, progress: Callable[[int, int], object] = lambda done, total: None) -> None:
    """Fetch a run's files from the archive if some are only there; raises StoreError."""
    if not is_away(run):
        return
    archive = remote_archive(Store(run.path.parent.parent))
    if archive is None:
        raise StoreError(f"the files of run {run.id} were moved to an archive; set {VARIABLE} to its address")
    archive.bring_back(run, progress)


class RemoteArchive:
    """The archive of a store at a URL. Safe to use by several processes."""

    def __init__(self, store: Store, url: str, cache_bytes: int) -> None:
        self.store = store
        self._url = url
        self.cache_bytes = cache_bytes

    @property
    def words(self) -> str:
        """The URL without user name and password."""
        return one_line(re.sub(r"//[^/@]*@", "//", self._url), MOST_REASON_CHARS)

    def move(self, run: Run) -> int:
        """Move the checked large files of an ended run; return the freed bytes. Raises StoreError."""
        if run.status().live:
            raise StoreError(f"the run {run.id} is still going; move it when it has ended")
        if run.ranks():
            raise StoreError(f"the run {run.id} has ranks, whose logs stay in the store")
        with _locked(run), self._scratch() as scratch:
            earlier, files = moved_of(run), tuple(_moved_files(run.path))
            if not files or (earlier is not None and earlier.missing(run)):
                return 0
            if earlier is not None and set(earlier.files) == set(files):
                return _remove(run, earlier)
            packed = scratch / "packed"
            moved = _pack(run, files, packed)
            with self._in_words():
                self._upload(packed, moved)
            with in_words(run.path):
                write_atomically(run.path / ARCHIVED, msgspec.json.encode(moved))
                freed = _remove(run, moved)
            if earlier is not None and earlier.name != moved.name:
                with self._in_words():
                    self._forget(earlier)
            return freed

    def bring_back(self, run: Run, progress: Callable[[int, int], object] = lambda done, total: None) -> None:
        """Fetch a run's missing files; `progress` gets fetched and total bytes. Raises StoreError."""
        with _turn, _locked(run), self._scratch() as scratch:
            moved = moved_of(run)
            missing = moved.missing(run) if moved is not None else ()
            if moved is None or not missing:
                return
            packed, unpacked = scratch / "packed", scratch / "unpacked"
            with self._in_words(), self._files.open(self._place(moved.name), "rb") as source, packed.open("xb") as file:
                digest = _copy(source, file, moved.size_bytes, lambda done: progress(done, moved.size_bytes))
            _check_digest(moved, digest)
            _unpack(packed, unpacked, moved)
            with in_words(run.path):
                for file_back in missing:
                    _put_back(unpacked, run, file_back)
                os.utime(run.path / ARCHIVED)

    def let_go(self, run: Run) -> int:
        """Remove a run's fetched files that have not changed; return the freed bytes.

        Does nothing if some of its files are only in the archive.
        """
        with _locked(run), in_words(run.path):
            moved = moved_of(run)
            return _remove(run, moved) if moved is not None and not moved.missing(run) else 0

    def remove_deleted(self) -> None:
        """Remove the files of deleted runs from the archive; raises ArchiveError."""
        for path in (self.store.home / DELETED_RECORDS).glob("*.json"):
            name = path.name.removesuffix(".json")
            moved = moved_of(Run(name, self.store.runs_dir / name), path)
            with self._in_words():
                if moved is not None:
                    self._forget(moved)
            with in_words(path):
                path.unlink(missing_ok=True)

    def _forget(self, moved: MovedFiles) -> None:
        """Remove a packed file from the archive, if it is still there."""
        if self._files.exists(self._place(moved.name)):
            self._files.rm_file(self._place(moved.name))

    @cached_property
    def _opened(self) -> tuple[Any, str]:
        from fsspec.core import url_to_fs

        files, root = url_to_fs(self._url)
        return files, root

    @property
    def _files(self) -> Any:
        return self._opened[0]

    def _place(self, name: str) -> str:
        return f"{self._opened[1].rstrip('/')}/{name}"

    def _upload(self, packed: Path, moved: MovedFiles) -> None:
        """Copy a packed run to the archive and read the copy back; raises StoreError if it differs."""
        place = self._place(moved.name)
        if "file" in self._files.protocol:
            self._files.makedirs(self._opened[1], exist_ok=True)
        self._files.put_file(str(packed), place)
        with self._files.open(place, "rb") as source, open(os.devnull, "wb") as nowhere:
            _check_digest(moved, _copy(source, nowhere, moved.size_bytes))

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn the errors of a file system into an ArchiveError: each file system has its own error types."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            reason = one_line(str(error) or type(error).__name__, MOST_REASON_CHARS)
            raise ArchiveError(f"the archive {self.words} cannot be used: {reason}") from None

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[Path]:
        """Yield a new directory in the store, which is removed at the end, or by `tidy` later."""
        scratch = self.store.runs_dir / f".{secrets.token_hex(8)}.{secrets.token_hex(4)}"
        with in_words(scratch):
            scratch.mkdir(mode=OWNER_ALONE)
        try:
            yield scratch
        finally:
            shutil.rmtree(scratch, ignore_errors=True)


@contextlib.contextmanager
def _locked(run: Run) -> Iterator[None]:
    """Keep other processes from moving the files of a run while the context is entered; raises StoreError."""
    # Outside the run's directory, where code could put a link. Few files for many runs.
    locks = run.path.parent.parent / LOCKS
    stripe = hashlib.sha256(run.path.name.encode()).hexdigest()[:2]
    with in_words(locks):
        make_private(locks)
        lock = FileLock(locks / stripe, mode=0o600, thread_local=False, fallback_to_soft=False)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def _moved_files(directory: Path) -> Iterator[MovedFile]:
    """Yield the regular files of a run to be moved; links stay where they are."""
    for parent, names, files in os.walk(directory):
        below = Path(parent).relative_to(directory)
        if parent == str(directory):
            names[:] = [name for name in names if name not in (TOOLS, RANKS) and not MADE.fullmatch(name)]
        for name in sorted(files):
            stays = name not in MOVED and (STAYS.fullmatch(name) or MADE.fullmatch(name) or name.startswith("."))
            status = regular(Path(parent) / name, links=False)
            if status is not None and not (stays and parent == str(directory)):
                yield MovedFile((below / name).as_posix(), status.st_size, status.st_mtime_ns)


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)


def _pack(run: Run, files: tuple[MovedFile, ...], target: Path) -> MovedFiles:
    """Pack the files of a run into a tar.gz file, and return their record; raises StoreError."""
    if len(files) > MOST_FILES or sum(file.size_bytes for file in files) > MAX_MOVED_BYTES:
        raise StoreError(f"the run {run.id} has more files, or larger ones, than are moved")
    with in_words(run.path), tarfile.open(target, "w:gz", compresslevel=6) as archive:
        for moved in files:
            with open(run.path / moved.path, "rb", opener=_open_no_link) as file:
                member = tarfile.TarInfo(moved.path)
                member.size = moved.size_bytes
                archive.addfile(member, file)
    with target.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return MovedFiles(f"{run.path.name}-{digest}.tar.gz", target.stat().st_size, files)


def _copy(source: Any, target: BinaryIO, most_bytes: int, progress: Callable[[int], object] = lambda done: None) -> str:
    """Copy a file, and return its SHA-256; raises StoreError if it is larger than `most_bytes`."""
    digest, done = hashlib.sha256(), 0
    while piece := source.read(PIECE):
        done += len(piece)
        if done > most_bytes:
            raise StoreError(f"the file in the archive is larger than the {bytes_(most_bytes)} that were moved there")
        digest.update(piece)
        target.write(piece)
        progress(done)
    return digest.hexdigest()


def _check_digest(moved: MovedFiles, digest: str) -> None:
    if NAME.fullmatch(moved.name) is None or not moved.name.endswith(f"-{digest}.tar.gz"):
        raise StoreError(f"{moved.name} in the archive is not what was moved there: its SHA-256 is {digest}")


def _unpack(packed: Path, target: Path, moved: MovedFiles) -> None:
    """Unpack a run's archive; raises StoreError if it is damaged, too large, or has links or devices."""
    # The tar file and the files in it.
    most_bytes = 2 * moved.unpacked_bytes + (1 + len(moved.files)) * TAR_BYTES
    try:
        with packed.open("rb") as file:
            skipped = unpack(file, "gzip", target, moved.name, most_bytes)
    except TraceError as error:
        raise StoreError(str(error)) from None
    if skipped or not target.is_dir():
        raise StoreError(f"{moved.name} in the archive has something else than files")


def _put_back(unpacked: Path, run: Run, file: MovedFile) -> None:
    """Move an unpacked file of the expected size to its place in the run; raises StoreError."""
    pure, source, target = PurePosixPath(file.path), unpacked / file.path, run.path / file.path
    status = regular(source, links=False)
    if pure.is_absolute() or ".." in pure.parts or status is None or status.st_size != file.size_bytes:
        raise StoreError(f"the archive of run {run.id} has no such file `{one_line(file.path, MOST_REASON_CHARS)}`")
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.parent.resolve().is_relative_to(run.path.resolve()):
        raise StoreError(f"`{one_line(file.path, MOST_REASON_CHARS)}` leads out of run {run.id}")
    os.utime(source, ns=(file.mtime_ns, file.mtime_ns))
    source.rename(target)


def _remove(run: Run, moved: MovedFiles) -> int:
    """Remove unchanged moved files, and all results made from the log; return the moved files' bytes."""
    freed = 0
    for file in moved.files:
        if file.is_at(run):
            (run.path / file.path).unlink()
            freed += file.size_bytes
    for path in list(run.path.iterdir()):
        if MADE.fullmatch(path.name):
            remove(path)
    return freed

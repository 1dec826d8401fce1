"""Untrusted archives, unpacked within limits: gzip, Zstandard, ZIP and tar.

An archive is refused if a name contains `..`, is absolute, or occurs twice. Links and devices are skipped,
and archives in an archive stay packed. Limits count the bytes that are written, not the sizes that the
archive declares. A tar file is decompressed first and read in small pieces, since a header may declare any
size.
"""

import gzip
import io
import struct
import tarfile
import threading
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Literal

from backports import zstd

from core.base.errors import TraceError
from core.base.files import one_line, open_regular
from core.base.words import gib, number
from core.trace.ranks import files_below

Kind = Literal["", "gzip", "zstd", "zip", "tar"]
MAGIC: tuple[tuple[Kind, int, bytes], ...] = (
    ("gzip", 0, b"\x1f\x8b"),
    ("zstd", 0, b"\x28\xb5\x2f\xfd"),
    ("zip", 0, b"PK\x03\x04"),
    ("zip", 0, b"PK\x05\x06"),
    ("tar", 257, b"ustar"),
)
MOST_MEMBERS = 20_000  #: limit: files of an archive
MOST_PARTS = 16  #: folders in a file name of an archive
MAX_DIRECTORY_BYTES = 16_000_000  #: the file list of a ZIP archive
# 128 MiB, what `zstd --long` writes; a larger window is refused.
WINDOW_LOG = 27
PIECE = 1 << 20
MOST_HEADERS = 100_000  #: headers of a tar archive
# LZMA is left out: a few bytes make it allocate 4 GB.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
# A Zstandard window takes 128 MB, whoever sends the archive.
MOST_AT_ONCE = 2  #: limit: archives that are unpacked at once
_turn = threading.BoundedSemaphore(MOST_AT_ONCE)
MOST_NAME_CHARS = 200  #: a file name of an archive in a message
END_OF_ZIP = struct.Struct("<4s4H2LH")
ZIP64_LOCATOR_BYTES, ZIP_TAIL_BYTES = 20, 1 << 16
DAMAGE = (
    EOFError,
    zlib.error,
    zstd.ZstdError,
    zipfile.BadZipFile,
    tarfile.TarError,
    RuntimeError,
    RecursionError,
    # Of Python 3.11's zipfile, for a member without a name.
    IndexError,
    UnicodeError,
    struct.error,
    OverflowError,
)
SUFFIXES: dict[str, Kind] = {".log.gz": "gzip", ".log.zst": "zstd"}


def kind_of(file: BinaryIO) -> Kind:
    """Return the kind of an archive by its first bytes, empty for any other file, and rewind it."""
    file.seek(0)
    start = file.read(512)
    file.seek(0)
    return next((kind for kind, offset, magic in MAGIC if start[offset:].startswith(magic)), "")


def unpack(file: BinaryIO, kind: Kind, target: Path, name: str, most_bytes: int) -> tuple[str, ...]:
    """Unpack an archive into the directory `target`; return the skipped members.

    A single compressed file becomes the file `target`. Raises TraceError if the archive is damaged, unsafe or larger
    than `most_bytes` unpacked, and OSError if the disk is full.
    """
    try:
        with _turn:
            return _unpack(file, kind, target, Room(most_bytes))
    except DAMAGE as error:
        raise TraceError(f"{name} is a damaged or an encrypted archive: {one_line(str(error), 200)}") from None
    except (gzip.BadGzipFile, NotADirectoryError, IsADirectoryError, FileExistsError) as error:
        raise TraceError(f"{name} is a damaged archive: {one_line(error.strerror or str(error), 200)}") from None


def unpack_logs(directory: Path, target: Path, most_bytes: int) -> dict[Path, str]:
    """Unpack each `*.log.gz` and `*.log.zst` in a directory; return unpacked log → original name.

    Raises TraceError if a log is damaged, or if the logs are larger than `most_bytes` together.
    """
    room, logs = Room(most_bytes), {}
    for count, path in enumerate(files_below(directory)):
        kind: Kind = next((kind for suffix, kind in SUFFIXES.items() if path.name.endswith(suffix)), "")
        if kind:
            name = str(path.relative_to(directory))
            log = target / str(count) / path.name.rpartition(".")[0]
            log.parent.mkdir(parents=True)
            with open_regular(path) as file:
                try:
                    room.copy(_decompressed(file, kind), log)
                except (*DAMAGE, gzip.BadGzipFile):
                    raise TraceError(f"{one_line(name, MOST_NAME_CHARS)} is damaged") from None
            logs[log] = name
    return logs


class Room:
    """A limit on the total bytes of unpacked files."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = self._left = most_bytes

    def copy(self, source: BinaryIO, target: Path) -> None:
        """Copy a stream to a new file; raises TraceError if this exceeds the limit."""
        with target.open("xb") as file:
            while piece := source.read(PIECE):
                self._left -= len(piece)
                if self._left < 0:
                    raise TraceError(f"the unpacked logs are larger than {gib(self._most_bytes)}")
                file.write(piece)


def _unpack(file: BinaryIO, kind: Kind, target: Path, room: Room) -> tuple[str, ...]:
    if kind == "zip":
        return _unpack_zip(file, target, room)
    if kind == "tar":
        return _unpack_tar(file, target, room)
    inner = target.with_name(f"{target.name}.inner")
    room.copy(_decompressed(file, kind), inner)
    with inner.open("rb") as unpacked:
        if kind_of(unpacked) == "tar":
            skipped = _unpack_tar(unpacked, target, room)
            inner.unlink()
            return skipped
    inner.rename(target)
    return ()


def _decompressed(file: BinaryIO, kind: Kind) -> BinaryIO:
    if kind == "gzip":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    return zstd.ZstdFile(file, options={zstd.DecompressionParameter.window_log_max: WINDOW_LOG})  # type: ignore[return-value]


def _unpack_zip(file: BinaryIO, target: Path, room: Room) -> tuple[str, ...]:
    _check_zip_directory(file)
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        _check_count(len(members))
        for member in members:
            path = _place(target, member.filename)
            if member.is_dir():
                path.mkdir(parents=True, exist_ok=True)
                continue
            if member.compress_type not in ZIP_METHODS:
                raise TraceError(f"the archive has a compression method ({member.compress_type}) that is not read")
            path.parent.mkdir(parents=True, exist_ok=True)
            with archive.open(member) as source:
                room.copy(source, path)  # type: ignore[arg-type]
    return ()


def _check_zip_directory(file: BinaryIO) -> None:
    """Raise TraceError if the list of members, which `zipfile` reads whole, is too large or ZIP64."""
    size = file.seek(0, io.SEEK_END)
    file.seek(max(0, size - ZIP_TAIL_BYTES - END_OF_ZIP.size - ZIP64_LOCATOR_BYTES))
    tail = file.read()
    file.seek(0)
    start = tail.find(b"PK\x05\x06")
    while start >= 0:
        end = tail[start : start + END_OF_ZIP.size]
        if len(end) == END_OF_ZIP.size and END_OF_ZIP.unpack(end)[5] > MAX_DIRECTORY_BYTES:
            raise TraceError("the archive lists too many members; compress one log with gzip or Zstandard instead")
        start = tail.find(b"PK\x05\x06", start + 1)
    if b"PK\x06\x07" in tail:
        raise TraceError("ZIP64 archives are not read; compress one log with gzip or Zstandard instead")


def _unpack_tar(file: BinaryIO, target: Path, room: Room) -> tuple[str, ...]:
    skipped = []
    target.mkdir()
    with tarfile.open(fileobj=SmallReads(file), mode="r:", errorlevel=2) as archive:
        for count, member in enumerate(archive, 1):
            _check_count(count)
            path = _place(target, member.name)
            if member.isdir():
                path.mkdir(parents=True, exist_ok=True)
            elif not member.isreg():
                skipped.append(f"{one_line(member.name, MOST_NAME_CHARS)} (a link or a device)")
            elif (source := archive.extractfile(member)) is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
                room.copy(source, path)  # type: ignore[arg-type]
    return tuple(skipped)


class SmallReads(io.RawIOBase):
    """A tar file with bounded reads.

    `tarfile` itself reads headers of any size, and in some files an endless number of headers.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._headers = 0

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes; raises TraceError for more than `PIECE` bytes, and after too many headers."""
        self._headers += size <= tarfile.BLOCKSIZE
        if not 0 <= size <= PIECE or self._headers > MOST_HEADERS:
            raise TraceError("the archive has a header that is too large, or headers without end")
        return self._file.read(size)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Set the position; raises TraceError for a negative offset."""
        if offset < 0:
            raise TraceError("the archive has a member of a negative size")
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the offset."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readable(self) -> bool:
        """Return True."""
        return True


def _check_count(count: int) -> None:
    if count > MOST_MEMBERS:
        raise TraceError(f"the archive has more than {number(MOST_MEMBERS)} members")


def _place(target: Path, name: str) -> Path:
    """Return the path of a member below `target`; raises TraceError for an unsafe name."""
    pure = PurePosixPath(name)
    parts = [part for part in pure.parts if part != "."]
    unsafe = pure.is_absolute() or ".." in parts or "\\" in name or "\0" in name or ":" in name[:2]
    if unsafe or len(parts) > MOST_PARTS or any(len(part.encode("utf-8", "replace")) > 255 for part in parts):
        raise TraceError(f"the archive has the unsafe name `{one_line(name, MOST_NAME_CHARS)}`")
    return target.joinpath(*parts)

"""Calls to a host, its replies, and the run directories that cross machines.

Calls and replies are MessagePack with the class name in `type`. Every call may be repeated.

HelloCall        FactsReply: the host, and its runs of the store; the call is also a heartbeat
DescribeCall     DescriptionReply: None while torch starts
PrepareCall      LackReply: empty once torch runs
TakeTurnCall     TurnReply
EndTurnCall      DoneReply
LaunchCall       ProgressReply: the host has the complete run and has started it; a second launch does nothing
PollCall         ProgressReply: new bytes of the growing files
ListCall         FilesReply: the files of the ended run
ReadCall         PieceReply: bytes of a file
CancelCall       DoneReply: the end of the run was requested; a run that has not started never will
ForgetCall       DoneReply: the directory of an ended run is removed
any call         FailureReply with the reason, if the call fails

Files are transferred under safe names, as bytes and digests; links are never followed. A host gets the files
of a new run all at once: those of `SENT`. The server gets new bytes of the growing files. After the run, the
server gets each file of `RETURNED` that differs from its own copy. Neither side trusts the file names of the
other, and no file goes both ways: a run cannot change its job or its code, nor write the server's own files.
"""

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from core.base.decoder import unpacked_as
from core.base.errors import StoreError
from core.base.files import OWNER_ALONE, in_words, regular
from core.base.machine import Environment
from core.base.words import number
from core.runs.status import Status

PROTOCOL = 3
# A delivered directory is one message; so are the pieces of a reply.
MOST_CALL_BYTES = 64 * 1024**2  #: a call to a host
MOST_REPLY_BYTES = 16 * 1024**2  #: a reply of a host
PIECE_BYTES = 1024**2
MOST_FILES = 10_000  #: limit: files of a run, and runs of a host
# Ids of hosts and stores.
Id = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}$")]
# A run's id, or that of a tool's directory in it.
RunKey = Annotated[str, Meta(pattern=r"^[0-9]{8}-[0-9]{6}-[a-z0-9_]{1,40}-[0-9a-f]{4}(/[0-9a-f]{16})?$")]
Name = Annotated[str, Meta(min_length=1, max_length=400)]
Words = Annotated[str, Meta(max_length=2_000)]
Size = Annotated[int, Meta(ge=0, lt=2**53)]
Device = Annotated[str, Meta(pattern=r"^[a-z]{1,20}(:[0-9]{1,4})?$")]


class HelloCall(msgspec.Struct, frozen=True, tag=True):
    """Request for a host's facts and its runs of a store.

    The call also keeps the server's device locks on the host.
    """

    store: Id
    server: Id


class DescribeCall(msgspec.Struct, frozen=True, tag=True):
    """Request for torch's capabilities on the host."""


class PrepareCall(msgspec.Struct, frozen=True, tag=True):
    """Request to start the torch of a target in the background."""

    target: Words


class RunMessage(msgspec.Struct, frozen=True):
    """Request about a run of a store."""

    store: Id
    run: RunKey


class TakeTurnCall(RunMessage, frozen=True, tag=True):
    """Request to lock a device for a run that the server has not sent yet."""

    server: Id
    device: Device
    measures: bool


class EndTurnCall(RunMessage, frozen=True, tag=True):
    """Request to release a run's lock."""


class LaunchCall(RunMessage, frozen=True, tag=True):
    """Request to start a run, at most once.

    `files` are the files of the run's directory by name, and `digest` is their common digest. The reply waits a moment
    for the first record of the run's log.
    """

    target: Words
    device: Device
    measures: bool
    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    files: dict[Name, bytes]


class PollCall(RunMessage, frozen=True, tag=True):
    """Request for a run's progress; `sizes` has the bytes of each growing file on the server."""

    sizes: dict[Name, Size]


class ListCall(RunMessage, frozen=True, tag=True):
    """Request for the files of an ended run."""


class ReadCall(RunMessage, frozen=True, tag=True):
    """Request for a piece of an ended run's file."""

    name: Name
    offset: Size


class CancelCall(RunMessage, frozen=True, tag=True):
    """Request to end a run."""


class ForgetCall(RunMessage, frozen=True, tag=True):
    """Request to remove the directory of a run that has ended."""


class FactsReply(msgspec.Struct, frozen=True, tag=True):
    """A host: its id, versions and hardware in words, and its runs of the store.

    Hosts of equal `kind` may measure the cells of one sweep. `devices` and `torch` are empty while torch starts;
    `problem` is why torch cannot start. `code_allowed` is False if the host runs samples only.
    """

    host: Id
    protocol: int
    name: Words
    code_allowed: bool
    devices: dict[Device, Words] = {}
    torch: Words = ""
    triton: Words = ""
    driver: Words = ""
    kind: Words = ""
    problem: Words = ""
    runs: Annotated[tuple[RunKey, ...], Meta(max_length=MOST_FILES)] = ()


class DescriptionReply(msgspec.Struct, frozen=True, tag=True):
    """Versions, devices and backends of torch; None while torch starts."""

    environment: Environment | None


class LackReply(msgspec.Struct, frozen=True, tag=True):
    """The torch that must start before a run, in words; empty if it is running."""

    words: Words


class TurnReply(msgspec.Struct, frozen=True, tag=True):
    """Result of a request for a lock: True if the device is locked for the run."""

    taken: bool


class DoneReply(msgspec.Struct, frozen=True, tag=True):
    """Reply that the call is done."""


class PieceReply(msgspec.Struct, frozen=True, tag=True):
    """Bytes of a file from an offset; empty at the end of the file."""

    name: Name
    offset: Size
    data: bytes


class ProgressReply(msgspec.Struct, frozen=True, tag=True):
    """A run's status, None if the host has no such run, and new bytes of its growing files.

    `live` is True as long as a process of the run may be alive, or some new bytes are not in the reply.
    """

    status: Status | None
    live: bool = False
    pieces: tuple[PieceReply, ...] = ()


class HostFile(msgspec.Struct, frozen=True):
    """A file of an ended run: its name, size in bytes, and SHA-256."""

    name: Name
    size: Size
    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class FilesReply(msgspec.Struct, frozen=True, tag=True):
    """The files of an ended run."""

    files: Annotated[tuple[HostFile, ...], Meta(max_length=MOST_FILES)]


class FailureReply(msgspec.Struct, frozen=True, tag=True):
    """Failure of a call: the reason, and the signal if a signal ended a process."""

    why: Words
    signal: str | None = None


CallAboutRun = EndTurnCall | LaunchCall | PollCall | ListCall | ReadCall | CancelCall | ForgetCall | TakeTurnCall
HostCall = HelloCall | DescribeCall | PrepareCall | CallAboutRun
HostReply = (
    FactsReply
    | DescriptionReply
    | LackReply
    | TurnReply
    | DoneReply
    | PieceReply
    | ProgressReply
    | FilesReply
    | FailureReply
)


def packed(message: HostCall | HostReply) -> bytes:
    """Return a message as bytes."""
    return msgspec.msgpack.encode(message)


def call_of(data: bytes) -> HostCall:
    """Parse a call; raises DecodeError."""
    parsed: HostCall = unpacked_as(data, HostCall, MOST_CALL_BYTES)
    return parsed


def reply_of(data: bytes) -> HostReply:
    """Parse a reply; raises DecodeError."""
    parsed: HostReply = unpacked_as(data, HostReply, MOST_REPLY_BYTES)
    return parsed


# Files of a run or of a kernel tool that a host gets, and those that the server gets back from it. The status
# is in the replies. All other files of a run are the server's own.
SENT = ("job.json", "model.py", "original.py", "backend.py", "rival_backend.py", "rival_model.py", "task.json")
SAFE = r"[\w@+=-][\w.@+=-]{0,199}"
RETURNED = (
    *(rf"trace/{SAFE}\.log", r"output\.txt", r"answer\.json", rf"programs/{SAFE}\.(?:cbp|c|inputs|expected)"),
    r"aoti/(?:model\.pt2|inputs\.bin|expected\.bin|main\.cpp|CMakeLists\.txt|README\.md)",
)
IS_RETURNED = re.compile("|".join(RETURNED))
MOST_DEPTH = 1  #: nested directories of a run
# The room that a message needs beside its files.
MOST_DELIVERED_BYTES = 63 * 1024**2  #: limit: files of a new run, sent to a node in one message
# What a run leaves, with its log.
MOST_COLLECTED_BYTES = 16 * 1024**3  #: limit: files of an ended run, collected from a node


def is_returned(name: str) -> bool:
    """Return True if a run may return a file of this name, relative to its directory."""
    return IS_RETURNED.fullmatch(name) is not None


def check_returned(name: str) -> str:
    """Return the name of a file relative to its run; raises StoreError if no run returns such a file."""
    if not is_returned(name):
        raise StoreError(f"`{name[:80]}` is no file that a run returns")
    return name


def sent_names(directory: Path) -> list[str]:
    """Return the names of the files of a new run to send to its host."""
    return sorted(name for name in SENT if regular(directory / name, links=False) is not None)


def returned_names(directory: Path) -> list[str]:
    """Return the names of the files that a run returns; raises StoreError if there are too many."""
    names = sorted(filter(is_returned, _walk(directory)))
    if len(names) > MOST_FILES:
        raise StoreError(f"the run has more than {number(MOST_FILES)} files")
    return names


def parcel_of(directory: Path) -> dict[str, bytes]:
    """Return the files of a new run by name; raises StoreError if too large or unreadable."""
    files, room = {}, MOST_DELIVERED_BYTES
    for name in sent_names(directory):
        with in_words(directory), open_carried(directory, name) as file:
            files[name] = file.read(room + 1)
        room -= len(files[name])
        if room < 0:
            raise StoreError(f"the run's files are larger than {MOST_DELIVERED_BYTES // 1024**2} MiB")
    return files


def digest_of(files: dict[str, bytes]) -> str:
    """Return the digest of a parcel's files."""
    named = "".join(f"{name}\0{hashlib.sha256(files[name]).hexdigest()}\n" for name in sorted(files))
    return hashlib.sha256(named.encode()).hexdigest()


def unpack_files(files: dict[str, bytes], directory: Path) -> None:
    """Write a parcel's files into a new directory; raises StoreError, OSError."""
    for name, data in files.items():
        if name not in SENT:
            raise StoreError(f"`{name[:80]}` is no file that a server sends")
        with (directory / name).open("xb") as file:
            file.write(data)


def file_entries(directory: Path) -> tuple[HostFile, ...]:
    """Return the name, size and digest of each returned file; raises StoreError, OSError."""
    listed = []
    for name in returned_names(directory):
        with open_carried(directory, name) as file:
            digest_of_file = hashlib.file_digest(file, "sha256").hexdigest()
            listed.append(HostFile(name, file.tell(), digest_of_file))
    return tuple(listed)


def read_piece(directory: Path, name: str, offset: int) -> PieceReply:
    """Return the next bytes of a file; empty at its end, or if the file is missing. Raises StoreError."""
    try:
        with open_carried(directory, check_returned(name)) as file:
            file.seek(offset)
            return PieceReply(name, offset, file.read(PIECE_BYTES))
    except OSError:
        return PieceReply(name, offset, b"")


def append_piece(directory: Path, new: PieceReply) -> int:
    """Append a piece at its file's end, and return the file's size; raises StoreError, OSError."""
    path = _place(directory, new.name)
    with path.open("ab") as file:
        if file.tell() == new.offset:
            file.write(new.data)
        return file.tell()


def has_file(directory: Path, entry: HostFile) -> bool:
    """Return True if a run has a file with the same bytes."""
    try:
        with open_carried(directory, entry.name) as file:
            same = os.fstat(file.fileno()).st_size == entry.size
            return same and hashlib.file_digest(file, "sha256").hexdigest() == entry.digest
    except OSError:
        return False


def place_file(directory: Path, name: str, source: Path) -> None:
    """Move a complete file into a run's directory under its name; raises StoreError, OSError."""
    source.replace(_place(directory, name))


def open_carried(directory: Path, name: str) -> BufferedReader:
    """Open a regular file of a run to read, without following links; raises OSError."""
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
    path = directory / check_returned(name)
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

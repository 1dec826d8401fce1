"""Calls to a host and its replies, as MessagePack with the class name in `type`. Every call may be repeated.

HelloCall        FactsReply: heartbeat; what the host is, and which runs of the store it has
DescribeCall     DescriptionReply, with None while torch starts
PrepareCall      LackReply, empty once torch runs
TakeTurnCall     TurnReply
EndTurnCall      DoneReply
LaunchCall       ProgressReply: the run is there, whole, and goes, or has ended; a second launch does nothing
PollCall         ProgressReply: new bytes of the files that grow
ListCall         FilesReply: the files of the ended run
ReadCall         PieceReply: bytes of a file
CancelCall       DoneReply: the end of the run was requested; one that has not started never will
ForgetCall       DoneReply: the directory of an ended run is removed
any              FailureReply instead, with the reason
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from core.base.decoder import unpacked_as
from core.base.machine import Environment
from core.runs.status import Status

PROTOCOL = 2
# A delivered directory is one message; so are the pieces of a reply.
MOST_CALL_BYTES = 64 * 1024**2
MOST_REPLY_BYTES = 16 * 1024**2
PIECE_BYTES = 1024**2
MOST_FILES = 10_000
# Ids of hosts and stores.
Id = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}$")]
# A run's id, or that of a tool's directory in it.
RunKey = Annotated[str, Meta(pattern=r"^[0-9]{8}-[0-9]{6}-[a-z0-9_]{1,40}-[0-9a-f]{4}(/[0-9a-f]{16})?$")]
Name = Annotated[str, Meta(min_length=1, max_length=400)]
Words = Annotated[str, Meta(max_length=2_000)]
Size = Annotated[int, Meta(ge=0, lt=2**53)]
Device = Annotated[str, Meta(pattern=r"^[a-z]{1,20}(:[0-9]{1,4})?$")]


class HelloCall(msgspec.Struct, frozen=True, tag=True):
    """Request for the host's facts, and for the runs of a store that it has; keeps the locks of a server."""

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
    """Request to lock a device for a server's run that is not delivered yet."""

    server: Id
    device: Device
    measures: bool


class EndTurnCall(RunMessage, frozen=True, tag=True):
    """Request to release a run's lock."""


class LaunchCall(RunMessage, frozen=True, tag=True):
    """Request to start a run, at most once: the files of its directory by their names, with the digest of all.

    The reply waits a moment for the first record of the run's log.
    """

    target: Words
    device: Device
    measures: bool
    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]
    files: dict[Name, bytes]


class PollCall(RunMessage, frozen=True, tag=True):
    """Request for what is new in a run: `sizes` are the bytes of the growing files that the server has."""

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
    """A host: its id, versions and hardware in words, and the runs of the store in it.

    Hosts of equal `kind` may measure the cells of one sweep. `devices` and `torch` are empty while torch starts;
    `problem` is why it cannot. `code_allowed` is False if the host runs samples only.
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
    """Versions, devices and backends of torch; None while it starts."""

    environment: Environment | None


class LackReply(msgspec.Struct, frozen=True, tag=True):
    """The torch that must start before a run, in words; empty if it runs."""

    words: Words


class TurnReply(msgspec.Struct, frozen=True, tag=True):
    """Result of a request for a lock: True if the device is locked for the run."""

    taken: bool


class DoneReply(msgspec.Struct, frozen=True, tag=True):
    """The call is done."""


class PieceReply(msgspec.Struct, frozen=True, tag=True):
    """Bytes of a file from an offset; none at its end."""

    name: Name
    offset: Size
    data: bytes


class ProgressReply(msgspec.Struct, frozen=True, tag=True):
    """A run's status, and new bytes of its growing files; None if the host has no such run.

    `live` is True as long as anything of the run may be alive, or not all of its new bytes are in the reply.
    """

    status: Status | None
    live: bool = False
    pieces: tuple[PieceReply, ...] = ()


class HostFile(msgspec.Struct, frozen=True):
    """A file of an ended run: its name, bytes and SHA-256."""

    name: Name
    size: Size
    digest: Annotated[str, Meta(pattern=r"^[0-9a-f]{64}$")]


class FilesReply(msgspec.Struct, frozen=True, tag=True):
    """The files of an ended run."""

    files: Annotated[tuple[HostFile, ...], Meta(max_length=MOST_FILES)]


class FailureReply(msgspec.Struct, frozen=True, tag=True):
    """The call failed, with the reason and the signal that ended a process, if one did."""

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

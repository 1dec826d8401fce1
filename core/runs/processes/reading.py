"""Reading of visitors' files in a separate process with limits, so that no file keeps the server busy.

The process has a low priority, and limits of CPU time, memory and unpacked bytes. It is started as

    python -m core.runs.processes.reading PARENT SECONDS BYTES KIND ARGUMENT…

and prints one JSON object: `{"error": "…"}`, or the result of its kind:

profile SOURCE TARGET MOST_BYTES          {}; the profile's slices are in TARGET
logs PATH SCRATCH NAME MOST_BYTES         the fields of RankLogs; unpacked logs are in SCRATCH
"""

import os
import resource
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import CompileboardError, DecodeError, StoreError
from core.base.files import write_atomically
from core.base.machine import PROJECT_DIR, own_process
from core.base.words import bytes_, limit_s
from core.report.run import Profile, ProfileSlice, ProfileTrack, SliceKind
from core.runs.inputs import checked_logs
from core.runs.processes.handles import follow_parent
from core.trace.profile import MOST_PROFILE_BYTES, read_profile
from core.trace.ranks import RankLogs

# Files of visitors that are read at once; the owner's files are not counted.
MOST_AT_ONCE = 2  #: limit: files of visitors that are read at once
NICENESS = 19
# A process of low priority may wait for others; it ends after so many times its CPU time.
PATIENCE = 5.0
VERSION = 1


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """Limits of a process that reads a file: CPU time, memory, and bytes of the unpacked file."""

    seconds: float = 600.0
    memory_bytes: int = 8 * 1024**3
    unpacked_bytes: int = MOST_PROFILE_BYTES


READ_LIMITS = ReadLimits()


class _Failure(msgspec.Struct, frozen=True):
    """Message of the process; without an error, the file was read."""

    error: str = ""


class _Logs(msgspec.Struct, frozen=True):
    """Logs by rank, the log without a rank, and the names of other files."""

    ranks: dict[int, str]
    plain: str | None
    unread: tuple[str, ...]


class _StoredProfile(msgspec.Struct, frozen=True):
    """A profile whose slices name their texts by number."""

    version: int
    names: tuple[str, ...]
    tracks: tuple[ProfileTrack, ...]
    slices: tuple[tuple[int, SliceKind, int, float, float, int, int, int], ...]
    events: int
    problems: dict[str, int]


def read_profile_apart(source: Path, target: Path, limits: ReadLimits) -> None:
    """Store the slices of a profile in `target`; raises StoreError."""
    _read(limits, "profile", str(source), str(target), str(min(limits.unpacked_bytes, MOST_PROFILE_BYTES)))


def read_logs_apart(limits: ReadLimits) -> Callable[[Path, Path, str, int], RankLogs]:
    """Return a function that does the same as `checked_logs`, within limits; it raises StoreError."""

    def logs(path: Path, scratch: Path, name: str, most_bytes: int) -> RankLogs:
        answer = _read(limits, "logs", str(path), str(scratch), name, str(most_bytes))
        found = decoded_as(answer, _Logs)
        plain = None if found.plain is None else Path(found.plain)
        return RankLogs({rank: Path(log) for rank, log in found.ranks.items()}, plain, found.unread)

    return logs


def stored_profile(path: Path) -> Profile | None:
    """Return a profile that `read_profile_apart` has stored; None if it cannot be used."""
    with suppress(OSError, DecodeError, IndexError):
        stored = decoded_as(path.read_bytes(), _StoredProfile)
        if stored.version == VERSION:
            slices = tuple(ProfileSlice(stored.names[each[0]], *each[1:]) for each in stored.slices)
            return Profile(stored.tracks, slices, stored.events, stored.problems)
    return None


def _read(limits: ReadLimits, kind: str, *arguments: str) -> bytes:
    """Return what the process prints; raises StoreError if it fails or reaches a limit."""
    amounts = str(os.getpid()), str(int(limits.seconds)), str(limits.memory_bytes)
    command = own_process("core.runs.processes.reading", *amounts, kind, *arguments)
    most = f"{limit_s(limits.seconds)} and {bytes_(limits.memory_bytes)} of memory"
    try:
        ended = subprocess.run(
            command,
            cwd=PROJECT_DIR,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=PATIENCE * limits.seconds,
            check=False,
        )
        error = decoded_as(ended.stdout, _Failure).error
    except (subprocess.TimeoutExpired, DecodeError):
        raise StoreError(f"the file cannot be read within {most}") from None
    if error:
        raise StoreError(error)
    return ended.stdout


class ReadingTurns:
    """Turns to read files: one at a time for each visitor, and `MOST_AT_ONCE` for all visitors.

    The owner never waits.
    """

    def __init__(self) -> None:
        self._all = threading.BoundedSemaphore(MOST_AT_ONCE)
        self._lock = threading.Lock()
        # Visitor → the lock and the number of its users.
        self._own: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def turn(self, by: str) -> Iterator[None]:
        """Wait until it is the visitor's turn, and keep it inside the context."""
        if not by:
            yield
            return
        own = self._enter(by)
        try:
            with own, self._all:
                yield
        finally:
            self._leave(by)

    def _enter(self, by: str) -> threading.Lock:
        with self._lock:
            own, users = self._own.get(by, (threading.Lock(), 0))
            self._own[by] = own, users + 1
            return own

    def _leave(self, by: str) -> None:
        with self._lock:
            own, users = self._own.pop(by)
            if users > 1:
                self._own[by] = own, users - 1


def main(parent: str, seconds: str, memory_bytes: str, kind: str, *arguments: str) -> None:
    """Read a file within limits, and print the result; end with the parent process."""
    follow_parent(int(parent), signal.SIGKILL)
    os.nice(NICENESS)
    # A limit of the data segment does not count logs that are mapped into memory.
    for limit, most in ((resource.RLIMIT_CPU, int(seconds)), (resource.RLIMIT_DATA, int(memory_bytes))):
        resource.setrlimit(limit, (most, most))
    signal.alarm(int(PATIENCE * int(seconds)))
    try:
        result = KINDS[kind](*arguments)
    except (CompileboardError, OSError) as error:
        result = _Failure(str(error))
    except MemoryError:
        return
    sys.stdout.buffer.write(msgspec.json.encode(result))


def _profile(source: str, target: str, most_bytes: str) -> _Failure:
    profile = read_profile(Path(source), int(most_bytes))
    if not profile.slices:
        return _Failure("the profile has no slice of time: it was exported before it had recorded anything")
    names = {name: place for place, name in enumerate(dict.fromkeys(piece.name for piece in profile.slices))}
    slices = (
        (
            names[piece.name],
            piece.kind,
            piece.track,
            piece.start_us,
            piece.end_us,
            piece.correlation,
            piece.external,
            piece.sequence,
        )
        for piece in profile.slices
    )
    stored = _StoredProfile(VERSION, tuple(names), profile.tracks, tuple(slices), profile.events, profile.problems)
    write_atomically(Path(target), msgspec.json.encode(stored))
    return _Failure()


def _logs(path: str, scratch: str, name: str, most_bytes: str) -> _Logs:
    logs = checked_logs(Path(path), Path(scratch), name, int(most_bytes))
    ranks = {rank: str(log) for rank, log in logs.ranks.items()}
    return _Logs(ranks, None if logs.plain is None else str(logs.plain), logs.unread)


KINDS: dict[str, Callable[..., _Failure | _Logs]] = {"profile": _profile, "logs": _logs}

if __name__ == "__main__":
    main(*sys.argv[1:])

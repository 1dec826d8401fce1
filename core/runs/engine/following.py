"""Follower of logs that another process is writing: copies their new bytes into a separate run.

    python -m core.runs.engine.following RUN SOURCE    started by `start_following`, one process for each run

The run's files only grow, so that readers can map them into memory, whatever happens to the source. The
process ends when its input is closed (the server has ended), on SIGTERM (*Stop*), when the source was quiet
for half an hour, or when the logs reach the size limit. The process writes the run's status as a supervisor
does. The handle in the status identifies the process.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import BinaryIO

from core.base.errors import StoreError
from core.base.files import NO_ROOM, one_line, open_regular, regular
from core.base.machine import PROJECT_DIR, own_process
from core.base.words import gib, limit_s
from core.runs.inputs.archives import kind_of
from core.runs.processes.handles import LOCAL, supervisor_of
from core.runs.status import Status
from core.runs.store import MAX_LOG_BYTES, Run, Store
from core.trace.ranks import log_files, rank_of, stored_name, unread_words

# A source that nobody has written to for so long has ended; an older log at the start is not followed.
QUIET_S = 1_800.0
POLL_S = 0.3
PIECE = 1 << 20
MOST_PATH_CHARS = 300  #: a followed path in a message


def start_following(store: Store, source: Path, by: str = "") -> tuple[Run, subprocess.Popen[bytes]]:
    """Create a live run for a log or a directory of logs, and start the process that copies its records.

    The process ends when its standard input is closed: at the latest when this process ends. `source` may not
    exist yet. Raises StoreError if `source` cannot be followed.
    """
    source = source.absolute()
    _check(source)
    run = store.add_followed(source.name, by, f"Followed: {one_line(str(source), MOST_PATH_CHARS)}.")
    process = subprocess.Popen(
        own_process("core.runs.engine.following", str(run.path), str(source)),
        cwd=PROJECT_DIR,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    return run, process


def stop_following(run: Run) -> None:
    """Request the end of the process that follows a run's logs.

    A process that writes its own log is not ended.
    """
    status = run.written_status()
    process = supervisor_of(status)
    if process is not None and not status.in_process:
        process.terminate()


def wait_for_end(run: Run, process: subprocess.Popen[bytes]) -> None:
    """Wait until the following process has ended; write the status if that process was killed."""
    assert process.stdin is not None
    with process.stdin:
        process.wait()
    with contextlib.suppress(StoreError):
        status = run.written_status()
        if status.live:
            ended = replace(status, state="done", ended_s=time.time(), handle="")
            if run.log_path() is None:
                ended = replace(ended, state="interrupted", reason="the process that followed it ended")
            run.write_status(ended)


def _check(source: Path) -> None:
    named = one_line(str(source), MOST_PATH_CHARS)
    if not source.exists():
        if not source.parent.is_dir():
            raise StoreError(f"{named} cannot be followed: there is no directory {source.parent}")
        return
    if source.is_dir():
        return
    try:
        with open_regular(source) as file:
            kind = kind_of(file)
    except OSError as error:
        raise StoreError(f"{named} cannot be followed: {error.strerror}") from None
    if kind:
        raise StoreError(f"{named} is an archive, and cannot be followed; open it without following")


class _FullError(Exception):
    """Error if the logs have reached the size limit."""


@dataclass(slots=True)
class _Copy:
    """A log that is being copied: its target, copied bytes, and `cut` once the source has shrunk."""

    target: Path
    size: int = 0
    cut: bool = False


@dataclass(slots=True)
class Follower:
    """Copies of the logs of one source into the trace directory of a run.

    `quiet_s` is the number of seconds that the source may be silent; `most_bytes` is the limit for all copies
    together.
    """

    source: Path
    trace_dir: Path
    quiet_s: float = QUIET_S
    most_bytes: int = MAX_LOG_BYTES
    _copies: dict[Path, _Copy] = field(default_factory=dict)
    _unread: set[Path] = field(default_factory=set)
    _without_record: dict[Path, int] = field(default_factory=dict)
    _began_s: float = field(default_factory=time.time)

    def copy(self) -> bool:
        """Copy new bytes of the logs; return True if there were any. Raises OSError."""
        for path in self._new_logs():
            self._begin(path)
        return sum(self._append(path, copy) for path, copy in self._copies.items()) > 0

    @property
    def is_empty(self) -> bool:
        """True if nothing was copied yet."""
        return not any(copy.size for copy in self._copies.values())

    @property
    def unread(self) -> tuple[str, ...]:
        """The logs that are not followed, and those that were truncated while they were followed."""
        names = [self._name(path) for path in self._unread]
        cut = [f"the end of {self._name(path)} (it was cut off)" for path, copy in self._copies.items() if copy.cut]
        return (*sorted(names), *cut)

    def _name(self, path: Path) -> str:
        return str(path.relative_to(self.source)) if path != self.source else path.name

    def _new_logs(self) -> list[Path]:
        """Return logs that were not seen before, the newest first."""
        if self.source.is_dir():
            paths = [path for path in log_files(self.source) if path not in self._copies and path not in self._unread]
        else:
            paths = [self.source] if regular(self.source) and self.source not in self._copies else []
        return sorted(paths, key=_written_s, reverse=True)

    def _begin(self, path: Path) -> None:
        size = status.st_size if (status := regular(path)) else 0
        if self._without_record.get(path) == size:
            return
        rank, has_records = rank_of(path, path)
        if not has_records:
            self._without_record[path] = size
            return
        target = self.trace_dir / stored_name(rank)
        is_old = path != self.source and _written_s(path) < self._began_s - self.quiet_s
        if is_old or any(copy.target == target for copy in self._copies.values()):
            self._unread.add(path)
        else:
            self._copies[path] = _Copy(target)

    def _append(self, path: Path, copy: _Copy) -> bool:
        status = regular(path)
        if status is None or copy.cut or status.st_size == copy.size:
            return False
        if status.st_size < copy.size:
            copy.cut = True
            return False
        with open_regular(path) as source, copy.target.open("ab") as target:
            source.seek(copy.size)
            self._copy(source, target, copy)
        return True

    def _copy(self, source: BinaryIO, target: BinaryIO, copy: _Copy) -> None:
        while piece := source.read(PIECE):
            if sum(each.size for each in self._copies.values()) + len(piece) > self.most_bytes:
                raise _FullError
            target.write(piece)
            target.flush()
            copy.size += len(piece)


def follow(run: Run, follower: Follower, wait: Callable[[], bool]) -> None:
    """Copy logs until the source is silent for too long, or `wait` returns True.

    Copying also ends at the size limit or with an OSError. The run's status is written before and after.
    """
    status = replace(run.written_status(), state="running", started_s=time.time(), handle=LOCAL.local_handle())
    run.write_status(status)
    reason, heard_s = "", time.monotonic()
    try:
        while not wait():
            if follower.copy():
                heard_s = time.monotonic()
            elif time.monotonic() - heard_s > follower.quiet_s:
                reason = f"nothing was written to it for {limit_s(follower.quiet_s)}"
                break
        else:
            follower.copy()
    except _FullError:
        reason = f"the logs are larger than {gib(follower.most_bytes)}, and were followed up to there"
    except OSError as error:
        full = error.errno in NO_ROOM
        reason = f"the disk is full: {error.strerror}" if full else f"it could not be copied: {error.strerror}"
    run.write_status(_ended(status, follower, reason))


def _ended(status: Status, follower: Follower, reason: str) -> Status:
    origin = " ".join(filter(None, (status.origin, _sentence(reason), _sentence(unread_words(follower.unread)))))
    ended = replace(status, state="done", ended_s=time.time(), handle="", origin=origin)
    if not follower.is_empty:
        return ended
    return replace(
        ended, state="interrupted", reason=f"no record was written to {follower.source} while it was followed"
    )


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def _written_s(path: Path) -> float:
    status = regular(path)
    return status.st_mtime if status else 0.0


def main(run_dir: str, source: str) -> None:
    """Follow a source until this process's input is closed or it gets SIGTERM."""
    ended = False

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal ended
        ended = True

    def wait() -> bool:
        readable, _, _ = select.select([0], [], [], 0.0 if ended else POLL_S)
        return ended or bool(readable)

    signal.signal(signal.SIGTERM, end)
    # Ctrl+C in a terminal reaches the whole group; the input is closed then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    path = Path(run_dir)
    run = Run(path.name, path)
    follow(run, Follower(Path(source), run.trace_dir), wait)


if __name__ == "__main__":
    main(*sys.argv[1:])

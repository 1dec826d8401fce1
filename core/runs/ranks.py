"""Ranks of a run: their logs are read in parallel, and each log's fingerprint is stored.

<run>/ranks/3/fingerprint.json  the fingerprint of rank 3, with size and time of its log
           /ranks.json          all ranks in groups, with size and time of every log

With stored fingerprints, the next reading takes milliseconds. `python -m core.runs.ranks DIRECTORY` stores
the fingerprints of the logs that standard input lists as JSON.
"""

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from core.analysis.ranks.groups import RankRow, Ranks, RankSide, group_ranks, row_of
from core.base.decoder import decoded_as
from core.base.errors import DecodeError, TraceError
from core.base.files import read, regular, write_atomically
from core.base.machine import PROJECT_DIR, own_process
from core.report.places import Payload
from core.report.run import Fingerprint
from core.runs.processes.servers import start_for_home
from core.runs.store import RANKS, Run
from core.trace.ranks import fingerprint
from core.trace.reader import text_at

# Raised with every change in fingerprints and groups, so that older files are not used.
VERSION = 1
Kept = TypeVar("Kept")
Logs = Mapping[int, Path]
FINGERPRINT, GROUPS = "fingerprint.json", "ranks.json"
QUICK_BYTES = 8_000_000
MAX_STORED_BYTES = 64_000_000  #: the stored fingerprint of a rank
# Below this, a further process takes longer to start than the logs to read.
BYTES_FOR_PROCESSES = 40_000_000
MAX_TEXT_BYTES = 8_000_000  #: limit: a text of a rank's log that is shown or compared


@dataclass(frozen=True, slots=True)
class _Stamp:
    """The identity of a log for a stored file: rank, bytes, and time of the last write."""

    rank: int
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class _StoredFingerprint:
    version: int
    stamp: _Stamp
    fingerprint: Fingerprint


@dataclass(frozen=True, slots=True)
class _StoredRanks:
    version: int
    stamps: tuple[_Stamp, ...]
    ranks: Ranks


def logs_of(run: Run) -> dict[int, Path]:
    """Return the log of each rank of a run; empty for a run without ranks."""
    return {rank: run.log_of(rank) for rank in run.ranks()}


def ranks_dir(run: Run) -> Path:
    """Return the directory of the stored data of a run's ranks."""
    return run.path / RANKS


def open_ranks(run: Run) -> Ranks:
    """Return the ranks of a run in groups; stored data is used for logs that have not changed."""
    return read_ranks(logs_of(run), ranks_dir(run))


def rank_side(run: Run, rank: int) -> RankSide:
    """Return a rank of a run as a side to compare or to show."""
    return side_of_rank(rank, run.log_of(rank), ranks_dir(run))


def is_quick(run: Run) -> bool:
    """Return True if the groups are stored, or if the logs can be read in well under a second."""
    logs = logs_of(run)
    return sum(stamp.size for stamp in _stamps(logs)) <= QUICK_BYTES or stored_ranks(logs, ranks_dir(run)) is not None


def ranks_read(run: Run) -> int:
    """Return how many ranks have a stored fingerprint: the progress of `start_reading_ranks`."""
    return sum((ranks_dir(run) / str(rank) / FINGERPRINT).exists() for rank in run.ranks())


def start_reading_ranks(run: Run) -> subprocess.Popen[bytes]:
    """Read and store the ranks of a run in a separate process."""
    return start_for_home(own_process("core", "ranks", run.path.name), run.path.parent.parent)


def stored_ranks(logs: Logs, stored: Path) -> Ranks | None:
    """Return the stored groups of logs; None if they are missing, or if the logs have changed."""
    kept = _decoded(stored / GROUPS, _StoredRanks)
    return kept.ranks if kept and kept.version == VERSION and kept.stamps == _stamps(logs) else None


def read_ranks(logs: Logs, stored: Path | None = None, processes: int = 1) -> Ranks:
    """Return the ranks in groups, read by up to `processes` processes.

    A log that cannot be read is a row with a problem. Valid fingerprints and groups in the directory `stored` are used,
    and new ones are written to it.
    """
    if stored is not None and (known := stored_ranks(logs, stored)) is not None:
        return known
    with contextlib.ExitStack() as stack:
        directory = stored or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        rows = list(_rows(logs, directory, processes))
        ranks = group_ranks(rows, lambda rank: side_of_rank(rank, logs[rank], directory))
        if stored is not None:
            _keep(stored / GROUPS, _StoredRanks(VERSION, _stamps(logs), ranks))
        return ranks


def side_of_rank(rank: int, log: Path, stored: Path | None = None) -> RankSide:
    """Return a rank as a side to compare: its fingerprint, stored or read, and a reader of its texts."""
    return RankSide(_fingerprint(rank, log, stored), partial(_text, log))


def _text(log: Path, where: Payload) -> str:
    """Return a text of a log; empty if the log can no longer be read."""
    try:
        return text_at(log, where.offset, max(0, min(where.length, MAX_TEXT_BYTES)))
    except TraceError:
        return ""


def _rows(logs: Logs, directory: Path, processes: int) -> Iterator[RankRow]:
    """Yield a row for each log, in the order of the logs."""
    total = sum(stamp.size for stamp in _stamps(logs))
    processes = min(processes, len(logs), 1 + total // BYTES_FOR_PROCESSES)
    if processes > 1:
        _store_apart(logs, directory, processes)
    yield from (row_of(_fingerprint(rank, log, directory)) for rank, log in logs.items())


def _store_apart(logs: Logs, directory: Path, processes: int) -> None:
    """Store the fingerprints of the logs in separate processes.

    This process reads the logs that a failed process leaves out. `multiprocessing` is not used: it would import this
    process's main module, a Streamlit script, again.
    """
    command = own_process("core.runs.ranks", str(directory.resolve()))
    items = [(rank, str(log.resolve())) for rank, log in logs.items()]
    running = [
        subprocess.Popen(
            command, cwd=PROJECT_DIR, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for _ in range(processes)
    ]
    for place, process in enumerate(running):
        assert process.stdin is not None
        with contextlib.suppress(OSError), process.stdin:
            process.stdin.write(msgspec.json.encode(items[place::processes]))
    for process in running:
        process.wait()


def store_fingerprints(items: Sequence[tuple[int, str]], directory: Path) -> None:
    """Store the fingerprint of each log, unless a valid fingerprint is stored."""
    for rank, path in items:
        _fingerprint(rank, Path(path), directory)


def _fingerprint(rank: int, log: Path, stored: Path | None) -> Fingerprint:
    """Return the stored fingerprint of a log if it is valid; otherwise read the log, and store the result."""
    path = stored / str(rank) / FINGERPRINT if stored else None
    stamp = _stamp(rank, log)
    kept = _decoded(path, _StoredFingerprint) if path else None
    if kept is not None and kept.version == VERSION and kept.stamp == stamp:
        return kept.fingerprint
    try:
        made = fingerprint(log, rank)
    except TraceError as error:
        return Fingerprint(rank, 0, problem=str(error))
    if not made.marks:
        made = Fingerprint(rank, made.log_bytes, problem="its log has no record of a compilation")
    if path is not None:
        _keep(path, _StoredFingerprint(VERSION, stamp, made))
    return made


def _keep(path: Path, value: object) -> None:
    """Store a value; errors are ignored, since the value can be computed again."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, msgspec.json.encode(value))


def _stamp(rank: int, log: Path) -> _Stamp:
    status = regular(log)
    return _Stamp(rank, status.st_size, status.st_mtime_ns) if status else _Stamp(rank, 0, 0)


def _stamps(logs: Logs) -> tuple[_Stamp, ...]:
    return tuple(map(_stamp, logs, logs.values()))


def _decoded(path: Path, kind: type[Kept]) -> Kept | None:
    """Return the value of a stored file; None if it is missing or does not fit its type."""
    try:
        return decoded_as(read(path, MAX_STORED_BYTES), kind)
    except (OSError, DecodeError):
        return None


if __name__ == "__main__":
    store_fingerprints(decoded_as(sys.stdin.buffer.read(), list[tuple[int, str]]), Path(sys.argv[1]))

"""Logs of several ranks in one directory: which file is which rank's log.

torch names a rank's log `dedicated_log_torch_trace_rank_3_<random>.log` once the process group exists, and writes the
rank into each record. A run keeps them as `trace/rank_3.log`.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.base.decoder import counted, decoded
from core.base.errors import DecodeError, TraceError
from core.base.files import one_line, open_regular, regular
from core.base.words import number
from core.trace.reader import header_lines

STORED = re.compile(r"rank_(\d{1,6})\.log")
NAMED = re.compile(r"(?:.*[._-])?rank[._-]?(\d{1,6})(?:[._-].*)?\.log")
FOLDER = re.compile(r"rank[._-]?(\d{1,6})(?:[._-].*)?")
# Records in which a rank is looked for.
MOST_RECORDS = 200
MOST_READ_BYTES = 1_000_000
MOST_FILES = 20_000
MOST_RANKS = 4_096
MOST_LEVELS = 6
MOST_NAMED = 8
MOST_NAME_CHARS = 120


@dataclass(frozen=True, slots=True)
class RankLogs:
    """The logs of a directory.

    `ranks` has the log of each rank, lowest first. `plain` is the largest log without a rank, if no log has one.
    `unread` names the other logs: further logs of one rank, logs without a rank beside rank logs, files without a
    record.
    """

    ranks: Mapping[int, Path]
    plain: Path | None = None
    unread: tuple[str, ...] = ()

    @property
    def single(self) -> Path:
        """The log without a rank, or of the lowest rank; raises TraceError if there is none."""
        log = self.plain or next(iter(self.ranks.values()), None)
        if log is None:
            raise TraceError("there is no log with a record")
        return log

    @property
    def origin(self) -> str:
        """The files that were not read, as a sentence; empty if there are none."""
        words = unread_words(self.unread)
        return words and f"{words}."


def rank_logs(directory: Path, logs: Mapping[Path, str] | None = None) -> RankLogs:
    """Return the logs at and below a directory by rank; of several logs of one rank, the largest.

    `logs` are other files, with their names in messages.
    """
    names = logs if logs is not None else {path: _name(path, directory) for path in log_files(directory)}
    found: dict[int | None, list[Path]] = {}
    without_record: list[Path] = []
    for path in sorted(names, key=_size, reverse=True):
        rank, has_records = rank_of(path, Path(names[path]))
        if has_records:
            found.setdefault(rank, []).append(path)
        else:
            without_record.append(path)
    plain = found.pop(None, [])
    ranks = {rank: found[rank][0] for rank in sorted(rank for rank in found if rank is not None)[:MOST_RANKS]}
    used = {*ranks.values(), *(() if ranks else plain[:1])}
    others = [path for paths in (*found.values(), plain, without_record) for path in paths if path not in used]
    unread = tuple(sorted(names[path] for path in others))
    return RankLogs(ranks, plain[0] if plain and not ranks else None, unread)


def log_files(directory: Path) -> Iterator[Path]:
    """Yield the regular files `*.log` at and below a directory."""
    return (path for path in files_below(directory) if path.name.endswith(".log"))


def files_below(directory: Path) -> Iterator[Path]:
    """Yield the regular files at and below a directory, at most 20,000 and so many levels deep, in order."""
    start, seen = len(directory.parts), 0
    for folder, inner, names in os.walk(directory):
        inner.sort()
        if len(Path(folder).parts) - start >= MOST_LEVELS:
            inner.clear()
        for name in sorted(names):
            seen += 1
            if seen > MOST_FILES:
                return
            if regular(path := Path(folder, name)) is not None:
                yield path


def rank_of(log: Path, name: Path) -> tuple[int | None, bool]:
    """Return the rank of a log, from its name, its records or its directory, and True if it has a record.

    A process that compiled before it joined the process group has a rank in its later records alone. Only the first
    and the last megabyte are read, and not mapped, since another process may still write the log, or truncate it.
    """
    named = NAMED.fullmatch(log.name)
    try:
        with open_regular(log) as file:
            start = file.read(MOST_READ_BYTES)
            headers = list(itertools.islice(header_lines(start), 1 if named else MOST_RECORDS))
            if not headers or named:
                return int(named[1]) if named and headers else None, bool(headers)
            written = _written_rank(start, headers)
            if written is None:
                file.seek(max(0, os.fstat(file.fileno()).st_size - MOST_READ_BYTES))
                end = file.read(MOST_READ_BYTES)
                written = _written_rank(end, list(header_lines(end))[-MOST_RECORDS:])
    except OSError:
        return None, False
    return rank_of_folder(name) if written is None else written, True


def _written_rank(log: bytes, headers: Iterable[re.Match[bytes]]) -> int | None:
    """Return the first rank in the headers of records; None if none has one."""
    return next((rank for header in headers if (rank := _rank_in(log, header.end())) is not None), None)


def _rank_in(log: bytes, start: int) -> int | None:
    end = log.find(b"\n", start)
    try:
        header = decoded(log[start : end if end >= 0 else None])
    except DecodeError:
        return None
    return counted(header.get("rank")) if isinstance(header, dict) else None


def rank_of_folder(path: Path) -> int | None:
    """Return the rank in the name of the closest directory above a file, such as `rank_0_dp_1`; None without one."""
    matches = (FOLDER.fullmatch(folder.name) for folder in path.parents)
    return next((int(match[1]) for match in matches if match), None)


def _name(path: Path, directory: Path) -> str:
    return str(path.relative_to(directory))


def stored_ranks(trace_dir: Path) -> tuple[int, ...]:
    """Return the ranks of a run's logs, lowest first; empty for a run without ranks."""
    try:
        names = os.listdir(trace_dir)
    except OSError:
        return ()
    return tuple(sorted(int(match[1]) for name in names if (match := STORED.fullmatch(name))))


def stored_name(rank: int | None) -> str:
    """Return the name of a log in a run's trace directory."""
    return "opened.log" if rank is None else f"rank_{rank}.log"


def unread_words(names: Sequence[str]) -> str:
    """Return which files were not read, as a sentence; empty if there are none."""
    if not names:
        return ""
    more = f" and {number(len(names) - MOST_NAMED)} more" if len(names) > MOST_NAMED else ""
    return f"Not read: {', '.join(one_line(name, MOST_NAME_CHARS) for name in names[:MOST_NAMED])}{more}"


def _size(path: Path) -> tuple[int, str]:
    status = regular(path)
    return (status.st_size if status else 0), str(path)

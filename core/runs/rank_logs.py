"""Logs of several ranks in one directory: which file is which rank's log.

torch names a rank's log `dedicated_log_torch_trace_rank_3_<random>.log` once the process group exists, and writes the
rank into each record. A run keeps them as `trace/rank_3.log`.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.base.errors import TraceError
from core.base.files import one_line, regular
from core.base.words import number
from core.trace import TraceReader

STORED = re.compile(r"rank_(\d{1,6})\.log")
NAMED = re.compile(r"(?:.*[._-])?rank[._-]?(\d{1,6})(?:[._-].*)?\.log")
# Records in which a rank is looked for.
MOST_RECORDS = 200
MOST_FILES = 20_000
MOST_RANKS = 4_096
MOST_LEVELS = 4
MOST_NAMED = 8
MOST_NAME_CHARS = 120


@dataclass(frozen=True, slots=True)
class RankLogs:
    """The logs of a directory.

    `ranks` has the log of each rank, lowest first. `plain` is the largest log without a rank, if no log has one.
    `unread` names the other logs: further logs of one rank, logs without a rank beside rank logs, files without a
    record. `made_from` says what the logs were made from, if they are not as torch wrote them.
    """

    ranks: Mapping[int, Path]
    plain: Path | None = None
    unread: tuple[str, ...] = ()
    made_from: str = ""

    @property
    def single(self) -> Path:
        """The log without a rank, or of the lowest rank; raises TraceError if there is none."""
        log = self.plain or next(iter(self.ranks.values()), None)
        if log is None:
            raise TraceError("there is no log with a record")
        return log

    @property
    def origin(self) -> str:
        """What the logs were made from, and the files that were not read, as sentences."""
        return " ".join(f"{words}." for words in (self.made_from, unread_words(self.unread)) if words)


def rank_logs(directory: Path) -> RankLogs:
    """Return the logs at and below a directory by rank; of several logs of one rank, the largest."""
    found: dict[int | None, list[Path]] = {}
    without_record: list[Path] = []
    for path in sorted(log_files(directory), key=_size, reverse=True):
        rank, has_records = rank_of(path)
        if has_records:
            found.setdefault(rank, []).append(path)
        else:
            without_record.append(path)
    plain = found.pop(None, [])
    ranks = {rank: found[rank][0] for rank in sorted(rank for rank in found if rank is not None)[:MOST_RANKS]}
    used = {*ranks.values(), *(() if ranks else plain[:1])}
    others = [path for paths in (*found.values(), plain, without_record) for path in paths if path not in used]
    names = tuple(sorted(str(path.relative_to(directory)) for path in others))
    return RankLogs(ranks, plain[0] if plain and not ranks else None, names)


def log_files(directory: Path) -> Iterator[Path]:
    """Yield the regular files `*.log` at and below a directory, at most 20,000 files and four levels deep."""
    start = len(directory.parts)
    seen = 0
    for folder, inner, names in os.walk(directory):
        if len(Path(folder).parts) - start >= MOST_LEVELS:
            inner.clear()
        for name in names:
            seen += 1
            if seen > MOST_FILES:
                return
            path = Path(folder, name)
            if name.endswith(".log") and regular(path) is not None:
                yield path


def rank_of(log: Path) -> tuple[int | None, bool]:
    """Return the rank of a log, from its name or else its first records, and True if it has a record."""
    named = NAMED.fullmatch(log.name)
    try:
        with TraceReader(log) as reader:
            # A generator that is not finished keeps the map of the file open.
            ranks = _first_ranks(reader, 1 if named else MOST_RECORDS)
    except TraceError:
        return None, False
    written = next((rank for rank in ranks if rank is not None), None)
    return (int(named[1]) if named and ranks else written), bool(ranks)


def _first_ranks(reader: TraceReader, most: int) -> list[int | None]:
    return [record.rank for record in itertools.islice(reader.records(), most)]


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

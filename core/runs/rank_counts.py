"""Counts over the logs of all ranks of a run that is being written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock

from core.base.files import open_regular, regular
from core.runs.store import Run
from core.trace.reader import header_lines

# More ranks are not counted, since each log is read.
MOST_COUNTED = 64  #: ranks of a followed job whose logs are counted
MOST_NEW_BYTES = 16_000_000  #: new bytes of a rank's log that are counted at once
# A restarted compilation starts again, as a later attempt.
START, RESTART = b'{"dynamo_start"', re.compile(rb'"attempt": [1-9]')
GRAPH = b'{"dynamo_output_graph"'


@dataclass(frozen=True, slots=True)
class RankCounts:
    """Sums over all ranks, and the time of the newest write; counts are None for more ranks than are read."""

    ranks: int
    compilations: int | None
    graphs: int | None
    log_bytes: int
    written_s: float


@dataclass(slots=True)
class _Log:
    """Counts of one log, which only grows."""

    path: Path
    offset: int = 0
    compilations: int = 0
    graphs: int = 0
    lock: Lock = field(default_factory=Lock)

    def look(self) -> None:
        """Count the records since the last look, at most 16 MB of them. Raises OSError."""
        with self.lock, open_regular(self.path) as file:
            file.seek(self.offset)
            data = file.read(MOST_NEW_BYTES)
            data = data[: data.rfind(b"\n") + 1]
            self.offset += len(data)
            for header in header_lines(data):
                line = data[header.end() : data.index(b"\n", header.end())]
                self.graphs += line.startswith(GRAPH)
                self.compilations += line.startswith(START) and RESTART.search(line) is None


def rank_counts(run: Run) -> RankCounts:
    """Return the sums over all ranks of a run; a log that cannot be read counts as empty."""
    ranks = run.ranks()
    paths = [path for rank in ranks if (path := run.of_rank(rank).log_path()) is not None]
    states = [status for path in paths if (status := regular(path)) is not None]
    logs = list(_looked(paths)) if len(paths) <= MOST_COUNTED else None
    return RankCounts(
        ranks=len(ranks),
        compilations=None if logs is None else sum(log.compilations for log in logs),
        graphs=None if logs is None else sum(log.graphs for log in logs),
        log_bytes=sum(status.st_size for status in states),
        written_s=max((status.st_mtime for status in states), default=0.0),
    )


def _looked(paths: Iterable[Path]) -> Iterable[_Log]:
    for path in paths:
        log = _log(path)
        try:
            log.look()
        except OSError:
            continue
        yield log


@lru_cache(maxsize=4 * MOST_COUNTED)
def _log(path: Path) -> _Log:
    return _Log(path)

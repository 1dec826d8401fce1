"""Inputs that hold logs: a log, or a directory of logs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.base.errors import StoreError, TraceError
from core.base.files import one_line, open_regular
from core.runs.rank_logs import RankLogs, rank_logs

MOST_PATH_CHARS = 200


@contextmanager
def opened_input(path: Path) -> Iterator[RankLogs]:
    """Open the logs of a path; raises StoreError if it cannot be read, TraceError if it holds no log."""
    named = one_line(str(path), MOST_PATH_CHARS)
    if path.is_dir():
        logs = rank_logs(path)
        if logs.plain is None and not logs.ranks:
            raise TraceError(f"{named} holds no .log file with a record")
        yield logs
        return
    try:
        open_regular(path).close()
    except (OSError, ValueError) as error:
        raise StoreError(f"{named} cannot be read: {getattr(error, 'strerror', error)}") from None
    yield RankLogs({}, path)

"""Order of logs by the time of their first record."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from core.base.files import open_regular, regular
from core.trace.reader import header_lines

MOST_READ_BYTES = 1_000_000
# A log may be from a time zone that is ahead.
DAY_S = 86_400


def first_time(path: Path) -> tuple[bool, str, int, str]:
    """Return a key that sorts logs by the time of their first record.

    A record's time has no year: a month and day later than today's are last year's. Logs of the same moment are sorted
    by size.
    """
    status = regular(path)
    try:
        with open_regular(path) as file:
            header = next(header_lines(file.read(MOST_READ_BYTES)), None)
    except OSError:
        header = None
    first = header[1].decode() if header else ""
    is_this_year = first <= time.strftime("%m%d %H:%M:%S", time.gmtime(time.time() + DAY_S))
    return bool(header) and is_this_year, first, status.st_size if status else 0, str(path)


def without_copies(logs: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """Return sorted logs without copies, such as tlparse's `raw.log`, and the copies.

    A copy has the time of the first record and the size of the log before it.
    """
    keys = [first_time(log)[:3] for log in logs]
    copies = [log for number, log in enumerate(logs) if number and keys[number] == keys[number - 1]]
    return [log for log in logs if log not in copies], copies

"""Inputs with logs: a log, a directory, an archive, or the output of another tool.

All are converted to logs in the format of TORCH_TRACE.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from core.base.errors import StoreError, TraceError
from core.base.files import one_line, open_regular
from core.runs.inputs.archives import kind_of, unpack, unpack_logs
from core.runs.inputs.dumps import log_of_index, logs_of_dump
from core.runs.inputs.foreign import foreign_directory_words, foreign_file_words, is_tlparse_index
from core.trace.ranks import RankLogs, files_below, rank_logs
from core.trace.reader import MAX_LOG_BYTES, NO_RECORD, has_record

MOST_PATH_CHARS = 200  #: a path in a message


def logs_in(path: Path, scratch: Path, name: str = "", most_bytes: int = MAX_LOG_BYTES) -> RankLogs:
    """Return the logs of a path; a file that is no archive counts as a log.

    Unpacked or converted logs are written into `scratch`, at most `most_bytes`. `name` is the name in messages,
    by default the path. Raises StoreError if the path cannot be read. Raises TraceError if a directory or an
    archive has no log, or if the archive is damaged or unsafe.
    """
    named = one_line(name or str(path), MOST_PATH_CHARS)
    try:
        if path.is_dir():
            return _logs_of_directory(path, scratch, named, most_bytes)
        with open_regular(path) as file:
            kind = kind_of(file)
            if not kind:
                return _logs_of_file(path, scratch, named, most_bytes)
            unpacked = scratch / "unpacked"
            skipped = unpack(file, kind, unpacked, named, most_bytes)
    except (OSError, ValueError) as error:
        raise StoreError(f"{named} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    if unpacked.is_file():
        return _logs_of_file(unpacked, scratch, named, most_bytes)
    logs = _logs_of_directory(unpacked, scratch, named, most_bytes)
    return replace(logs, unread=tuple(sorted({*logs.unread, *skipped})))


def checked_logs(path: Path, scratch: Path, name: str = "", most_bytes: int = MAX_LOG_BYTES) -> RankLogs:
    """Return the same as `logs_in`, if each log has a record; raises StoreError otherwise."""
    logs = logs_in(path, scratch, name, most_bytes)
    for log in logs.used.values():
        if not has_record(log):
            raise StoreError(NO_RECORD)
    return logs


def _logs_of_file(path: Path, scratch: Path, named: str, most_bytes: int) -> RankLogs:
    """Return a file as a log; tlparse's `raw.jsonl` is converted.

    Raises TraceError for a known file of another tool.
    """
    if is_tlparse_index(path):
        return log_of_index(path, scratch / "made", most_bytes)
    if words := foreign_file_words(path):
        raise TraceError(f"{named} {words}")
    return RankLogs({}, path)


def _logs_of_directory(directory: Path, scratch: Path, named: str, most_bytes: int) -> RankLogs:
    """Return the logs in a directory; raises TraceError if there are none.

    If no log has a record, compressed logs are unpacked. If these have none either, dumps are converted to logs.
    """
    logs = rank_logs(directory)
    if logs.plain is None and not logs.ranks:
        logs = rank_logs(directory, unpack_logs(directory, scratch / "logs", most_bytes))
    if logs.plain is None and not logs.ranks:
        logs = logs_of_dump(directory, scratch / "made", most_bytes) or logs
    if logs.plain is None and not logs.ranks:
        if words := foreign_directory_words(path.relative_to(directory) for path in files_below(directory)):
            raise TraceError(f"{named} {words}")
        raise TraceError(
            f"{named} holds no .log file with a record, and is no directory of tlparse, TORCH_COMPILE_DEBUG or vLLM"
        )
    return logs


@contextmanager
def opened_input(path: Path) -> Iterator[RankLogs]:
    """Open the logs of a path while the context is entered; raises the errors of `logs_in`."""
    with TemporaryDirectory() as scratch:
        yield logs_in(path, Path(scratch))

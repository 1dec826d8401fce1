"""Inputs with logs: a log, a directory, an archive, or the output of another tool.

All are converted to logs in the format of TORCH_TRACE. Other files, which are no trace, are named with what they are
and how to use them: a file is recognized by its first bytes, a directory by the names of its files. None is unpickled.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from core.base.errors import StoreError, TraceError
from core.base.files import one_line, open_regular
from core.runs.inputs.archives import kind_of, unpack, unpack_logs
from core.runs.inputs.dumps import log_of_index, logs_of_dump
from core.trace.ranks import RankLogs, files_below, rank_logs
from core.trace.reader import MAX_LOG_BYTES, NO_RECORD, has_record, header_lines

MOST_PATH_CHARS = 200  #: a path in a message
MOST_READ_BYTES = 65_536  #: the start of a file by which another tool is recognised
RECORD = "record one with `TORCH_TRACE=DIR python …` and open DIR"
PICKLE = re.compile(rb"\x80[\x02-\x05]")
KINETO = re.compile(rb'\A\s*\{.*"(?:traceEvents|deviceProperties|schemaVersion)"', re.DOTALL)
EVENTS = re.compile(rb'\A\s*\[\s*\{[^}]{0,4000}"ph"', re.DOTALL)
TRITONPARSE = re.compile(rb'\A[^\n]{0,60000}?"event_type": ?"(?:compilation|launch|launch_diff)"')
TLPARSE_LINE = re.compile(rb'\A\s*\{"(?:string_table"|[^\n]{0,60000}?"(?:pathname|compile_id|frame_id)")')
# Recognized bytes of a file → what it is.
FILES: tuple[tuple[re.Pattern[bytes], str], ...] = (
    (
        PICKLE,
        "is a pickle, such as a memory snapshot of torch. Compileboard never unpickles a file, since that runs code. "
        "PyTorch's memory_viz page shows snapshots; *Memory* shows the memory of a run of Compileboard",
    ),
    (TRITONPARSE, f"is a log of tritonparse, which has Triton's compilations alone. For torch.compile, {RECORD}"),
    (
        KINETO,
        "is a profile of torch.profiler (Kineto). `python -m core profile RUN FILE` shows it beside the run that it "
        "profiled",
    ),
    (
        EVENTS,
        "is a list of Chromium events. A profile of torch.profiler opens with `python -m core profile RUN FILE`; of "
        "tlparse's output, open the whole directory",
    ),
)


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
    """Return a file as a log; tlparse's `raw.jsonl` is converted, another tool's raises TraceError."""
    if is_tlparse_index(path):
        return log_of_index(path, scratch / "made", most_bytes)
    if words := foreign_file_words(path):
        raise TraceError(f"{named} {words}")
    return RankLogs({}, path)


def _logs_of_directory(directory: Path, scratch: Path, named: str, most_bytes: int) -> RankLogs:
    """Return the logs in a directory, otherwise its compressed logs or dumps; raises TraceError."""
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


def is_tlparse_index(path: Path) -> bool:
    """Return True if a file is tlparse's `raw.jsonl`. Raises OSError."""
    start = _start(path)
    return TLPARSE_LINE.match(start) is not None and not (TRITONPARSE.match(start) or KINETO.match(start))


def foreign_file_words(path: Path) -> str:
    """Return what a file of another tool is, and how to use it; empty for any other. Raises OSError."""
    start = _start(path)
    if next(header_lines(start), None) is not None:
        return ""
    return next((words for pattern, words in FILES if pattern.match(start)), "")


def _start(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(MOST_READ_BYTES)


def foreign_directory_words(files: Iterable[Path]) -> str:
    """Return what a directory of another tool is, and how to use it; empty for an unknown directory."""
    paths = list(files)
    return next((words for is_of, words in DIRECTORIES if any(map(is_of, paths))), "")


def _is_named(pattern: str) -> Callable[[Path], bool]:
    compiled = re.compile(pattern)
    return lambda path: compiled.search(path.as_posix()) is not None


# Recognized path of a file in a directory → what the directory is.
DIRECTORIES: tuple[tuple[Callable[[Path], bool], str], ...] = (
    (
        _is_named(r"(?:^|/)(?:compile_directory\.json|failures_and_restarts\.html)$"),
        "is tlparse's output directory without `raw.log`, `raw.jsonl` and the files with payloads. Open the log from "
        "which it was made, or the whole directory",
    ),
    (
        _is_named(r"(?:^|/)(?:full_code_for_\w+|__transformed_code_\w+|__compiled_fn_\d+\w*)(?: \w+)*\.py$"),
        f"is a folder of depyf, which has decompiled code without torch's records. For torch.compile, {RECORD}",
    ),
    (
        _is_named(r"(?:^|/)(?:fxgraph|aotautograd)/\w{2}/|(?:^|/)\w{2}/c\w{40,60}\.(?:py|cpp|main\.cpp)$"),
        "is a cache directory of Inductor, which has generated code without graphs. For the compilations, "
        f"{RECORD}; set TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 so that all is compiled again",
    ),
)

"""Reader of a TORCH_TRACE log's records.

A record is a glog header line, `V1121 03:34:01.171000 5351 torch/_dynamo/output_graph.py:2841] {json}`. If the JSON has
`has_payload` (an md5), the payload follows as lines with a leading tab. File names in stacks are numbers: indexes into
a table that `str` records fill. The file is not trusted: every length is bounded, and unreadable parts are counted.

`GrowingReader` yields each complete record of a growing log once. A `TraceRecord` is the header of a record.
"""

from __future__ import annotations

import errno
import hashlib
import mmap
import os
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, TypeVar

from core.base.decoder import counted, decoded, decoded_as
from core.base.errors import DecodeError, TraceError
from core.base.files import open_regular, regular

T = TypeVar("T")

HEADER = re.compile(rb"^[VDIWEC](\d{4} [0-9:.]{8,20})\d* +\d+ [^\n\]]{1,400}\] (?=\{)", re.MULTILINE)
MAX_LOG_BYTES = 8 * 1024**3  #: limit: the part of a log that is read
MAX_HEADER_BYTES = 4_000_000  #: the header of a record
MAX_RECORDS = 4_000_000  #: limit: records of a log
MAX_STRINGS = 500_000  #: names in the string table of a log
MAX_KIND = 300  #: characters of the kind of a record
MAX_PAYLOAD_BYTES = 64_000_000  #: limit: the payload of a record
OUR_KEYS = frozenset(
    {"rank", "compiled_autograd_id", "frame_id", "frame_compile_id", "attempt", "has_payload", "stack", "subgraph_name"}
)
NO_RECORD = (
    "This is no torch trace: no line of it is a record. Expected lines that begin with "
    '`V0401 12:34:56.789000 4711 torch/…] {"`, as `TORCH_TRACE=/tmp/trace python script.py` writes them.'
)
MAX_GROWING_BYTES = 64_000_000  #: limit: the part of a running run's log that is read; a followed log has no such limit
MOST_AT_ONCE_BYTES = 2_000_000  #: bytes of a growing log that are read at once


@cache
def _patterns(rest: bytes) -> tuple[re.Pattern[bytes], re.Pattern[bytes]]:
    """Return patterns of a header line at a position and after a newline, which is found faster."""
    line = HEADER.pattern.removeprefix(b"^")
    return re.compile(HEADER.pattern + rest, re.MULTILINE), re.compile(b"\n" + line + rest, re.MULTILINE)


def header_lines(data: bytes | bytearray | mmap.mmap, start: int = 0, rest: bytes = b"") -> Iterator[re.Match[bytes]]:
    """Yield the match of each header line from a byte offset on.

    `rest` is a pattern for the text after `HEADER`. A match may begin with the newline before its line: see
    `start_of`.
    """
    here, later = _patterns(rest)
    first = here.match(data, start)
    return chain([first] if first else [], later.finditer(data, start))


def start_of(header: re.Match[bytes]) -> int:
    """Return the byte offset of a header line, which begins with the letter before the time."""
    return header.start(1) - 1


def has_record(path: Path) -> bool:
    """Return True if a file has any record; raises TraceError if it cannot be read."""
    with TraceReader(path) as reader:
        return next(reader.records(), None) is not None


class TraceReader:
    """The records of one log, in order. Payloads are read on request.

    `problems` counts unreadable parts by kind; `first_problem` has the byte offset of the first of each kind.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.strings: dict[int, str] = {}
        self.problems: Counter[str] = Counter()
        self.first_problem: dict[str, int] = {}
        try:
            self._file = open_regular(path)
            self.size = os.fstat(self._file.fileno()).st_size
            if self.size > MAX_LOG_BYTES:
                self._file.close()
                raise OSError(errno.EFBIG, f"it is larger than {MAX_LOG_BYTES // 1024**3} GiB")
            self._map = self._opened()
        except OSError as error:
            raise TraceError(f"{path.name} cannot be read: {error.strerror}") from None

    def _opened(self) -> mmap.mmap | bytearray:
        return mmap.mmap(self._file.fileno(), self.size, access=mmap.ACCESS_READ) if self.size else bytearray()

    def close(self) -> None:
        """Close the file."""
        if isinstance(self._map, mmap.mmap):
            self._map.close()
        self._file.close()

    def __enter__(self) -> TraceReader:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def records(self, start: int = 0) -> Iterator[TraceRecord]:
        """Yield the readable records from a byte offset on, but no `str` records: these fill the string table."""
        for match, end in self.headers(start):
            yield from self.record_at(match, end)

    def headers(self, start: int = 0, rest: bytes = b"") -> Iterator[tuple[re.Match[bytes], int]]:
        """Yield the match of each record's header line, as `header_lines` does, and where the record ends."""
        previous: re.Match[bytes] | None = None
        for count, match in enumerate(header_lines(self._map, start, rest), 1):
            if previous is None and start_of(match) > start:
                self.problem("text before the first record", start)
            if previous is not None:
                yield previous, start_of(match)
            previous = match
            if count >= MAX_RECORDS:
                self.problem("more records than are read", start_of(match))
                return
        if previous is not None:
            yield previous, self.size
        elif self.size > start:
            self.problem("no record in the file", start)

    def raw(self, offset: int, length: int) -> bytes:
        """Return bytes of the file as they are, torch's tabs included; cut at 64 MB."""
        return bytes(self._map[offset : offset + min(length, MAX_PAYLOAD_BYTES)])

    def text(self, offset: int, length: int) -> str:
        """Return a payload without its tabs; cut at 64 MB."""
        return _without_tabs(self.raw(offset, length))

    def json(self, record: TraceRecord) -> Any:
        """Return a record's payload as JSON; None without a payload. Invalid JSON is counted as a problem."""
        if not record.md5:
            return None
        if record.length > MAX_PAYLOAD_BYTES:
            self.problem("payload too large", record.offset)
            return None
        return self._decoded(self.text(record.offset, record.length), record.offset, "payload is not JSON")

    def json_as(self, record: TraceRecord, kind: type[T]) -> T | None:
        """Return a record's payload as a type; None for anything else. Invalid JSON is counted as a problem."""
        try:
            return decoded_as(self.text(record.offset, record.length), kind)
        except DecodeError:
            self.json(record)
            return None

    def check(self, record: TraceRecord) -> bool:
        """Return True if the payload has the md5 that torch wrote; a mismatch is counted."""
        same = md5_of(self.text(record.offset, record.length)) == record.md5
        if not same:
            self.problem("payload differs from its md5", record.offset)
        return same

    def file_name(self, interned: Any) -> str:
        """Return a file name of a stack: the text for an interned number, or the name itself."""
        if isinstance(interned, int):
            return self.strings.get(interned, f"file {interned}")
        return str(interned)

    def record_at(self, match: re.Match[bytes], end: int) -> Iterator[TraceRecord]:
        """Yield the record of a header line if the record is readable; a `str` record only fills the table."""
        line_end = self._map.find(b"\n", match.end(), min(end, match.end() + MAX_HEADER_BYTES))
        if line_end < 0 and end - match.end() >= MAX_HEADER_BYTES:
            self.problem("header too long", start_of(match))
            return
        line_end = end if line_end < 0 else line_end
        header = self._decoded(bytes(self._map[match.end() : line_end]), start_of(match), "header is not JSON")
        if not isinstance(header, dict):
            return
        key = next((name for name in header if name not in OUR_KEYS), None)
        if key == "str":
            self._intern(header[key], start_of(match))
            return
        if key is None:
            self.problem("record without a kind", start_of(match))
            return
        offset = min(line_end + 1, end)
        md5 = header.get("has_payload")
        length = end - offset if md5 else 0
        yield _trace_record(key, header, match, offset, length, str(md5 or ""))

    def record_of(self, header: int, end: int) -> Iterator[TraceRecord]:
        """Yield the record whose header line begins at a byte offset, if there is such a record."""
        match = HEADER.match(self._map, header, end)
        if match is not None:
            yield from self.record_at(match, end)

    def _intern(self, pair: Any, offset: int) -> None:
        if isinstance(pair, list) and len(pair) == 2 and isinstance(pair[1], int) and len(self.strings) < MAX_STRINGS:
            if self.strings.setdefault(pair[1], str(pair[0])) != str(pair[0]):
                self.problem("two file names with one number", offset)
                self.strings[pair[1]] = str(pair[0])
        else:
            self.problem("unreadable file name", offset)

    def _decoded(self, text: bytes | str, offset: int, problem: str) -> Any:
        try:
            return decoded(text)
        except DecodeError:
            self.problem(problem, offset)
            return None

    def problem(self, what: str, offset: int) -> None:
        """Count an unreadable part by its kind, and store the offset of the first part of each kind."""
        self.problems[what] += 1
        self.first_problem.setdefault(what, offset)


def md5_of(text: str) -> str:
    """Return the md5 of a payload in torch's format."""
    return hashlib.md5(text.encode("utf-8", "surrogatepass"), usedforsecurity=False).hexdigest()


def text_at(path: Path, offset: int, length: int) -> str:
    """Return the text of one payload; raises TraceError.

    Only the payload is read, since the log may still grow.
    """
    try:
        with open_regular(path) as file:
            file.seek(offset)
            return _without_tabs(file.read(min(length, MAX_PAYLOAD_BYTES)))
    except OSError as error:
        raise TraceError(f"{path.name} cannot be read: {error.strerror}") from None


def _without_tabs(data: bytes) -> str:
    """Remove the tab at the start of each line; only a newline ends a line."""
    text = data.removesuffix(b"\n").removeprefix(b"\t").replace(b"\n\t", b"\n")
    return text.decode("utf-8", "replace")


def _trace_record(
    key: str, header: dict[str, Any], match: re.Match[bytes], offset: int, length: int, md5: str
) -> TraceRecord:
    body = header[key]
    kind = f"{key}:{body.get('name')}" if key in ("artifact", "graph_dump") and isinstance(body, dict) else key
    return TraceRecord(
        kind=kind[:MAX_KIND],
        body=body,
        compile_id=compile_id(header),
        attempt=counted(header.get("attempt")) or 0,
        rank=counted(header.get("rank")),
        timestamp=match.group(1).decode(),
        header_offset=start_of(match),
        offset=offset,
        length=length,
        md5=md5,
        subgraph=str(header.get("subgraph_name") or "")[:MAX_KIND],
    )


def compile_id(header: dict[str, Any]) -> str:
    """Return torch's CompileId without brackets; empty outside a compilation.

    Examples are `0/1`, and `!2/0/1` with compiled autograd.
    """
    frame, count, autograd = (header.get(key) for key in ("frame_id", "frame_compile_id", "compiled_autograd_id"))
    base = f"{frame}/{count}" if isinstance(frame, int) and isinstance(count, int) else ""
    if isinstance(autograd, int):
        return f"!{autograd}/{base}" if base else f"!{autograd}"
    return base


class GrowingReader(TraceReader):
    """A reader that copies a log while the log is being written.

    The copy is needed since the run may truncate the log, and reading a mapped file that shrinks kills the process. The
    reader takes only the first 64 MB of a log, and at most 2 MB at once, so that nobody waits long.
    """

    _map: bytearray

    def _opened(self) -> bytearray:
        self._file.close()
        self.size = self._taken = 0
        return bytearray()

    def new_records(self) -> Iterator[TraceRecord]:
        """Yield the records added since the last call; raises TraceError if the log was truncated or is gone."""
        self._grow()
        headers = list(header_lines(self._map, self._taken))
        for match, following in pairwise([*headers, None]):
            assert match is not None
            end = start_of(following) if following else self.size
            if following is None and not self._is_complete(match):
                return
            self._taken = end
            yield from self.record_at(match, end)

    def _grow(self) -> None:
        try:
            with open_regular(self.path) as file:
                if os.fstat(file.fileno()).st_size < self.size:
                    raise TraceError(f"{self.path.name} was cut off while it was read")
                file.seek(self.size)
                self._map += file.read(min(MOST_AT_ONCE_BYTES, MAX_GROWING_BYTES - self.size))
        except OSError as error:
            raise TraceError(f"{self.path.name} cannot be read: {error.strerror}") from None
        self.size = len(self._map)

    def _is_complete(self, match: re.Match[bytes]) -> bool:
        """Return True if the last record's payload is complete: its checksum matches the header's."""
        line_end = self._map.find(b"\n", match.end())
        if line_end < 0 or self._map[self.size - 1 : self.size] != b"\n":
            return False
        try:
            header = decoded(bytes(self._map[match.end() : line_end]))
        except DecodeError:
            return True
        md5 = header.get("has_payload") if isinstance(header, dict) else None
        return not md5 or md5 == md5_of(self.text(line_end + 1, self.size - line_end - 1))


class AppendedReader(GrowingReader):
    """A reader of our own copy of a log.

    The copy only grows, so that it can be mapped. It may be as large as any log.
    """

    def _grow(self) -> None:
        try:
            with open_regular(self.path) as file:
                size = min(os.fstat(file.fileno()).st_size, self.size + MOST_AT_ONCE_BYTES, MAX_LOG_BYTES)
                if size < self.size:
                    raise TraceError(f"{self.path.name} was cut off while it was read")
                if size > self.size:
                    self._map = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)  # type: ignore[assignment]
                    self.size = size
        except OSError as error:
            raise TraceError(f"{self.path.name} cannot be read: {error.strerror}") from None


@dataclass(frozen=True, slots=True)
class TraceRecord:
    """The header of one record; its payload stays in the file.

    `kind` is the record's key; for the keys `artifact` and `graph_dump`, it is `artifact:NAME` or `graph_dump:NAME`.
    `body` is the value of the key. `compile_id` is torch's id without the attempt, such as `0/1`; empty outside a
    compilation. `offset` and `length` locate the payload in bytes. `md5` is torch's checksum of the payload, empty if
    the record has no payload. `subgraph` is the subgraph that Inductor compiled, empty if torch named none.
    """

    kind: str
    body: Any
    compile_id: str
    attempt: int
    rank: int | None
    timestamp: str
    header_offset: int
    offset: int
    length: int
    md5: str
    subgraph: str = ""


MOST_READ_BYTES = 1_000_000  #: start and end of a log that are searched for rank and time
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

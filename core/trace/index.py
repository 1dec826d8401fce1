"""Index of a log: the place of every record, from one scan that reads only headers.

An index is stored beside its log, and extended when the log grows:

  8 bytes   magic
  8 bytes   length of the JSON part
  JSON      `Tables`: size of the indexed log, a digest of its start, names of kinds and compile ids,
            file names of stacks, problems
  columns   one after another, each with as many values as there are records, in this machine's byte order

An index that does not fit its log is rebuilt, and a stored index is checked before use. The columns are
memory-mapped, since the index of a 2 GB log has 70 MB.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import operator
import os
import re
import sys
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, TraceError
from core.base.files import open_regular, regular, write_atomically
from core.report.parts import remembered
from core.trace.reader import MAX_KIND, OUR_KEYS, TraceReader, start_of

MAGIC = b"CBindex1" if sys.byteorder == "little" else b"CBindexB"
MAX_INDEX_BYTES = 512 * 1024**2  #: the stored index of a log
MAX_NAMES = 65_000  #: kinds and compile ids that an index distinguishes
OTHER = "other names"
DIGEST_BYTES = 4_096
# Column → type code of `array`.
COLUMNS = {"kind": "H", "compilation": "I", "attempt": "H", "rank": "i", "header": "q", "offset": "q", "length": "q"}
Columns = Mapping[str, "array[int] | memoryview[int]"]
NO_RANK = -1
# Keys that are no kind by themselves, and kinds that have a name.
NO_KIND = OUR_KEYS | {"str"}
NAMED = (b"artifact", b"graph_dump")
# The rest of a plain header, as most are: matched as a whole, it needs no decoder.
PLAIN = (
    rb'(?:\{"(\w{1,60})": \{(?:"name": "([^"\\\n]{1,200})", "encoding": "\w{1,20}")?\}'
    rb'(?:, "rank": (\d{1,9}))?'
    rb'(?:, "frame_id": (\d{1,9}), "frame_compile_id": (\d{1,9}), "attempt": (\d{1,9}))?'
    rb'(?:, "has_payload": "([0-9a-f]{32})")?\}(?=\n))?'
)


@dataclass(frozen=True, slots=True)
class IndexRow:
    """The place of a record in the log.

    `number` counts the records from 0. `header` and `offset` are the byte offsets of the header and the payload;
    `length` is the payload's length in bytes. `compile_id` is empty outside a compilation; `rank` is None if the
    record has no rank.
    """

    number: int
    kind: str
    compile_id: str
    attempt: int
    rank: int | None
    header: int
    offset: int
    length: int


@dataclass(frozen=True, slots=True)
class Tables:
    """JSON part of an index: the names that the columns refer to by number, and the scan's problems."""

    log_bytes: int
    records: int
    digest: str
    kinds: list[str]
    compile_ids: list[str]
    strings: dict[int, str] = field(default_factory=dict)
    problems: dict[str, int] = field(default_factory=dict)
    first_problem: dict[str, int] = field(default_factory=dict)


class TraceIndex:
    """The places of all records of one log, in order."""

    def __init__(self, path: Path, tables: Tables, columns: Columns) -> None:
        self.path = path
        self.tables = tables
        self._columns = columns

    def column(self, name: str) -> array[int]:
        """Return a copy of one column."""
        return array(COLUMNS[name], self._columns[name])

    def __len__(self) -> int:
        return len(self._columns["kind"])

    def row(self, number: int) -> IndexRow:
        """Return one record's row; raises IndexError if there are fewer records."""
        columns = self._columns
        rank = columns["rank"][number]
        return IndexRow(
            number=number,
            kind=self.tables.kinds[columns["kind"][number]],
            compile_id=self.tables.compile_ids[columns["compilation"][number]],
            attempt=columns["attempt"][number],
            rank=None if rank == NO_RANK else rank,
            header=columns["header"][number],
            offset=columns["offset"][number],
            length=columns["length"][number],
        )

    def rows(self, numbers: Iterable[int] | None = None) -> Iterator[IndexRow]:
        """Yield the rows of all records, or of the records with the given numbers."""
        return map(self.row, range(len(self)) if numbers is None else numbers)

    @remembered
    def numbers(self, kinds: Iterable[str] | None = None, compile_id: str | None = None) -> array[int]:
        """Return the numbers of the records, optionally only of some kinds and of one compilation."""
        wanted = set(range(len(self.tables.kinds))) if kinds is None else self._numbers_of(self.tables.kinds, kinds)
        kind_of = self._columns["kind"]
        if compile_id is None:
            return array("I", (number for number, kind in enumerate(kind_of) if kind in wanted))
        (place,) = self._numbers_of(self.tables.compile_ids, [compile_id]) or {-1}
        of = self._columns["compilation"]
        return array("I", (number for number, there in enumerate(of) if there == place and kind_of[number] in wanted))

    def last_numbers(self) -> set[int]:
        """Return the number of each compilation's last record."""
        return set({there: number for number, there in enumerate(self._columns["compilation"])}.values())

    @staticmethod
    def _numbers_of(names: list[str], wanted: Iterable[str]) -> set[int]:
        chosen = set(wanted)
        return {number for number, name in enumerate(names) if name in chosen}

    @remembered
    def counts(self) -> dict[str, int]:
        """Return kind → number of its records."""
        counted = Counter(self._columns["kind"])
        return {name: counted[number] for number, name in enumerate(self.tables.kinds) if counted[number]}

    @remembered
    def sizes(self) -> dict[str, int]:
        """Return kind → bytes of its payloads."""
        sizes = [0] * len(self.tables.kinds)
        for kind, length in zip(self._columns["kind"], self._columns["length"], strict=True):
            sizes[kind] += length
        return {name: sizes[number] for number, name in enumerate(self.tables.kinds)}


class _Scan:
    """A scan of a log, or of the part that was added since an earlier index."""

    def __init__(self, path: Path, before: TraceIndex | None) -> None:
        self._path = path
        self._tables = before.tables if before else None
        self._columns = {name: before.column(name) if before else array(code) for name, code in COLUMNS.items()}
        self._kinds = _Names(self._tables.kinds if self._tables else [])
        self._compile_ids = _Names(self._tables.compile_ids if self._tables else [])
        self._fast: dict[tuple[bytes, bytes | None], int | None] = {}
        self._start = self._drop_last() if before and len(before) else 0

    def _drop_last(self) -> int:
        """Remove the last record, which may have been incomplete; return its offset in the log."""
        start = self._columns["header"][-1]
        for column in self._columns.values():
            column.pop()
        return start

    def run(self) -> TraceIndex:
        """Return the index of the whole log; raises TraceError."""
        with TraceReader(self._path) as reader:
            if self._tables:
                reader.strings.update(self._tables.strings)
            for match, end in reader.headers(self._start, PLAIN):
                self._add(reader, match, end)
            tables = Tables(
                log_bytes=reader.size,
                records=len(self._columns["kind"]),
                digest=_digest(self._path),
                kinds=self._kinds.names,
                compile_ids=self._compile_ids.names,
                strings=reader.strings,
                problems=dict(reader.problems),
                first_problem=reader.first_problem,
            )
        return TraceIndex(self._path, tables, self._columns)

    def _add(self, reader: TraceReader, match: re.Match[bytes], end: int) -> None:
        key, name, rank, frame, count, attempt, md5 = match.groups()[1:]
        kind = self._kind(key, name) if key else None
        if kind is None:
            for record in reader.record_at(match, end):
                self._append(
                    self._kinds.number(record.kind),
                    record.compile_id,
                    record.attempt,
                    record.rank,
                    (record.header_offset, record.offset, record.length),
                )
            return
        compile_id = f"{int(frame)}/{int(count)}" if frame else ""
        offset = min(match.end() + 1, end)
        self._append(
            kind,
            compile_id,
            int(attempt or 0),
            int(rank) if rank else None,
            (start_of(match), offset, end - offset if md5 else 0),
        )

    def _kind(self, key: bytes, name: bytes | None) -> int | None:
        """Return the number of a record's kind from a plain header; None if the header must be decoded."""
        if (key, name) not in self._fast:
            number = None
            if key.decode() not in NO_KIND and (name is not None or key not in NAMED):
                text = f"{key.decode()}:{name.decode('utf-8', 'replace')}" if key in NAMED and name else key.decode()
                number = self._kinds.number(text[:MAX_KIND])
            if len(self._fast) < MAX_NAMES:
                self._fast[key, name] = number
            return number
        return self._fast[key, name]

    def _append(self, kind: int, compile_id: str, attempt: int, rank: int | None, places: tuple[int, int, int]) -> None:
        columns = self._columns
        columns["kind"].append(kind)
        columns["compilation"].append(self._compile_ids.number(compile_id))
        columns["attempt"].append(min(attempt, 65_535))
        columns["rank"].append(NO_RANK if rank is None else rank)
        columns["header"].append(places[0])
        columns["offset"].append(places[1])
        columns["length"].append(places[2])


class _Names:
    """Names and their numbers, in the order of first use; all beyond the limit share the last number."""

    def __init__(self, names: list[str]) -> None:
        self.names = names
        self._numbers = {name: number for number, name in enumerate(names)}

    def number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            if len(self.names) >= MAX_NAMES:
                name = OTHER
                if name in self._numbers:
                    return self._numbers[name]
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number


def index_of(path: Path, stored: Path | None = None) -> TraceIndex:
    """Return the index of a log; raises TraceError if the log cannot be read.

    A valid index in the file `stored` is used, and extended if the log has grown. A new or extended index is written to
    that file.
    """
    before = _read_index(path, stored) if stored else None
    if before is not None and before.tables.log_bytes == _size(path):
        return before
    # What was noticed is counted again from the start: the last record's part of the counts is not known.
    index = _Scan(path, None if before is None or before.tables.problems else before).run()
    if stored is not None:
        with contextlib.suppress(OSError):
            write_atomically(stored, _encoded(index))
    return index


def _size(path: Path) -> int:
    status = regular(path)
    if status is None:
        raise TraceError(f"{path.name} cannot be read: it is no regular file")
    return status.st_size


def _digest(path: Path) -> str:
    """Return a digest of a log's start, which identifies the log of a stored index."""
    try:
        with open_regular(path) as file:
            return hashlib.blake2b(file.read(DIGEST_BYTES), digest_size=16).hexdigest()
    except OSError as error:
        raise TraceError(f"{path.name} cannot be read: {error.strerror}") from None


def _encoded(index: TraceIndex) -> bytes:
    tables = msgspec.json.encode(index.tables)
    columns = (index.column(name).tobytes() for name in COLUMNS)
    return b"".join((MAGIC, len(tables).to_bytes(8, "little"), tables, *columns))


def _read_index(path: Path, stored: Path) -> TraceIndex | None:
    """Return the stored index if it is valid for this log or for its beginning; None otherwise."""
    try:
        data = _mapped(stored)
    except (OSError, ValueError):
        return None
    end = 16 + int.from_bytes(data[8:16], "little")
    if data[:8] != MAGIC or end > len(data):
        return None
    try:
        tables = decoded_as(bytes(data[16:end]), Tables)
    except DecodeError:
        return None
    columns = _columns(data[end:], tables.records)
    if columns is None or not _fits(tables, columns):
        return None
    _forget(data)
    is_same = tables.log_bytes <= _size(path) and (tables.digest == _digest(path))
    return TraceIndex(path, tables, columns) if is_same else None


def _mapped(path: Path) -> memoryview:
    """Map a file that is only replaced as a whole, never changed in place; raises OSError, ValueError."""
    with open_regular(path) as file:
        if os.fstat(file.fileno()).st_size > MAX_INDEX_BYTES:
            raise ValueError("the index is too large")
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


def _forget(data: memoryview) -> None:
    """Release the memory of mapped bytes; they are read from the file again when they are used."""
    if hasattr(mmap, "MADV_DONTNEED"):
        data.obj.madvise(mmap.MADV_DONTNEED)  # type: ignore[attr-defined]


def _columns(data: memoryview, records: int) -> Columns | None:
    columns: dict[str, memoryview[int]] = {}
    for name, code in COLUMNS.items():
        size = records * array(code).itemsize
        if not 0 <= size <= len(data):
            return None
        columns[name], data = data[:size].cast(code), data[size:]  # type: ignore[call-overload]
    return None if data else columns


def _fits(tables: Tables, columns: Columns) -> bool:
    """Return True if a stored index is valid: all kinds, compilations and places exist."""
    if not tables.records:
        return True
    headers, offsets, lengths = (columns[name] for name in ("header", "offset", "length"))
    return (
        max(columns["kind"]) < len(tables.kinds)
        and max(columns["compilation"]) < len(tables.compile_ids)
        and min(headers) >= 0
        and min(lengths) >= 0
        and all(map(operator.le, headers, offsets))
        and max(map(operator.add, offsets, lengths)) <= tables.log_bytes
    )

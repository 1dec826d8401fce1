"""Storage of a large report in two files, and of results that functions compute from the report.

The first file is the head: the report with the small fields of its compilations, and the places of the large
fields. The second file has each large field as JSON. A large field is read when it is used. Phases are stored
in stretches, each of one compilation.

A sum over a thousand compilations takes seconds. So a `stored` function computes its result once and writes
it to a file, which later calls read:

  first line   the report's mark and the version of our code
  the rest     the result as JSON

If the file is of another report or of other code, the result is computed again. A `remembered` function keeps its last
results in memory, by the identity of its first argument: comparing two large reports would take as long as it.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, dataclass, field, fields, replace
from functools import lru_cache, partial, wraps
from itertools import accumulate, chain, groupby
from pathlib import Path
from typing import Any, BinaryIO, Concatenate, Generic, ParamSpec, TypeVar, get_type_hints

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, ReportError
from core.base.files import open_regular, read, write_atomically
from core.base.machine import code_version
from core.report.model import SCHEMA, Compilation, Phase, Report

# Fields of a compilation that every list of compilations needs.
SMALL = (
    "id",
    "frame",
    "stack",
    "attempts",
    "status",
    "error",
    "guard_latency_us",
    "restart_reasons",
    "error_text",
    "error_type",
    "error_place",
    "graph_op_count",
    "guard_warm_us",
    "guard_leaves",
    "call",
    "cudagraph_skip",
)
# Fields of the report that are in its head whatever their size.
IN_HEAD = ("setting", "compilations", "log_bytes", "schema")
MOST_FIELD_BYTES = 32_000  #: a field in the head of a stored report, as JSON
P = ParamSpec("P")
T = TypeVar("T")
V = TypeVar("V")
MOST_BYTES = 64 * 1024**2  #: a stored sum over all compilations of a report


def _empty_fields(kind: type[Any], left_out: Sequence[str]) -> dict[str, Any]:
    """Return the fields of a type except those in `left_out`, each with its empty or default value."""
    return {
        each.name: each.default_factory()
        if each.default_factory is not MISSING
        else ()
        if each.default is MISSING
        else each.default
        for each in fields(kind)
        if each.name not in left_out
    }


EMPTY = _empty_fields(Compilation, SMALL)
EMPTY_REPORT = _empty_fields(Report, IN_HEAD)
HINTS = {Compilation: get_type_hints(Compilation), Report: get_type_hints(Report)}
# Decoded fields that stay in memory.
MOST_REMEMBERED = 4  #: cached results of one function
MOST_FIELDS = 128  #: cached large fields of stored reports
Place = tuple[int, int]
Places = dict[str, Place]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Consecutive phases of one compilation in the report: their number, and their place in the file."""

    compilation: str
    count: int
    place: Place


@dataclass(frozen=True, slots=True)
class _Head:
    """The head: the report with the small fields of its compilations, and the places of large fields.

    A place is (offset, length). `mark` distinguishes this report from others of the same run.
    """

    report: Report
    places: tuple[Places, ...]
    parts_bytes: int
    fields: Places = field(default_factory=dict)
    phases: tuple[_Stretch, ...] = ()
    mark: str = ""


class PartsWriter:
    """A writer of large fields to an open file.

    Add all compilations first, in any order. Then `head` writes the large fields of the report.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, Places] = {}
        self._size = 0

    def add(self, compilation: Compilation) -> Compilation:
        """Write the large fields of a compilation; return the compilation without large fields."""
        self._places[compilation.id] = {
            name: self._write(msgspec.json.encode(value))
            for name, empty in EMPTY.items()
            if (value := getattr(compilation, name)) != empty
        }
        return replace(compilation, **EMPTY)

    def head(self, report: Report) -> bytes:
        """Write the large fields of a report whose compilations were all added; return its head."""
        places = tuple(self._places[compilation.id] for compilation in report.compilations)
        phases = tuple(self._stretches(report.phases))
        encoded = {name: msgspec.json.encode(getattr(report, name)) for name in EMPTY_REPORT if name != "phases"}
        large = {name: self._write(data) for name, data in encoded.items() if len(data) > MOST_FIELD_BYTES}
        without = replace(report, **{name: EMPTY_REPORT[name] for name in (*large, "phases")})
        return msgspec.json.encode(_Head(without, places, self._size, large, phases, secrets.token_hex(8)))

    def _stretches(self, phases: Sequence[Phase]) -> Iterator[_Stretch]:
        for compile_id, group in groupby(phases, key=lambda phase: phase.compilation):
            stretch = tuple(group)
            yield _Stretch(compile_id, len(stretch), self._write(msgspec.json.encode(stretch)))

    def _write(self, data: bytes) -> Place:
        self._file.write(data)
        self._size += len(data)
        return self._size - len(data), len(data)


def open_parts(head: Path, parts: Path, results: Path | None = None) -> Report:
    """Return a report whose large fields are read from `parts` when used; raises ReportError, OSError.

    `results` is the directory of the results of `stored` functions.
    """
    try:
        content = decoded_as(read(head), _Head)
    except DecodeError as error:
        raise ReportError(f"the stored report cannot be read: {error}") from None
    report = content.report
    if report.schema != SCHEMA:
        raise ReportError(f"the report has schema {report.schema}; this version reads {SCHEMA}")
    stored = _Parts(parts)
    if stored.size != content.parts_bytes or len(content.places) != len(report.compilations):
        raise ReportError("the stored report does not fit its parts")
    return _stored_report(content, stored, results)


class _Parts:
    """The file of the large fields, open as long as its report is used."""

    def __init__(self, path: Path) -> None:
        self._file = open_regular(path)
        weakref.finalize(self, self._file.close)
        self.size = os.fstat(self._file.fileno()).st_size
        self.read = partial(_read_part, self._file.fileno())
        self.cached = lru_cache(maxsize=MOST_FIELDS)(self.read)


def _read_part(file: int, kind: type[Any], name: str, offset: int, length: int) -> Any:
    try:
        return decoded_as(os.pread(file, length, offset), HINTS[kind][name])
    except (OSError, DecodeError) as error:
        raise ReportError(f"a part of the stored report cannot be read: {error}") from None


class _StoredCompilation(Compilation):
    """A compilation whose large fields are read when used."""

    __slots__ = ("_parts", "_places")
    _parts: _Parts
    _places: Places


class StoredReport(Report):
    """A report whose large fields are read when used.

    `results` is the directory of the results of `stored` functions, and `mark` distinguishes this report from others of
    the same run. A copy by `dataclasses.replace` has all fields in memory, and no directory.
    """

    __slots__ = ("_parts", "_places", "_stretches", "mark", "results")
    _parts: _Parts
    _places: Places
    _stretches: tuple[_Stretch, ...]
    mark: str
    results: Path | None

    def __new__(cls, *_: Any, **__: Any) -> StoredReport:
        """Return a report without parts."""
        report = object.__new__(cls)
        for name, value in (("_places", {}), ("_stretches", ()), ("mark", ""), ("results", None)):
            object.__setattr__(report, name, value)
        return report

    def phases_of(self, compile_id: str) -> list[tuple[int, Phase]]:
        """Return the phases of one compilation, each with its index in `phases`; only these are read."""
        if not self._stretches:
            return Report.phases_of(self, compile_id)
        starts = accumulate((stretch.count for stretch in self._stretches), initial=0)
        return [
            (start + index, phase)
            for start, stretch in zip(starts, self._stretches, strict=False)
            if stretch.compilation == compile_id
            for index, phase in enumerate(self._read_phases(stretch))
        ]

    def _read_phases(self, stretch: _Stretch) -> tuple[Phase, ...]:
        phases: tuple[Phase, ...] = self._parts.read(Report, "phases", *stretch.place)
        return phases


def _compilation_field(name: str) -> property:
    def value(self: _StoredCompilation) -> Any:
        place = self._places.get(name)
        return EMPTY[name] if place is None else self._parts.cached(Compilation, name, *place)

    return property(value)


def _report_field(name: str) -> property:
    in_memory = getattr(Report, name)

    def value(self: StoredReport) -> Any:
        if name == "phases" and self._stretches:
            return tuple(chain.from_iterable(map(self._read_phases, self._stretches)))
        place = self._places.get(name)
        return in_memory.__get__(self) if place is None else self._parts.cached(Report, name, *place)

    return property(value, in_memory.__set__)


for _name in EMPTY:
    setattr(_StoredCompilation, _name, _compilation_field(_name))
for _name in EMPTY_REPORT:
    setattr(StoredReport, _name, _report_field(_name))


def _stored_compilation(compilation: Compilation, places: Places, parts: _Parts) -> Compilation:
    stored = object.__new__(_StoredCompilation)
    for name in SMALL:
        object.__setattr__(stored, name, getattr(compilation, name))
    object.__setattr__(stored, "_places", places)
    object.__setattr__(stored, "_parts", parts)
    return stored


def _stored_report(head: _Head, parts: _Parts, results: Path | None) -> StoredReport:
    stored = StoredReport.__new__(StoredReport)
    for each in fields(Report):
        object.__setattr__(stored, each.name, getattr(head.report, each.name))
    pairs = zip(head.report.compilations, head.places, strict=True)
    own = {
        "compilations": tuple(_stored_compilation(compilation, places, parts) for compilation, places in pairs),
        "results": results,
        "mark": head.mark,
        "_parts": parts,
        "_places": head.fields,
        "_stretches": head.phases,
    }
    for name, value in own.items():
        object.__setattr__(stored, name, value)
    return stored


def stored(function: Callable[Concatenate[Report, P], T]) -> Callable[Concatenate[Report, P], T]:
    """Return a function that computes and stores its result once for each report and set of arguments.

    The result must be of a type that JSON restores unchanged, and depend only on the report, its log and the
    arguments. Arguments that are functions are not compared: they may only read the log.
    """
    results = LastResults[Report, T]()
    name = f"{function.__module__.rpartition('core.')[2]}.{function.__name__}"

    @wraps(function)
    def from_store(report: Report, /, *args: P.args, **options: P.kwargs) -> T:
        key = [value for value in (*args, *options.values()) if not callable(value)]

        def make() -> T:
            return function(report, *args, **options)

        def read_or_make() -> T:
            return _read_or_make(report, _file_name(name, key), get_type_hints(function)["return"], make)

        return results.of(report, key, read_or_make)

    return from_store


def _file_name(name: str, key: list[Any]) -> str:
    digest = "-" + hashlib.blake2b(msgspec.json.encode(key), digest_size=8).hexdigest() if key else ""
    return f"{name}{digest}.json"


def _read_or_make(report: Report, file_name: str, kind: Any, make: Callable[[], T]) -> T:
    if not isinstance(report, StoredReport) or report.results is None or not report.mark:
        return make()
    path, first_line = report.results / file_name, f"{report.mark} {code_version()}\n".encode()
    with contextlib.suppress(OSError, DecodeError):
        data = read(path, MOST_BYTES)
        if data.startswith(first_line):
            result: T = decoded_as(data[len(first_line) :], kind)
            return result
    result = make()
    with contextlib.suppress(OSError):
        path.parent.mkdir(exist_ok=True)
        write_atomically(path, first_line + msgspec.json.encode(result))
    return result


class LastResults(Generic[V, T]):
    """Cache of the last results of a function.

    A result is reused for the same value (`is`) with an equal key (`==`).
    """

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._last: deque[tuple[V, object, T]] = deque(maxlen=MOST_REMEMBERED)

    def of(self, value: V, key: object, make: Callable[[], T]) -> T:
        """Return the cached result for this value and key; without one, call `make` and cache its result."""
        # Another thread may add a result meanwhile.
        for known, known_key, result in list(self._last):
            if known is value and known_key == key:
                return result
        result = make()
        self._last.appendleft((value, key, result))
        return result


def remembered(function: Callable[Concatenate[V, P], T]) -> Callable[Concatenate[V, P], T]:
    """Return a wrapper of the function that caches its last results.

    A result is reused if the first argument is the same object and the other arguments are equal. The first
    argument must be immutable, and the result must depend on the arguments alone. The cache keeps the first
    arguments in memory.
    """
    results = LastResults[V, T]()

    @wraps(function)
    def remembering(value: V, /, *args: P.args, **options: P.kwargs) -> T:
        return results.of(value, (args, options), lambda: function(value, *args, **options))

    return remembering

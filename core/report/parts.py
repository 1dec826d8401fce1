"""A large report in two files: a head with the report and the small fields of its compilations, and the large fields.

The second file has the JSON of each large field of each compilation, one after another; the head has their places.
A field is read when somebody looks at it, so a report takes as much memory as what is shown of it.
"""

from __future__ import annotations

import os
import weakref
from dataclasses import MISSING, dataclass, fields, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, BinaryIO, get_type_hints

import msgspec

from core.base.decoder import decoded_as
from core.base.errors import DecodeError, ReportError
from core.base.files import open_regular, read
from core.report.model import SCHEMA, Compilation, Report

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
HINTS = get_type_hints(Compilation)
EMPTY: dict[str, Any] = {
    field.name: field.default_factory()
    if field.default_factory is not MISSING
    else None
    if field.default is None
    else ()
    for field in fields(Compilation)
    if field.name not in SMALL
}
# Decoded fields that stay in memory.
MOST_FIELDS = 128
Places = dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class _Head:
    """The head: the report, with compilations that have small fields alone, and (offset, length) of the others."""

    report: Report
    places: tuple[Places, ...]
    parts_bytes: int


class PartsWriter:
    """Writes the large fields of compilations into an open file, in any order."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, Places] = {}
        self._size = 0

    def add(self, compilation: Compilation) -> Compilation:
        """Write the large fields of a compilation; return it without them."""
        places = self._places[compilation.id] = {}
        for name, empty in EMPTY.items():
            value = getattr(compilation, name)
            if value != empty:
                data = msgspec.json.encode(value)
                self._file.write(data)
                places[name] = (self._size, len(data))
                self._size += len(data)
        return replace(compilation, **EMPTY)

    def head(self, report: Report) -> bytes:
        """Return the head of a report whose compilations were all added."""
        places = tuple(self._places[compilation.id] for compilation in report.compilations)
        return msgspec.json.encode(_Head(report, places, self._size))


def open_parts(head: Path, parts: Path) -> Report:
    """Return a report whose large fields are read from `parts` when they are used; raises ReportError, OSError."""
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
    pairs = zip(report.compilations, content.places, strict=True)
    return replace(report, compilations=tuple(_stored(compilation, places, stored) for compilation, places in pairs))


class _Parts:
    """The file of the large fields, open as long as its report is used."""

    def __init__(self, path: Path) -> None:
        self._file = open_regular(path)
        weakref.finalize(self, self._file.close)
        self.size = os.fstat(self._file.fileno()).st_size
        self.read = lru_cache(maxsize=MOST_FIELDS)(partial(_read_part, self._file.fileno()))


def _read_part(file: int, name: str, offset: int, length: int) -> Any:
    try:
        return decoded_as(os.pread(file, length, offset), HINTS[name])
    except (OSError, DecodeError) as error:
        raise ReportError(f"a part of the stored report cannot be read: {error}") from None


class _StoredCompilation(Compilation):
    """A compilation whose large fields are read when they are used."""

    __slots__ = ("_parts", "_places")
    _parts: _Parts
    _places: Places

    def _large(self, name: str) -> Any:
        place = self._places.get(name)
        return EMPTY[name] if place is None else self._parts.read(name, *place)


def _large_field(name: str) -> property:
    def value(self: _StoredCompilation) -> Any:
        return self._large(name)

    return property(value)


for _name in EMPTY:
    setattr(_StoredCompilation, _name, _large_field(_name))


def _stored(compilation: Compilation, places: Places, parts: _Parts) -> Compilation:
    stored = object.__new__(_StoredCompilation)
    for name in SMALL:
        object.__setattr__(stored, name, getattr(compilation, name))
    object.__setattr__(stored, "_places", places)
    object.__setattr__(stored, "_parts", parts)
    return stored

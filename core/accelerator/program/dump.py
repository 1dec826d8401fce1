"""Hex dump of a program's file in rows of 16 bytes, with explanations as in docs/program-format.md."""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.accelerator.program.file import (
    ENTRY,
    HEAD,
    HEADER,
    HEADER_BYTES,
    INSTRUCTION,
    SECTIONS,
    STORAGE,
    TENSOR,
    WORD,
    ProgramFile,
)
from core.accelerator.program.program import DTYPES, MAX_RANK, UNPLACED, Opcode, StorageKind
from core.base.errors import ProgramError
from core.base.words import bytes_, exact, number

ROW_BYTES = 16
MOST_ROWS = 512  #: rows of sixteen bytes of a program on the page
LONGEST_WORDS = 160  #: characters of the description of a row
# Part of the file → bytes per record.
SIZES = {HEAD: HEADER_BYTES, "storages": STORAGE.size, "tensors": TENSOR.size, "instructions": INSTRUCTION.size}


@dataclass(frozen=True, slots=True)
class DumpRow:
    """Row of 16 bytes (fewer at the end of a part), and the text of the records that begin in the row."""

    offset: int
    data: bytes
    words: str


def dump(file: ProgramFile, part: str, first: int, most: int = MOST_ROWS) -> tuple[DumpRow, ...]:
    """Return rows of the header or of a section, from row `first` on; raises ProgramError if unreadable."""
    found = file.part(part)
    start = max(0, first) * ROW_BYTES
    size = min(found.bytes - start, min(most, MOST_ROWS) * ROW_BYTES)
    if size <= 0:
        return ()
    # Read whole records, since a record's text needs all its bytes.
    low, high = start - start % SIZES.get(part, 1), start + size + -(start + size) % SIZES.get(part, 1)
    whole = file.at(found.offset + low, min(high, found.bytes) - low)
    words, data = _words(file, part, whole, low), whole[start - low : start - low + size]
    return tuple(
        DumpRow(found.offset + start + at, data[at : at + ROW_BYTES], words.get(start + at, "")[:LONGEST_WORDS])
        for at in range(0, len(data), ROW_BYTES)
    )


def _words(file: ProgramFile, part: str, data: bytes, start: int) -> Mapping[int, str]:
    """Return the text of the valid records that begin in each row, by the row's offset in the part."""
    try:
        if part == HEAD:
            return dict(_header(data, start))
        return dict(_FileTables(file).rows(part, data, start))
    except (ProgramError, ValueError, IndexError, struct.error):
        return {}


def _header(data: bytes, start: int) -> Iterator[tuple[int, str]]:
    if start == 0 and len(data) >= HEADER.size:
        _, version, count, length, table, check = HEADER.unpack_from(data)
        yield 0, f"magic, version {exact(version)}, {exact(count)} sections"
        yield 16, f"{bytes_(length)} in all, CRC32C of the table {_hex(table)}"
        yield 48, f"CRC32C of the header {_hex(check)}"
    for index, name in enumerate(SECTIONS):
        at = HEADER.size + index * ENTRY.size
        if start <= at and at + ENTRY.size <= start + len(data):
            _, crc, offset, size, _ = ENTRY.unpack_from(data, at - start)
            yield at, f"{name}: CRC32C {_hex(crc)}, {bytes_(size)} from {_hex(offset)} on"


def _hex(value: int) -> str:
    return value.to_bytes(8, "big").hex().lstrip("0").rjust(8, "0")


class _FileTables:
    """The tables of a file: strings and tensors are read once, other sections only as needed."""

    def __init__(self, file: ProgramFile) -> None:
        self._strings = file.section("strings")
        self._tensors = file.section("tensors")
        self._file = file

    def rows(self, part: str, data: bytes, start: int) -> Iterator[tuple[int, str]]:
        """Yield offset and text of the records that begin in a piece of a section."""
        tell = {
            "strings": self._names,
            "storages": self._storages,
            "tensors": self._shapes,
            "instructions": self._instructions,
            "words": self._lists,
            "constants": self._constants,
        }
        yield from tell[part](data, start)

    def _name(self, at: int) -> str:
        return self._strings[at : self._strings.index(b"\0", at)].decode("utf-8", "replace")

    def _tensor(self, index: int) -> tuple[int, ...]:
        return TENSOR.unpack_from(self._tensors, index * TENSOR.size)

    def _called(self, index: int) -> str:
        return self._name(self._tensor(index)[3])

    def _names(self, data: bytes, start: int) -> Iterator[tuple[int, str]]:
        for row in range(0, len(data), ROW_BYTES):
            places = range(start + row, min(start + row + ROW_BYTES, len(self._strings)))
            names = [self._name(at) for at in places if self._strings[at] and not self._strings[at - 1]]
            if names:
                yield start + row, ", ".join(names)

    def _storages(self, data: bytes, start: int) -> Iterator[tuple[int, str]]:
        for at, (kind, _, size, place, _) in _records(STORAGE, data, start):
            where = "" if place == UNPLACED else f", {_placed(StorageKind(kind), place)}"
            name = StorageKind(kind).name.lower()
            yield at, f"storage {exact(at // STORAGE.size)}: {name} of {bytes_(size)}{where}"

    def _shapes(self, data: bytes, start: int) -> Iterator[tuple[int, str]]:
        for at, (storage, dtype, rank, name, offset, *rest) in _records(TENSOR, data, start):
            sizes, strides = rest[:rank], rest[MAX_RANK : MAX_RANK + rank]
            yield at, f"tensor {exact(at // TENSOR.size)} {self._name(name)}: {DTYPES[dtype]}, storage {exact(storage)}"
            yield at + 16, f"from element {exact(offset)} on, sizes {list(sizes)}"
            yield at + 80, f"strides {list(strides)}"

    def _instructions(self, data: bytes, start: int) -> Iterator[tuple[int, str]]:
        words = tuple(word for (word,) in WORD.iter_unpack(self._file.section("words")))
        for at, (op, name, *rest) in _records(INSTRUCTION, data, start):
            inputs, outputs, _ = (words[first : first + count] for first, count in _pairs(rest))
            read, made = (", ".join(self._called(one) for one in numbers) for numbers in (inputs, outputs))
            called = f"{Opcode(op).name.lower()}({read})"
            yield at, f"instruction {exact(at // INSTRUCTION.size)} {self._name(name)}: {made or 'returns'} ← {called}"

    def _lists(self, data: bytes, start: int) -> Iterator[tuple[int, str]]:
        begins: dict[int, str] = {}
        instructions = enumerate(INSTRUCTION.iter_unpack(self._file.section("instructions")))
        for index, (_, _, *rest) in instructions:
            for kind, (first, count) in zip(("reads", "writes", "attributes"), _pairs(rest), strict=True):
                if count:
                    begins[first] = f"{exact(index)} {kind}"
        for row in range(0, len(data) - len(data) % WORD.size, ROW_BYTES):
            values = [word for (word,) in WORD.iter_unpack(data[row : row + ROW_BYTES])]
            first = (start + row) // WORD.size
            said = [begins[first + at] for at in range(len(values)) if first + at in begins]
            yield start + row, f"{'  '.join(map(exact, values))}{' · instruction ' if said else ''}{'; '.join(said)}"

    def _constants(self, data: bytes, start: int) -> Iterator[tuple[int, str]]:
        named: dict[int, tuple[str, int]] = {}
        for storage, dtype, _, name, *_ in TENSOR.iter_unpack(self._tensors):
            named.setdefault(storage, (self._name(name), dtype))
        held = [
            (place, size, *named.get(index, ("", 0)))
            for index, (kind, _, size, place, _) in enumerate(STORAGE.iter_unpack(self._file.section("storages")))
            if kind == StorageKind.CONSTANT
        ]
        for row in range(0, len(data), ROW_BYTES):
            at = start + row
            found = next((one for one in held if one[0] <= at < one[0] + one[1]), None)
            if found is None:
                continue
            place, size, name, dtype = found
            values = _values(data[row : row + min(ROW_BYTES, place + size - at)], dtype)
            begins = f"{name}, {bytes_(size)} of {DTYPES[dtype]}: " if place == at else ""
            yield at, f"{begins}{', '.join(values)}"


def _records(form: struct.Struct, data: bytes, start: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield offset and values of each whole record that begins in a piece of a section."""
    first = -start % form.size
    for at in range(first, len(data) - form.size + 1, form.size):
        yield start + at, form.unpack_from(data, at)


def _placed(kind: StorageKind, place: int) -> str:
    if kind in (StorageKind.INPUT, StorageKind.OUTPUT):
        return f"{kind.name.lower()} {exact(place)}"
    return f"{exact(place)} bytes into the {'constants' if kind == StorageKind.CONSTANT else 'arena'}"


def _pairs(values: list[int]) -> list[tuple[int, int]]:
    return list(zip(values[::2], values[1::2], strict=True))


def _values(data: bytes, dtype: int) -> list[str]:
    """Return the numbers of a row as text, decoded by dtype."""
    if DTYPES[dtype] == "bfloat16":
        data = b"".join(b"\0\0" + data[at : at + 2] for at in range(0, len(data) - 1, 2))
    if DTYPES[dtype] == "bool":
        return [str(bool(byte)) for byte in data]
    form = "<q" if DTYPES[dtype] == "int64" else "<f"
    size = struct.calcsize(form)
    return [number(value) for (value,) in struct.iter_unpack(form, data[: len(data) - len(data) % size])]

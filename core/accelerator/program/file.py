"""File format of programs (docs/program-format.md), and access to a run's file.

A file is a header, a table of six sections, and the sections, each with a CRC32C checksum. `ProgramFile` reads
pieces, since constants may not fit into memory.
"""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.accelerator.program.program import (
    MAX_RANK,
    PROGRAMS,
    Opcode,
    OperandKind,
    Program,
    ProgramInstruction,
    ProgramStep,
    ProgramStorage,
    ProgramTensor,
    StepOp,
    StepOperand,
    StorageKind,
    aligned,
)
from core.base.errors import ProgramError
from core.base.files import open_regular, read
from core.base.words import number
from core.report.backend import FileSection

POLYNOMIAL = 0x82F63B78
MAGIC = b"\x89CBP\r\n\x1a\n"
VERSION = 1
SECTIONS = ("strings", "storages", "tensors", "instructions", "words", "constants")
HEADER = struct.Struct("<8sIIQI32xI")
ENTRY = struct.Struct("<IIQQQ")
STORAGE = struct.Struct("<IIQQQ")
TENSOR = struct.Struct(f"<IIIIQ{MAX_RANK}q{MAX_RANK}qQ")
INSTRUCTION = struct.Struct("<8I")
WORD = struct.Struct("<q")
STEP_WORDS = 6
MAX_NAME_BYTES = 4096  #: a name in a program of the accelerator
FUSED = (Opcode.ELEMENTWISE, Opcode.PRODUCT)
Checksum = Callable[[bytes], int]
SUFFIX = ".cbp"
HEADER_BYTES = HEADER.size + ENTRY.size * len(SECTIONS)
# The parts of a file, the header with its table first.
HEAD = "header"
PARTS = (HEAD, *SECTIONS)
# Sections up to this size are compared with their checksums when shown; our checksum in Python is slow.
MOST_CHECKED_BYTES = 262_144  #: a section of a program whose checksum is compared when it is shown
# Larger sections, constants aside, are not explained record by record.
MOST_TABLE_BYTES = 8_000_000  #: a section of a program listed record by record
MOST_C_BYTES = 8_000_000  #: limit: a program as C code


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (POLYNOMIAL if byte & 1 else 0)
    return byte


TABLE = tuple(_entry(byte) for byte in range(256))


def crc32c(data: bytes) -> int:
    """Return the CRC32C of bytes.

    This Python code is slow. For large constants, use `checksum` in `core/accelerator/library.py`.
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def write_program(program: Program, checksum: Checksum = crc32c) -> bytes:
    """Return the program as a file."""
    return _Writer(program).file(checksum)


def file_of(parts: Sequence[bytes], checksum: Checksum = crc32c) -> bytes:
    """Return the bytes of a file with these six sections, in the order of `SECTIONS`."""
    table, body, start = b"", bytearray(), HEADER.size + ENTRY.size * len(SECTIONS)
    for kind, part in enumerate(parts, 1):
        body.extend(bytes(aligned(start + len(body)) - start - len(body)))
        table += ENTRY.pack(kind, checksum(part), start + len(body), len(part), 0)
        body.extend(part)
    header = HEADER.pack(MAGIC, VERSION, len(SECTIONS), start + len(body), checksum(table), 0)[:-4]
    return header + struct.pack("<I", checksum(header)) + table + bytes(body)


class _Writer:
    def __init__(self, program: Program) -> None:
        self._program = program
        self._strings = bytearray(b"\0")
        self._names = {"": 0}
        self._words: list[int] = []

    def file(self, checksum: Checksum) -> bytes:
        program = self._program
        storages = b"".join(STORAGE.pack(item.kind, 0, item.bytes, item.place, 0) for item in program.storages)
        tensors = b"".join(self._tensor(item) for item in program.tensors)
        instructions = b"".join(self._instruction(item) for item in program.instructions)
        words = b"".join(map(WORD.pack, self._words))
        return file_of((bytes(self._strings), storages, tensors, instructions, words, program.constants), checksum)

    def _name(self, text: str) -> int:
        if text not in self._names:
            self._names[text] = len(self._strings)
            self._strings.extend(text.encode() + b"\0")
        return self._names[text]

    def _tensor(self, tensor: ProgramTensor) -> bytes:
        gap = (0,) * (MAX_RANK - len(tensor.sizes))
        name, rank = self._name(tensor.name), len(tensor.sizes)
        return TENSOR.pack(
            tensor.storage, tensor.dtype, rank, name, tensor.offset, *tensor.sizes, *gap, *tensor.strides, *gap, 0
        )

    def _instruction(self, instruction: ProgramInstruction) -> bytes:
        name = self._name(instruction.name)
        inputs, outputs = self._listed(instruction.inputs), self._listed(instruction.outputs)
        rest = (
            (*instruction.stored, *self._steps(instruction.steps))
            if instruction.op in FUSED
            else instruction.attributes
        )
        return INSTRUCTION.pack(instruction.op, name, *inputs, *outputs, *self._listed(rest))

    def _listed(self, values: tuple[int, ...]) -> tuple[int, int]:
        at = len(self._words)
        self._words.extend(values)
        return at, len(values)

    def _steps(self, steps: tuple[ProgramStep, ...]) -> tuple[int, ...]:
        found: list[int] = []
        for step in steps:
            operands = (*step.operands, *[StepOperand()] * 3)[:3]
            found += [step.op, step.dtype, self._name(step.name)]
            found += [operand.kind << 32 | operand.index for operand in operands]
        return tuple(found)


def sections_of(head: bytes, size: int) -> tuple[FileSection, ...]:
    """Return the positions of the sections, from the first bytes and the size of a file.

    Raises ProgramError if the header is invalid.
    """
    if len(head) < HEADER.size + ENTRY.size * len(SECTIONS) or head[:8] != MAGIC:
        raise ProgramError("this is no program: it does not begin with the magic, or is cut short")
    _, version, count, length, _, _ = HEADER.unpack_from(head)
    if version != VERSION or count != len(SECTIONS) or length != size:
        raise ProgramError("the program is of another version, or cut short")
    entries = [ENTRY.unpack_from(head, HEADER.size + index * ENTRY.size) for index in range(count)]
    return tuple(
        FileSection(name, offset, size, crc) for name, (_, crc, offset, size, _) in zip(SECTIONS, entries, strict=True)
    )


def read_program(file: bytes, checksum: Checksum | None = crc32c) -> Program:
    """Return the program of a file; raises ProgramError if the file is invalid.

    Only the runtime checks whether the program can run.
    """
    parts: dict[str, bytes] = {}
    end = HEADER.size + ENTRY.size * len(SECTIONS)
    for section in sections_of(file, len(file)):
        parts[section.name] = file[section.offset : section.offset + section.bytes]
        if section.offset != aligned(end) or any(file[end : section.offset]):
            raise ProgramError(f"the {section.name} do not lie where they must")
        if checksum and checksum(parts[section.name]) != section.checksum:
            raise ProgramError(f"the checksum of the {section.name} is wrong")
        end = section.offset + section.bytes
    _check_header(file, checksum or crc32c)
    try:
        return _Reader(parts).program()
    except (ValueError, IndexError, struct.error) as error:
        raise ProgramError(f"the program cannot be read: {error}") from None


def _check_header(file: bytes, checksum: Checksum) -> None:
    """Check the checksums of the header and of the table; raises ProgramError if one is wrong."""
    *_, table, header = HEADER.unpack_from(file)
    if checksum(file[: HEADER.size - 4]) != header:
        raise ProgramError("the header's checksum is wrong")
    if checksum(file[HEADER.size : HEADER.size + ENTRY.size * len(SECTIONS)]) != table:
        raise ProgramError("the table's checksum is wrong")


class _Reader:
    def __init__(self, parts: dict[str, bytes]) -> None:
        self._parts = parts
        self._words: tuple[int, ...] = tuple(word for (word,) in WORD.iter_unpack(parts["words"]))
        self._words_left = len(self._words)

    def program(self) -> Program:
        return Program(
            tuple(self._storage(row) for row in STORAGE.iter_unpack(self._parts["storages"])),
            tuple(self._tensor(row) for row in TENSOR.iter_unpack(self._parts["tensors"])),
            tuple(self._instruction(row) for row in INSTRUCTION.iter_unpack(self._parts["instructions"])),
            self._parts["constants"],
        )

    def _name(self, at: int) -> str:
        strings = self._parts["strings"]
        end = strings.find(b"\0", at, at + MAX_NAME_BYTES + 1)
        if end < 0:
            raise ProgramError(f"a name has no end, or is longer than {number(MAX_NAME_BYTES)} bytes")
        return strings[at:end].decode()

    def _storage(self, row: tuple[int, ...]) -> ProgramStorage:
        return ProgramStorage(StorageKind(row[0]), row[2], row[3])

    def _tensor(self, row: tuple[int, ...]) -> ProgramTensor:
        storage, dtype, rank, name, offset = row[:5]
        sizes, strides = row[5 : 5 + rank], row[5 + MAX_RANK : 5 + MAX_RANK + rank]
        return ProgramTensor(storage, dtype, sizes, strides, offset, self._name(name))

    def _instruction(self, row: tuple[int, ...]) -> ProgramInstruction:
        op, name = Opcode(row[0]), self._name(row[1])
        self._words_left -= sum(row[3::2])
        if self._words_left < 0:
            raise ProgramError("two instructions share their words")
        inputs, outputs, rest = (self._words[at : at + count] for at, count in zip(row[2::2], row[3::2], strict=True))
        if op not in FUSED:
            return ProgramInstruction(op, name, inputs, outputs, rest)
        stored, words = rest[: len(outputs)], rest[len(outputs) :]
        steps = tuple(self._step(words[at : at + STEP_WORDS]) for at in range(0, len(words), STEP_WORDS))
        return ProgramInstruction(op, name, inputs, outputs, (), steps, stored)

    def _step(self, words: tuple[int, ...]) -> ProgramStep:
        operands = tuple(StepOperand(OperandKind(word >> 32), word & 0xFFFFFFFF) for word in words[3:] if word)
        return ProgramStep(StepOp(words[0]), words[1], self._name(words[2]), operands)


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A file with a valid header; `parts` are the positions of header and sections within the file."""

    path: Path
    size: int
    parts: tuple[FileSection, ...]

    def part(self, name: str) -> FileSection:
        """Return the position of the header or of a section."""
        return self.parts[PARTS.index(name)]

    def at(self, offset: int, size: int) -> bytes:
        """Return bytes of the file; raises ProgramError if it can't be read."""
        try:
            with open_regular(self.path) as file:
                file.seek(offset)
                return file.read(size)
        except OSError as error:
            raise ProgramError(f"the program's file cannot be read: {error.strerror}") from None

    def section(self, name: str) -> bytes:
        """Return a whole section; raises ProgramError if it is too large."""
        found = self.part(name)
        if found.bytes > MOST_TABLE_BYTES:
            raise ProgramError(f"the section {name} is too large to be told record by record")
        return self.at(found.offset, found.bytes)

    def as_c(self) -> bytes | None:
        """Return the program as one C file; None if it was not written as C."""
        try:
            return read(self.path.with_suffix(".c"), MOST_C_BYTES)
        except OSError:
            return None

    def is_as_written(self, name: str) -> bool | None:
        """Return True if a section matches its checksum; None for the header and for large sections."""
        found = self.part(name)
        if name == HEAD or found.bytes > MOST_CHECKED_BYTES:
            return None
        return crc32c(self.at(found.offset, found.bytes)) == found.checksum


def open_program(directory: Path, name: str) -> ProgramFile:
    """Open a program's file in a run's directory, by the file name in the log; raises ProgramError."""
    path = directory / PROGRAMS / name
    if Path(name).name != name or path.suffix != SUFFIX:
        raise ProgramError("the log names no program's file")
    try:
        with open_regular(path) as file:
            head = file.read(HEADER_BYTES)
            size = file.seek(0, 2)
    except (OSError, ValueError):
        raise ProgramError("the program's file is not here: an imported log comes without it") from None
    found = sections_of(head, size)
    if any(section.offset + section.bytes > size for section in found):
        raise ProgramError("the file's table names bytes that it does not have")
    return ProgramFile(path, size, (FileSection(HEAD, 0, HEADER_BYTES, 0), *found))

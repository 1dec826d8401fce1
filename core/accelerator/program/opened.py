"""A program's file of a run, read piece by piece: its constants may be more than one would hold in memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.accelerator.program.checksum import crc32c
from core.accelerator.program.file import ENTRY, HEADER, SECTIONS, ProgramSection, sections_of
from core.accelerator.program.program import PROGRAMS
from core.base.errors import ProgramError
from core.base.files import open_regular, read

SUFFIX = ".cbp"
HEADER_BYTES = HEADER.size + ENTRY.size * len(SECTIONS)
# The parts of a file, the header with its table first.
HEAD = "header"
PARTS = (HEAD, *SECTIONS)
# Sections up to this size are held against their checksums when they are shown; ours is slow.
MOST_CHECKED_BYTES = 262_144
# A section other than the constants that is larger is not explained record by record.
MOST_TABLE_BYTES = 8_000_000
MOST_C_BYTES = 8_000_000


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A file that begins as a program does; where its sections lie is what it says itself, within its size."""

    path: Path
    size: int
    parts: tuple[ProgramSection, ...]

    def part(self, name: str) -> ProgramSection:
        """The header, or a section."""
        return self.parts[PARTS.index(name)]

    def at(self, offset: int, size: int) -> bytes:
        """Some of its bytes; raises ProgramError where it cannot be read any more."""
        try:
            with open_regular(self.path) as file:
                file.seek(offset)
                return file.read(size)
        except OSError as error:
            raise ProgramError(f"the program's file cannot be read: {error.strerror}") from None

    def section(self, name: str) -> bytes:
        """A whole section; raises ProgramError where it is too large for that."""
        found = self.part(name)
        if found.bytes > MOST_TABLE_BYTES:
            raise ProgramError(f"the section {name} is too large to be told record by record")
        return self.at(found.offset, found.bytes)

    def as_c(self) -> bytes | None:
        """The program as one C file, where it was written as that, too."""
        try:
            return read(self.path.with_suffix(".c"), MOST_C_BYTES)
        except OSError:
            return None

    def is_as_written(self, name: str) -> bool | None:
        """Return True if a section matches its checksum in the table; None if it is too large to check here."""
        found = self.part(name)
        if name == HEAD or found.bytes > MOST_CHECKED_BYTES:
            return None
        return crc32c(self.at(found.offset, found.bytes)) == found.checksum


def open_program(directory: Path, name: str) -> ProgramFile:
    """A program's file of the run in a directory, by the name that its log gives; raises ProgramError."""
    path = directory / PROGRAMS / name
    if Path(name).name != name or path.suffix != SUFFIX:
        raise ProgramError("the log names no program's file")
    try:
        with open_regular(path) as file:
            head = file.read(HEADER_BYTES)
            size = file.seek(0, 2)
    except (OSError, ValueError):
        raise ProgramError("the program's file is not here: a log from elsewhere comes without it") from None
    found = sections_of(head, size)
    if any(section.offset + section.bytes > size for section in found):
        raise ProgramError("the file's table names bytes that it does not have")
    return ProgramFile(path, size, (ProgramSection(HEAD, 0, HEADER_BYTES, 0), *found))

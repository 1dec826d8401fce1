"""The file of a program: its sections, and their bytes with their meaning."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from core.accelerator.program import HEAD, MOST_ROWS, ROW_BYTES, DumpRow, ProgramFile, dump, open_program
from core.base import words as fmt
from core.report import PipelineSegment

CHECKSUMS = {
    True: ", which its bytes still have",
    False: ", which **its bytes do not have**: the file was damaged",
    None: ", which the runtime checks when it loads the file",
}


@dataclass(frozen=True)
class ProgramFileView:
    """An open program file of a segment."""

    segment: PipelineSegment
    file: ProgramFile

    @classmethod
    def open(cls, directory: Path, segment: PipelineSegment) -> ProgramFileView:
        """Open the file in a run's directory; raises CompileboardError."""
        return cls(segment, open_program(directory, segment.file))

    @property
    def words(self) -> str:
        """Size of the file, and the part of its constants."""
        constants = self.segment.constant_bytes
        part = f", {fmt.bytes_(constants)} of it constants" if constants else ""
        return (
            f"{fmt.bytes_(self.size)}{part}: the program as it is after its passes, which `cb_run` loads and runs "
            "without torch and without Python."
        )

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.file.size

    @property
    def data(self) -> bytes:
        """All bytes of the file."""
        return self.file.at(0, self.file.size)

    @property
    def as_c(self) -> bytes | None:
        """The same program as C; None if it was not written."""
        return self.file.as_c()

    @property
    def sections(self) -> dict[str, int]:
        """Bytes of each section, the header first."""
        return {part.name: part.bytes for part in self.file.parts}

    def section_words(self, name: str) -> str:
        """Return as Markdown the place of a section, and whether its bytes match their checksum."""
        if name == HEAD:
            return "The header with the table of the sections. Numbers are little-endian."
        section = self.file.part(name)
        state = CHECKSUMS[self.file.is_as_written(name)]
        return f"From byte {fmt.exact(section.offset)} on, CRC32C `{crc_text(section.checksum)}`{state}."

    def stretches(self, name: str) -> tuple[int, str]:
        """Return the number of stretches of a section that are shown one at a time, and a description of them."""
        count = max(1, -(-self._rows(name) // MOST_ROWS))
        return count, f"Which of {fmt.count(count, 'stretch', 'stretches')} of {fmt.number(MOST_ROWS)} rows"

    def _rows(self, name: str) -> int:
        return -(-self.file.part(name).bytes // ROW_BYTES)

    def dump(self, name: str, stretch: int) -> tuple[str, list[tuple[int, int, str]]]:
        """Return a title and the rows of one stretch of a section: row number, offset, bytes with their meaning.

        Raises CompileboardError.
        """
        first = stretch * MOST_ROWS
        rows = dump(self.file, name, first)
        title = (
            f"{name}, rows {fmt.number(first + 1)} to {fmt.number(first + len(rows))} of {fmt.number(self._rows(name))}"
        )
        return title, [(first + at, row.offset, _line(row)) for at, row in enumerate(rows, 1)]

    def empty_words(self, name: str) -> str:
        """Return why a section has no bytes; empty if it has some."""
        if self.file.part(name).bytes:
            return ""
        return "It is empty: the program has no constants." if name == "constants" else "It is empty."


def section_rows(segment: PipelineSegment) -> list[dict[str, object]]:
    """Return one row per section as the log recorded it, for a file that is not here."""
    return [
        {
            "section": section.name,
            "from byte": section.offset,
            "bytes": section.bytes,
            "CRC32C": crc_text(section.checksum),
        }
        for section in segment.sections
    ]


def crc_text(value: int) -> str:
    """Return a checksum as eight hexadecimal digits."""
    return (value % 2**32).to_bytes(4, "big").hex()


def _line(row: DumpRow) -> str:
    """Return a line `00000040  89 43 42 …  |.CB…|  meaning`."""
    halves = (row.data[:8].hex(" "), row.data[8:].hex(" "))
    text = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row.data)
    return f"{row.offset.to_bytes(4, 'big').hex()}  {halves[0]:<23}  {halves[1]:<23}  {text:<16}  {row.words}".rstrip()

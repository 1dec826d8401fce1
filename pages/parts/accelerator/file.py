"""A program's file: its sections, and their bytes with their meaning."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.accelerator.program import HEAD, MOST_ROWS, ROW_BYTES, DumpRow, ProgramFile, dump, open_program
from core.base import words as fmt
from core.report import PipelineSegment
from pages.components.code.view import CodeLine, CodePicture, code_view
from pages.look.palette import kernel_colour
from pages.look.sizes import FILL
from pages.look.text import LONGEST_NAME, one_line
from pages.parts.accelerator.pieces import PipelinePiece
from pages.parts.accelerator.program import program_or_reason
from pages.session import url
from pages.session.attempt import attempt
from pages.session.tables import in_words
from pages.session.view import View

LARGEST_DOWNLOAD_BYTES = 67_108_864
FORMS = {"bytes": fmt.bytes_}
STANDING = {
    True: ", which its bytes still have",
    False: ", which **its bytes do not have**: the file was damaged",
    None: ", which the runtime checks when it loads the file",
}


def file_station(view: View, piece: PipelinePiece, row: DeltaGenerator) -> None:
    """Draw the bytes of a section; for a log from elsewhere, the recorded table of sections."""
    segment = program_or_reason(piece)
    if segment is None:
        return
    file = attempt(lambda: open_program(view.run.path, segment.file))
    if file is None:
        _recorded(segment)
        return
    with row:
        _downloads(segment, file)
    st.caption(_words(segment, file))
    key = f"{view.compilation.id}-{piece.id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        part = _part(file)
        first = _first_row(file, part, key)
    st.caption(_section_words(file, part))
    _bytes(file, part, first, key)


def _words(segment: PipelineSegment, file: ProgramFile) -> str:
    share = f", {fmt.bytes_(segment.constant_bytes)} of it constants" if segment.constant_bytes else ""
    return (
        f"{fmt.bytes_(file.size)}{share}: the program as it is after its passes, which `cb_run` loads and runs "
        "without torch and without Python."
    )


def _section_words(file: ProgramFile, part: str) -> str:
    """Describe the place of a section, and whether its bytes match their checksum."""
    found = file.part(part)
    if part == HEAD:
        return "The header with the table of the sections. Numbers are little-endian."
    standing = STANDING[file.is_as_written(part)]
    return f"From byte {fmt.exact(found.offset)} on, CRC32C `{_crc(found.checksum)}`{standing}."


def _downloads(segment: PipelineSegment, file: ProgramFile) -> None:
    name = one_line(segment.file, LONGEST_NAME)
    if file.size > LARGEST_DOWNLOAD_BYTES:
        st.caption(f"It is larger than {fmt.bytes_(LARGEST_DOWNLOAD_BYTES)}: `python -m core pipeline` writes it.")
        return
    st.download_button(
        "Program",
        lambda: file.at(0, file.size),
        name,
        "application/octet-stream",
        icon=":material/download:",
        on_click="ignore",
        key="program-file",
        help="For `cb_run`, and for any program that links the runtime",
    )
    source = file.as_c()
    if source is not None:
        st.download_button(
            "As C",
            source,
            f"{name.removesuffix('.cbp')}.c",
            "text/x-c",
            icon=":material/download:",
            on_click="ignore",
            key="program-c",
            help="The same program as one C file, which needs no runtime: `cb_run --emit-c NAME` writes it",
        )


def _recorded(segment: PipelineSegment) -> None:
    """Draw the log's record of a file that is not here."""
    rows = [
        {"section": section.name, "from byte": section.offset, "bytes": section.bytes, "CRC32C": _crc(section.checksum)}
        for section in segment.sections
    ]
    st.dataframe(in_words(pd.DataFrame(rows), FORMS), hide_index=True, height="content")


def _part(file: ProgramFile) -> str:
    sizes = {part.name: part.bytes for part in file.parts}
    url.read(url.LISTING, sizes, HEAD)
    chosen = st.segmented_control(
        "Section",
        list(sizes),
        key=url.LISTING,
        format_func=lambda name: f"{name} · {fmt.bytes_(sizes.get(name))}",
        label_visibility="collapsed",
    )
    url.write(url.LISTING)
    return chosen or HEAD


def _crc(value: int) -> str:
    return (value % 2**32).to_bytes(4, "big").hex()


def _first_row(file: ProgramFile, part: str, key: str) -> int:
    """Return the first row to show of a section; the visitor chooses it for a long section."""
    rows = -(-file.part(part).bytes // ROW_BYTES)
    if rows <= MOST_ROWS:
        return 0
    stretches = -(-rows // MOST_ROWS)
    at = st.number_input(
        "Stretch",
        *(1, stretches, 1),
        key=f"stretch-{key}-{part}",
        label_visibility="collapsed",
        width=150,
        help=f"Which of {fmt.count(stretches, 'stretch', 'stretches')} of {fmt.number(MOST_ROWS)} rows",
    )
    return (int(at) - 1) * MOST_ROWS


def _bytes(file: ProgramFile, part: str, first: int, key: str) -> None:
    if not file.part(part).bytes:
        st.caption("It is empty: the program has no constants." if part == "constants" else "It is empty.")
        return
    shown = attempt(lambda: dump(file, part, first))
    if shown:
        colour = kernel_colour([one.name for one in file.parts].index(part))
        lines = tuple(
            CodeLine(first + at, f"h:{row.offset}", _line(row), (), colour) for at, row in enumerate(shown, 1)
        )
        rows = -(-file.part(part).bytes // ROW_BYTES)
        title = f"{part}, rows {fmt.number(first + 1)} to {fmt.number(first + len(shown))} of {fmt.number(rows)}"
        code_view(CodePicture(title, "text", lines), key=f"dump-{key}-{part}-{first}", height=FILL, channel="dump")


def _line(row: DumpRow) -> str:
    """Return a line `00000040  89 43 42 …  |.CB…|  meaning`."""
    halves = (row.data[:8].hex(" "), row.data[8:].hex(" "))
    text = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row.data)
    return f"{row.offset.to_bytes(4, 'big').hex()}  {halves[0]:<23}  {halves[1]:<23}  {text:<16}  {row.words}".rstrip()

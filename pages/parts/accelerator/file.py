"""A program's file: its sections, and their bytes with their meaning."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.base import words as fmt
from core.views.accelerator import ProgramFileView, ProgramView, SegmentView
from pages.components.code.view import CodeLine, CodePicture, code_view
from pages.look.palette import kernel_colour
from pages.look.sizes import FILL
from pages.look.text import LONGEST_NAME, one_line, one_line_cells, prose
from pages.parts.accelerator.program import program_or_reason
from pages.session import url
from pages.session.attempt import attempt
from pages.session.tables import in_words
from pages.session.view import View

LARGEST_DOWNLOAD_BYTES = 67_108_864
FORMS = {"bytes": fmt.bytes_}


def file_station(view: View, segment: SegmentView, row: DeltaGenerator) -> None:
    """Draw the bytes of a section; for a log from elsewhere, the recorded table of sections.

    `row` is the container of the stations' row.
    """
    program = program_or_reason(segment)
    if program is None:
        return
    file = attempt(lambda: ProgramFileView.open(view.run.path, program.segment))
    if file is None:
        _recorded(program)
        return
    with row:
        _downloads(file)
    st.caption(prose(file.words))
    key = f"{view.compilation.id}-{segment.id}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        section = _section(file)
        stretch = _stretch(file, section, key)
    st.caption(file.section_words(section))
    _bytes(file, section, stretch, key)


def _downloads(file: ProgramFileView) -> None:
    name = one_line(file.segment.file, LONGEST_NAME)
    if file.size > LARGEST_DOWNLOAD_BYTES:
        st.caption(f"It is larger than {fmt.bytes_(LARGEST_DOWNLOAD_BYTES)}: `python -m core pipeline` writes it.")
        return
    st.download_button(
        "Program",
        lambda: file.data,
        name,
        "application/octet-stream",
        icon=":material/download:",
        on_click="ignore",
        key="program-file",
        help="For `cb_run`, and for any program that links the runtime",
    )
    source = file.as_c
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


def _recorded(program: ProgramView) -> None:
    """Draw the log's record of a file that is not here."""
    table = pd.DataFrame(one_line_cells(program.sections, LONGEST_NAME))
    st.dataframe(in_words(table, FORMS), hide_index=True, height="content")


def _section(file: ProgramFileView) -> str:
    sizes = file.sections
    header = next(iter(sizes))
    url.read(url.LISTING, sizes, header)
    chosen = st.segmented_control(
        "Section",
        list(sizes),
        key=url.LISTING,
        format_func=lambda name: f"{name} · {fmt.bytes_(sizes.get(name))}",
        label_visibility="collapsed",
    )
    url.write(url.LISTING)
    return chosen or header


def _stretch(file: ProgramFileView, section: str, key: str) -> int:
    """Return the stretch to show of a section; the visitor chooses it for a long section."""
    count, words = file.stretches(section)
    if count == 1:
        return 0
    chosen = st.number_input(
        "Stretch",
        *(1, count, 1),
        key=f"stretch-{key}-{section}",
        label_visibility="collapsed",
        width=150,
        help=words,
    )
    return int(chosen) - 1


def _bytes(file: ProgramFileView, section: str, stretch: int, key: str) -> None:
    if words := file.empty_words(section):
        st.caption(words)
        return
    dump = attempt(lambda: file.dump(section, stretch))
    title, rows = dump or ("", [])
    if rows:
        colour = kernel_colour(list(file.sections).index(section))
        lines = tuple(CodeLine(number, f"h:{offset}", text, (), colour) for number, offset, text in rows)
        first = rows[0][0] - 1
        code_view(CodePicture(title, "text", lines), key=f"dump-{key}-{section}-{first}", height=FILL, channel="dump")

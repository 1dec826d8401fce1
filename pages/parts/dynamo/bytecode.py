"""The bytecode of a frame before and after Dynamo, side by side and beside the user's lines."""

from __future__ import annotations

import streamlit as st

from core.views.bytecode import BytecodeListing, BytecodeView
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import TALL
from pages.parts.code import user_code
from pages.session import url
from pages.session.view import View

BYTECODE, PYTHON = "bytecode", "Python again"


def bytecode_listings(view: View, bytecode: BytecodeView) -> None:
    """Draw both listings, with the user's lines beside them if the log holds their file."""
    picture = user_code(view) if bytecode.in_user_file else None
    columns = st.columns([3, 4, 5] if picture else [4, 5], gap="small")
    if picture is not None:
        with columns[0]:
            line = f"l:{view.compilation.frame.line}"
            code_view(picture, key=f"bytecode-code-{view.compilation.id}", height=TALL, selected=line)
    with columns[-2]:
        code_view(_picture("original", bytecode.original_listing), key="bytecode-original", height=TALL)
    with columns[-1]:
        code_view(_picture("modified", bytecode.modified_listing), key="bytecode-modified", height=TALL)


def _picture(side: str, listing: BytecodeListing) -> CodePicture:
    lines = code_lines(
        listing.text,
        prefix=side[0],
        links={number: (f"l:{line}",) for number, line in listing.source_lines.items()},
        marks={number: "ok" if number in listing.calls_graph else "break" for number in listing.notes},
        notes=dict(listing.notes),
    )
    return CodePicture(side, "text", lines)


def decompiled_python(bytecode: BytecodeView) -> None:
    """Draw both codes as decompiled Python, and a warning about parts that could not be decompiled."""
    st.caption(bytecode.python_note)
    if bytecode.not_decompiled:
        st.warning(bytecode.not_decompiled, icon=":material/info:")
    sides = bytecode.python
    if not sides:
        return
    for column, (side, text) in zip(st.columns(len(sides), gap="small"), sides.items(), strict=True):
        with column:
            lines = code_lines(text, prefix=f"p{side[0]}")
            code_view(CodePicture(side, "python", lines), key=f"bytecode-python-{side}", height=TALL)


def bytecode_links(bytecode: BytecodeView) -> None:
    """Draw links to the targets of the modified code: its graph, and its resume functions."""
    with st.container(horizontal=True):
        if bytecode.calls_graph:
            st.page_link(
                menu.FX_GRAPH.script,
                label="The graph",
                icon=menu.FX_GRAPH.icon,
                query_params=url.link(),
                width="content",
            )
        for compile_id, label in bytecode.resume_links.items():
            st.page_link(
                menu.BYTECODE.script,
                label=label,
                icon=menu.BYTECODE.icon,
                query_params=url.link(**{url.COMPILATION: compile_id}),
                width="content",
            )


def choose_form(bytecode: BytecodeView) -> str:
    """Return the chosen form: the bytecode listing, or Python if there was a decompiler."""
    if bytecode.without_python:
        st.caption(bytecode.without_python)
        return BYTECODE
    url.read(url.LISTING, [BYTECODE, PYTHON], BYTECODE)
    shown = st.segmented_control("Show as", [BYTECODE, PYTHON], key=url.LISTING, label_visibility="collapsed")
    url.write(url.LISTING)
    return shown or BYTECODE

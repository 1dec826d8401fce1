"""The bytecode of a frame before and after Dynamo, side by side and beside the user's lines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from core.analysis import Instruction, frame_names, instructions, resume_compilations
from core.base import words as fmt
from core.graph import source_path
from core.report import Compilation
from pages import menu
from pages.components.code.view import CodePicture, Mark, code_lines, code_view
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, plain
from pages.parts.code import user_code
from pages.session import url
from pages.session.view import View

GOES_ON = "goes on after a graph break"
BYTECODE, PYTHON = "bytecode", "Python again"
# The reason why there is no Python code, by the presence of a decompiler (None: not recorded).
WITHOUT_PYTHON = {
    True: "Not decompiled: the run had not come to it when its call ended.",
    False: "Not decompiled: `depyf` is not installed beside torch. Install it and run again.",
    None: "Not decompiled: this log does not hold Python code. A run here with `depyf` installed records it.",
}


@dataclass(frozen=True, slots=True)
class Texts:
    """The logged texts of a frame's code; missing texts are empty.

    `has_decompiler` is True if a decompiler was installed, None if the log does not say it.
    """

    original: str
    modified: str
    original_python: str = ""
    modified_python: str = ""
    decompiler: str = ""
    not_decompiled: str = ""
    has_decompiler: bool | None = None


def texts(view: View) -> Texts | None:
    """Return the recorded bytecode of the shown compilation, the run's own record before torch's; None
    without either.
    """
    found = view.compilation.bytecode
    if found is None:
        return None
    said = view.json(found.record) if found.record else {}
    if said:
        names = ("original", "modified", "original_python", "modified_python", "decompiler", "not_decompiled")
        found_texts: dict[str, Any] = {name: str(said.get(name, "")) for name in names}
        there = said.get("has_decompiler")
        return replace(Texts("", "", has_decompiler=there if isinstance(there, bool) else None), **found_texts)
    original, modified = (view.text(side) if side else "" for side in (found.original, found.modified))
    return Texts(original, modified)


def missing(compilation: Compilation) -> str:
    """Return the reason why there is no bytecode."""
    if compilation.status in ("failed", "empty") and compilation.graph_op_count is None:
        return "Dynamo did not rewrite this function: it runs as it was written."
    return (
        "The bytecode was not recorded. Runs that are made here record it; PyTorch's own trace holds it for the "
        "functions that go on after a graph break alone."
    )


def title(view: View, found: Texts) -> str:
    """Return as Markdown how many instructions the rewriting adds, and the compiled graphs and functions
    that it calls.
    """
    name = plain(frame_names(view.report)[view.compilation.id], LONGEST_NAME)
    before, after = instructions(found.original), instructions(found.modified)
    grown = f"{fmt.count(len(before), 'instruction')} became {fmt.number(len(after))}"
    graphs = len({item.graph for item in after if item.graph})
    resumes = len({item.resume for item in after if item.resume})
    calls = [f"{fmt.count(graphs, 'compiled graph')}"] if graphs else []
    calls += [f"{fmt.count(resumes, 'function')} to go on after a break"] if resumes else []
    return f"\\[{view.compilation.id}\\] {name}: {grown}" + (f", which call {' and '.join(calls)}." if calls else ".")


def both_listings(view: View, found: Texts) -> None:
    """Draw both listings, with the user's lines beside them if the log holds their file."""
    picture = user_code(view) if view.compilation.frame.file == source_path(view.report) else None
    line = view.compilation.frame.line
    columns = st.columns([3, 4, 5] if picture else [4, 5], gap="small")
    if picture is not None:
        with columns[0]:
            at = f"l:{line}"
            code_view(picture, key=f"bytecode-code-{view.compilation.id}", height=TALL, selected=at)
    original = _listing("original", found.original, {}, None)
    modified = _listing("modified", found.modified, _going_on(view), line)
    with columns[-2]:
        code_view(original, key="bytecode-original", height=TALL)
    with columns[-1]:
        code_view(modified, key="bytecode-modified", height=TALL)


def _listing(name: str, text: str, notes: Mapping[str, str], added_at: int | None) -> CodePicture:
    """Return a listing; instructions that Dynamo adds are at the function's first line, which gets no link for them."""
    rows = instructions(text)
    said = {row: notes.get(item.resume, GOES_ON) for row, item in enumerate(rows, 1) if item.resume}
    said |= {row: "the compiled graph" for row, item in enumerate(rows, 1) if item.graph}
    marks: dict[int, Mark] = {row: "break" if rows[row - 1].resume else "ok" for row in said}
    before = (None, *(item.line for item in rows))
    shown = [_row(item, item.line != line) for item, line in zip(rows, before, strict=False)]
    lines = code_lines(
        "\n".join(shown) or "It was not recorded.",
        prefix=name[0],
        links={row: (f"l:{item.line}",) for row, item in enumerate(rows, 1) if item.line and item.line != added_at},
        marks=marks,
        notes=said,
    )
    return CodePicture(name, "text", lines)


def _row(item: Instruction, first: bool) -> str:
    """Return a line of the listing: the line number if it changes, the offset if jumps name it, the op and its
    argument.
    """
    line = item.line if first and item.line else ""
    return f"{line:>4} {item.offset:>4} {item.op:<14} {item.about}".rstrip()


def _going_on(view: View) -> dict[str, str]:
    names = frame_names(view.report)
    return {
        name: f"goes on as {', '.join(f'[{item.id}] {names[item.id]}' for item in items)}"
        if items
        else f"{GOES_ON}, in a function that was never compiled"
        for name, items in resume_compilations(view.report, view.compilation).items()
    }


def both_as_python(found: Texts) -> None:
    """Draw both codes as decompiled Python, and a warning about parts that could not be decompiled."""
    st.caption(
        f"Written by {plain(found.decompiler, LONGEST_NAME)} from the bytecode: it computes the same, in words that "
        "nobody wrote."
    )
    if found.not_decompiled:
        st.warning(f"It could not read all: {plain(found.not_decompiled, LONGEST_LINE)}", icon=":material/info:")
    sides = {"original": found.original_python, "modified": found.modified_python}
    shown = {name: text for name, text in sides.items() if text}
    if not shown:
        return
    for column, (name, text) in zip(st.columns(len(shown), gap="small"), shown.items(), strict=True):
        with column:
            lines = code_lines(text, prefix=f"p{name[0]}")
            code_view(CodePicture(name, "python", lines), key=f"bytecode-python-{name}", height=TALL)


def leads(view: View, found: Texts) -> None:
    """Draw links to the targets of the modified code: its graph, and its resume functions."""
    calls = instructions(found.modified)
    of = resume_compilations(view.report, view.compilation)
    names = frame_names(view.report)
    going_on = {item.id: names[item.id] for call in calls if call.resume for item in of.get(call.resume, ())}
    with st.container(horizontal=True):
        if any(call.graph for call in calls) and view.compilation.graphs:
            st.page_link(
                menu.FX_GRAPH.script,
                label="The graph",
                icon=menu.FX_GRAPH.icon,
                query_params=url.link(),
                width="content",
            )
        for number, name in going_on.items():
            st.page_link(
                menu.BYTECODE.script,
                label=f"\\[{plain(number)}\\] {plain(name, LONGEST_NAME)}",
                icon=menu.BYTECODE.icon,
                query_params=url.link(**{url.COMPILATION: number}),
                width="content",
            )


def how_shown(found: Texts) -> str:
    """Return the chosen view: the bytecode listing, or Python if there was a decompiler."""
    if not found.decompiler:
        st.caption(WITHOUT_PYTHON[found.has_decompiler])
        return BYTECODE
    url.read(url.LISTING, [BYTECODE, PYTHON], BYTECODE)
    shown = st.segmented_control("Show as", [BYTECODE, PYTHON], key=url.LISTING, label_visibility="collapsed")
    url.write(url.LISTING)
    return shown or BYTECODE

"""The user's code and the code that it became, with the colours and links of its kernels; and a difference of two
codes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import streamlit as st

from core import words as fmt
from core.graph import source_path
from core.report import GraphBreak, Kernel, Report, RunError
from pages.components.code.view import CodePicture, Colours, code_lines, code_view
from pages.look.palette import kernel_colour
from pages.look.sizes import TALL
from pages.session.view import RunView, View


def source_text(view: RunView) -> str:
    """The text of the user's file; empty where the log does not hold it."""
    return str(view.json(view.report.sources[0].payload).get("text", "")) if view.report.sources else ""


def user_code(
    view: RunView,
    *,
    links: Mapping[int, tuple[str, ...]] | None = None,
    colours: Mapping[int, str | tuple[str, ...] | None] | None = None,
    breaks: Iterable[GraphBreak] = (),
    error: RunError | None = None,
) -> CodePicture | None:
    """The user's file with links into the graph, colours of kernels, graph breaks and the error; None if unknown."""
    text = source_text(view)
    if not text:
        return None
    path = source_path(view.report)
    notes = _break_notes(breaks, path)
    for frame in error.frames[-1:] if error else ():
        notes[frame.line] = f"{error.type}: {error.message}"[:600] if error else ""
    lines = code_lines(
        text,
        prefix="l",
        links=dict(links or {}),
        colours=dict(colours or {}),
        marks=dict.fromkeys(notes, "break"),
        notes=notes,
    )
    return CodePicture(title=path.rsplit("/", 1)[-1], language="python", lines=lines)


def _break_notes(breaks: Iterable[GraphBreak], path: str) -> dict[int, str]:
    """What stopped Dynamo at each line of a file; the same words once, with how often."""
    said: dict[int, Counter[str]] = {}
    for found in breaks:
        line = line_in(found, path)
        if line is not None:
            note = f"{found.reason}: {found.explanation}" if found.explanation else found.reason
            said.setdefault(line, Counter())[note] += 1
    return {
        line: "\n".join(f"{note} × {fmt.number(times)}" if times > 1 else note for note, times in notes.items())
        for line, notes in said.items()
    }


def line_in(found: GraphBreak, path: str) -> int | None:
    """The innermost line of a graph break's stack that is in a file."""
    return next((frame.line for frame in reversed(found.stack) if frame.file == path), None)


def kernel_colours(report: Report) -> dict[str, str]:
    """The colour of every kernel of a run; it stays with the kernel over all pages."""
    ids = [kernel.id for compilation in report.compilations for kernel in compilation.kernels]
    return {kernel_id: kernel_colour(index) for index, kernel_id in enumerate(ids)}


def output_code(view: View, kernel: Kernel, user_lines: Mapping[str, int]) -> CodePicture:
    """The whole output code that holds a kernel: first lines and calls of all its kernels link to their FX nodes.

    `user_lines` are the user's lines by FX node, which are linked too.
    """
    colours = kernel_colours(view.report)
    links: dict[int, tuple[str, ...]] = {}
    margins: dict[int, Colours] = {}
    for other in view.compilation.kernels:
        if other.output_code != kernel.output_code:
            continue
        margins.update(dict.fromkeys(range(other.lines[0], other.lines[1] + 1), colours[other.id]))
        origins = [f"n:{name}" for name in other.origins]
        lines = dict.fromkeys(f"l:{user_lines[name]}" for name in other.origins if name in user_lines)
        for number in {other.lines[0], *other.call_lines}:
            links[number] = (f"k:{other.id}", *origins, *lines)
            margins[number] = colours[other.id]
    text = view.text(kernel.output_code)
    return CodePicture("output code", "python", code_lines(text, prefix="c", links=links, colours=margins))


def diff_view(title: str, diff: str, key: str, left_out: int = 0, height: int = TALL) -> None:
    """A unified diff."""
    code_view(CodePicture(title, "diff", code_lines(diff, prefix="d")), key=key, height=height, channel="diff")
    if left_out:
        st.caption(f"{fmt.count(left_out, 'more line')} not shown.")

"""The passes over a program: the changes of each, and the program after it."""

from __future__ import annotations

from itertools import pairwise

import streamlit as st

from core.accelerator.program import PASSES
from core.base import words as fmt
from core.code import diff_texts
from core.report import PipelineSegment
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import FILL
from pages.look.text import LONGEST_NAME, code, one_line
from pages.parts.accelerator.pieces import PipelinePiece
from pages.parts.accelerator.program import program_or_reason
from pages.parts.code import diff_view
from pages.session import url
from pages.session.view import View

# The effect of each pass, as in docs/program-format.md.
TOLD = {
    "fold-constants": "computes what depends on constants alone",
    "drop-no-ops": "takes out views, which are in the strides, and copies that change no layout",
    "drop-dead-code": "takes out what no result needs",
    "fuse-products": "makes elementwise steps behind a matrix product while its block is in the cache",
    "fuse-elementwise": "makes chains of elementwise instructions in one loop",
    "plan-memory": "places all temporaries in one arena, by the instructions between which each is needed",
}


def passes_station(view: View, piece: PipelinePiece) -> None:
    """Draw the choice of a pass, its diff, and the program after it."""
    segment = program_or_reason(piece)
    if segment is None:
        return
    if not segment.passes:
        st.caption("The log does not hold the program as it was between the passes.")
        return
    index = _chosen(segment)
    made = segment.passes[index]
    key = f"{view.compilation.id}-{piece.id}-{index}"
    st.caption(_words(segment, index))
    left, right = st.columns(2, gap="medium")
    with left:
        _change(segment, index, key)
    with right:
        picture = CodePicture(f"after {one_line(made.name, LONGEST_NAME)}", "text", code_lines(made.text, prefix="p"))
        code_view(picture, key=f"after-{key}", height=FILL, channel="after")


def _chosen(segment: PipelineSegment) -> int:
    """Return the pass that the URL names; by default the pass that removed the most instructions."""
    steps = segment.passes
    offered = [fmt.exact(index) for index in range(len(steps))]
    saved = [before.entries - after.entries for before, after in pairwise(steps)]
    url.read(url.FRAME, offered, offered[saved.index(max(saved)) + 1] if saved else offered[0])
    chosen = st.segmented_control(
        "Pass",
        offered,
        key=url.FRAME,
        format_func=lambda at: f"{one_line(steps[int(at)].name, LONGEST_NAME)} · {fmt.number(steps[int(at)].entries)}",
        label_visibility="collapsed",
        help="Each pass with the program entries after it, as `cb_run --print-graph` prints them",
    )
    url.write(url.FRAME)
    return int(chosen or offered[0])


def _words(segment: PipelineSegment, index: int) -> str:
    made = segment.passes[index]
    off = [name for name in PASSES if name not in {step.name for step in segment.passes}]
    left_out = f" Switched off: {', '.join(off)}." if off else ""
    if not index:
        return f"The program as it was lowered, {fmt.count(made.entries, 'entry', 'entries')}.{left_out}"
    before = segment.passes[index - 1].entries
    does = f" {TOLD[made.name]}" if made.name in TOLD else ""
    counts = f"{fmt.count(before, 'entry', 'entries')} became {fmt.number(made.entries)}"
    return f"{code(made.name, LONGEST_NAME)}{does}: {counts}.{left_out}"


def _change(segment: PipelineSegment, index: int, key: str) -> None:
    if not index:
        st.caption("Before the first pass there is nothing to compare with.")
        return
    one, other = segment.passes[index - 1], segment.passes[index]
    found = diff_texts(one.text, other.text, one_line(one.name, LONGEST_NAME), one_line(other.name, LONGEST_NAME))
    if not found.text:
        st.caption("This pass changed nothing here.")
        return
    title = f"{fmt.count(found.removed, 'line')} out, {fmt.number(found.added)} in"
    diff_view(title, found.text, f"pass-{key}", found.left_out, FILL)

"""The panels of the steps to a package: the exported program, the files, and the runs from Python and from C++."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd
import streamlit as st

from core.analysis import AotiStory, StepId
from core.base import words as fmt
from core.report import Export, RunError
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import SHORT, TALL, code_height
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.parts.aotinductor.files import package_panel, text_of
from pages.parts.aotinductor.runs import cpp_panel, python_panel
from pages.parts.code import user_code
from pages.session.tables import shown
from pages.session.view import RunView

MOST_VALUES = 400
MOST_LINES = 80


def panel(view: RunView, story: AotiStory, step: StepId) -> None:
    """Draw the result of one step."""
    PANELS[step](view, story)


def _export_panel(view: RunView, story: AotiStory) -> None:
    export = story.export
    if export is None:
        return
    st.code(export.call, language="python")
    if export.problem:
        _not_exported(view, export)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        text = text_of(view, "graph", "")
        st.subheader("The graph, in aten ops", anchor=False)
        if text is not None:
            lines = code_lines(view.text(text.text), prefix="x")
            code_view(CodePicture("exported program", "python", lines), key="exported", height=TALL, channel="export")
    with right:
        st.subheader("What goes in and out", anchor=False)
        _signature(export)
        if export.guards:
            st.caption("Checked before it runs, in torch's words")
            guards = "\n".join(line[:LONGEST_LINE] for line in export.guards[:MOST_LINES])
            st.code(guards, language=None, height=code_height(guards))


def _not_exported(view: RunView, export: Export) -> None:
    """Draw torch's message, and the line of the user's code that it names."""
    height = code_height(export.problem)
    if not export.frames:
        st.code(export.problem, language=None, height=height, wrap_lines=True)
        return
    left, right = st.columns(2, gap="medium")
    left.code(export.problem, language=None, height=TALL if height == SHORT else height, wrap_lines=True)
    kind, _, message = export.problem.partition(":")
    error = RunError("export", kind[:LONGEST_NAME], "", message.strip(), export.frames, "")
    picture = user_code(view, error=error)
    if picture is not None:
        with right:
            code_view(picture, key="not-exported", height=TALL, selected=f"l:{export.frames[-1].line}")


def _signature(export: Export) -> None:
    """Draw the inputs and outputs as the program's signature names them."""
    rows = [
        {
            "name": one_line(value.name, LONGEST_NAME),
            "kind": one_line(value.kind.replace("_", " "), LONGEST_NAME),
            "value": one_line(value.value, LONGEST_NAME),
            "in the model": one_line(value.target, LONGEST_NAME),
        }
        for value in export.values[:MOST_VALUES]
    ]
    shown(pd.DataFrame(rows), rows, height=SHORT)
    left_out = export.left_out + max(0, len(export.values) - MOST_VALUES)
    if left_out:
        st.caption(f"{fmt.count(left_out, 'more value')} not shown.")


PANELS: dict[StepId, Callable[[RunView, AotiStory], None]] = {
    "export": _export_panel,
    "package": package_panel,
    "python": python_panel,
    "c++": cpp_panel,
}

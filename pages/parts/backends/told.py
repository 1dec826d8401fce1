"""What a backend told of itself by torch's trace: tables, of which a column `node` leads to the graph, and texts."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core import words as fmt
from core.report import Report, ToldTable, ToldText
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.sizes import FILL, TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line, plain
from pages.session.downloads import csv_twin
from pages.session.tables import picked_by_url
from pages.session.view import View

NODE = "node"
MOST_TOLD_TEXTS = 24


def texts_of(report: Report, compilation: str) -> tuple[ToldText, ...]:
    """The texts that were told of a compilation, and those that name none."""
    return tuple(text for text in report.told_texts if text.compilation in ("", compilation))[:MOST_TOLD_TEXTS]


def titles_of(told: Sequence[ToldTable | ToldText], kind: str) -> list[str]:
    """What they are called, each by a name of its own."""
    found: list[str] = []
    for one in told:
        title = one_line(one.title, LONGEST_NAME) or kind
        taken = sum(name == title or name.startswith(f"{title} (") for name in found)
        found.append(f"{title} ({taken + 1})" if taken else title)
    return found


def told_table(table: ToldTable, *, key: str) -> None:
    """A table as the backend told it; a row of it selects its node."""
    columns = [one_line(name, LONGEST_NAME) or f"column {at}" for at, name in enumerate(table.columns, 1)]
    frame = pd.DataFrame([list(map(_cell, row)) for row in table.rows], columns=_apart(columns))
    if NODE in table.columns:
        at = table.columns.index(NODE)
        picked_by_url(frame, [f"n:{row[at]}" for row in table.rows], key, height=TALL)
    else:
        st.dataframe(frame, hide_index=True, placeholder="", key=key)
    with st.container(horizontal=True, vertical_alignment="center"):
        csv_twin("told", lambda: frame.to_csv(index=False), key=key)
        if table.left_out:
            st.caption(f"{fmt.count(table.left_out, 'more row')} not shown.")


def _cell(value: str | int | float | None) -> str | int | float | None:
    return one_line(value, LONGEST_LINE) if isinstance(value, str) else value


def _apart(names: list[str]) -> list[str]:
    """A table of Streamlit's has no two columns of one name."""
    return [name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)]


def told_text(view: View, told: ToldText, *, key: str) -> None:
    """A text in the colours of its language."""
    picture = CodePicture(
        one_line(told.title, LONGEST_LINE), told.language, code_lines(view.text(told.text), prefix="told")
    )
    code_view(picture, key=key, height=FILL, selected=None)


def none_told() -> None:
    """That a backend can tell something, and how."""
    st.caption(plain("This backend told nothing of its own; docs/adding-a-backend.md says how one does."))

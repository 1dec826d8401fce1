"""Summary of two runs: their numbers, their settings, and the code."""

from __future__ import annotations

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.analysis.comparison import Figure, RunComparison, seconds_words, speed_words
from core.base import words as fmt
from pages.look.text import LONGEST_LINE, one_line, plain
from pages.parts.code import diff_view
from pages.parts.compare.kernel_table import MARK, UNKNOWN, UNLIKE

ONCE = "measured once"


def summary(found: RunComparison) -> None:
    """Draw the numbers of both runs, beside their settings."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        widths = {"": 130, "left": 150, UNLIKE: 30, "right": 150, "difference": 210}
        columns = {name: st.column_config.TextColumn(width=width) for name, width in widths.items()}
        table = figures_table(found)
        st.dataframe(table, hide_index=True, height="content", key="compare-figures", column_config=columns)
        st.caption(
            f"{UNLIKE} marks what differs for certain. What was measured once has no interval, so no difference of it "
            "is claimed."
        )
    with right:
        st.header("What was asked for", anchor=False)
        _options(found)
        _results(found)


def figures_table(found: RunComparison) -> Styler:
    """Return the table with one number per row; certain differences are marked."""
    frame = pd.DataFrame(
        [
            {
                "": figure.name,
                "left": figure.left_words,
                UNLIKE: UNLIKE if figure.differs else "",
                "right": figure.right_words,
                "difference": _difference(found, figure),
            }
            for figure in found.figures
        ]
    )
    return frame.style.map(lambda value: MARK if value == UNLIKE else "", subset=[UNLIKE])


def _difference(found: RunComparison, figure: Figure) -> str:
    if figure.left is None or figure.right is None:
        return f"only on the {'left' if figure.right is None else 'right'}"
    if figure.name == "compiled call" and found.times is not None and found.times.interval is not None:
        return speed_words(found.times)
    if not figure.exact:
        return ONCE if figure.name in ("compile time", "first compiled call") else ""
    more = figure.right - figure.left
    return f"{'+' if more > 0 else '−'}{figure.words(abs(more))}" if more else ""


def _options(found: RunComparison) -> None:
    if not found.options:
        st.write("The same options, on the same machine and torch.")
        return
    rows = [
        {
            "option": one_line(item.name, LONGEST_LINE),
            "left": one_line(item.left, LONGEST_LINE) or UNKNOWN,
            "right": one_line(item.right, LONGEST_LINE) or UNKNOWN,
        }
        for item in found.options
    ]
    st.dataframe(pd.DataFrame(rows), hide_index=True, height="content", key="compare-options")


def _results(found: RunComparison) -> None:
    """Draw each run's results compared with eager, its failures, and a note about the times."""
    for side, outcome, failed in zip(("Left", "Right"), found.results, found.failures, strict=True):
        told = f"results against eager: {outcome or 'not compared'}"
        st.markdown(f"**{side}**: {told}{f'; {plain(failed, LONGEST_LINE)}' if failed else ''}.")
    if found.times is not None:
        st.caption(f"{seconds_words(found.times)}.")


def source(found: RunComparison) -> None:
    """Draw the user's code as a diff, file by file."""
    if found.sources is None:
        st.write("One of the two logs does not hold the code, so it cannot be compared.")
        return
    if not found.sources:
        st.success("The code is the same, to the letter.", icon=":material/check:")
    for index, item in enumerate(found.sources):
        title = item.left if item.left == item.right else f"{item.left} → {item.right}"
        st.markdown(
            f"**{plain(title, LONGEST_LINE)}**: {fmt.count(item.diff.added, 'line')} added, "
            f"{fmt.number(item.diff.removed)} removed."
        )
        diff_view(one_line(title, LONGEST_LINE), item.diff.text, f"compare-source-{index}", item.diff.left_out)

"""Output of the run's code and of its libraries, folded."""

from __future__ import annotations

import streamlit as st

from core import Run
from core.analysis import printed_lines
from core.base import words as fmt
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_TEXT, one_line

# The whole content of a run's output file: the first megabyte of the output, and its end.
MOST_OUTPUT_BYTES = 1_200_000
SHOWN_LINES = 500
SHOWN_WHOLE = 8


def printed(run: Run) -> None:
    """Draw each line of the output once, with its count; nothing for empty output."""
    lines = printed_lines(run.output_tail(MOST_OUTPUT_BYTES))
    if not lines:
        return
    rows = [_row(line.text, line.place, line.count) for line in lines[:SHOWN_LINES]]
    with st.expander(f"The output: {fmt.count(len(lines), 'different line')}"):
        st.code("\n".join(rows), language=None, wrap_lines=True, height=SHORT if len(rows) > SHOWN_WHOLE else "content")
        if len(lines) > len(rows):
            st.caption(f"{fmt.number(len(lines) - len(rows))} more are in the run's `output.txt`.")


def _row(text: str, place: str, count: int) -> str:
    times = f"  ({fmt.count(count, 'time')})" if count > 1 else ""
    return one_line(f"{place}: {text}" if place else text, LONGEST_TEXT) + times

"""Aspects of two runs: numbers and settings, source, graph breaks and recompiles, guards, and compile time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.base import words as fmt
from core.views.compare import UNKNOWN, UNLIKE, CompareView, PairView
from pages.look.charts import PLOTLY_CONFIG, in_unit, plotly_layout
from pages.look.palette import PHASES, Theme, phase_colour
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, one_line, plain
from pages.parts.code import diff_view
from pages.session.figures import kept, theme
from pages.session.tables import in_words

MARK = "background-color: rgba(204, 140, 20, 0.2)"
FIGURE_PX = {"": 130, "left": 150, UNLIKE: 30, "right": 150, "difference": 210}
PHASE_FORMS = {"left": fmt.duration_s, "right": fmt.duration_s, "right over left": fmt.ratio}


def summary(compare: CompareView) -> None:
    """Draw the numbers of both runs, beside their settings and results."""
    left, right = st.columns([3, 2], gap="medium")
    with left:
        columns = {name: st.column_config.TextColumn(width=width) for name, width in FIGURE_PX.items()}
        table = pd.DataFrame(compare.figure_rows).style.map(
            lambda value: MARK if value == UNLIKE else "", subset=[UNLIKE]
        )
        st.dataframe(table, hide_index=True, height="content", key="compare-figures", column_config=columns)
        st.caption(
            f"{UNLIKE} marks what differs for certain. What was measured once has no interval, so no difference of it "
            "is claimed."
        )
    with right:
        st.header("What was asked for", anchor=False)
        if compare.option_rows:
            options = pd.DataFrame(compare.option_rows)
            st.dataframe(options, hide_index=True, height="content", key="compare-options")
        else:
            st.write("The same options, on the same machine and torch.")
        for result in compare.results:
            st.markdown(result)
        if compare.seconds:
            st.caption(compare.seconds)


def source(compare: CompareView) -> None:
    """Draw the user's code as a diff, file by file."""
    if compare.sources is None:
        st.write("One of the two logs does not hold the code, so it cannot be compared.")
        return
    if not compare.sources:
        st.success("The code is the same, to the letter.", icon=":material/check:")
    for index, file in enumerate(compare.sources):
        title = file.left if file.left == file.right else f"{file.left} → {file.right}"
        added, removed = fmt.count(file.diff.added, "line"), fmt.number(file.diff.removed)
        st.markdown(f"**{plain(title, LONGEST_LINE)}**: {added} added, {removed} removed.")
        diff_view(one_line(title, LONGEST_LINE), file.diff.text, f"compare-source-{index}", file.diff.left_out)


def breaks_and_recompiles(compare: CompareView) -> None:
    """Draw each graph break and each recompile of either run."""
    st.header("Graph breaks", anchor=False)
    _rows(compare.break_rows, "compare-breaks", "Neither run has a graph break.")
    st.header("Recompiles", anchor=False)
    _rows(compare.recompile_rows, "compare-recompiles", "Neither run compiled a frame again.")


def guards(pair: PairView) -> None:
    """Draw the guards that only one of the two compilations has."""
    if not pair.guards_sentence:
        st.write("The other run has no counterpart of this compilation, so there are no guards to compare.")
        return
    st.markdown(pair.guards_sentence)
    st.caption("Addresses of objects, which are others in every process, do not count.")
    _rows(pair.guard_rows, "compare-guards")


def _rows(rows: Sequence[dict[str, str]], key: str, none: str = "") -> None:
    """Draw a table, or the sentence `none` if it has no rows."""
    if rows:
        height: int | Literal["content"] = "content" if len(rows) < 12 else TALL
        st.dataframe(pd.DataFrame(rows), hide_index=True, height=height, key=key)
    elif none:
        st.write(none)


def phases(compare: CompareView, moment: tuple[str | int, ...]) -> None:
    """Draw the compile time of both runs: a chart by class, a table by phase. `moment` is the key of its figure."""
    if not compare.phase_rows:
        st.write("Neither log tells of phases.")
        return
    on = theme()
    figure = kept(lambda: phase_chart(compare, on), "compare-phases", *moment, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="compare-phase-chart")
    table = in_words(pd.DataFrame(compare.phase_rows), PHASE_FORMS)
    st.dataframe(table, hide_index=True, height=TALL, key="compare-phases", placeholder=UNKNOWN)
    st.caption(compare.phases_note)


def phase_chart(compare: CompareView, on: Theme) -> go.Figure:
    """Draw compile time by the class of its phase, each instant once: one bar per run."""
    sides = compare.phase_seconds
    factor, unit = in_unit(max(sum(seconds.values()) for seconds in sides.values()))
    figure = go.Figure()
    for name, colour in PHASES.items():
        if any(seconds.get(name) for seconds in sides.values()):
            figure.add_bar(
                orientation="h",
                name=colour.label,
                y=list(sides),
                x=[seconds.get(name, 0.0) * factor for seconds in sides.values()],
                marker={"color": phase_colour(name, on)},
                customdata=[fmt.duration_s(seconds.get(name, 0.0)) for seconds in sides.values()],
                hovertemplate=f"{colour.label}, %{{y}}: %{{customdata}}<extra></extra>",
            )
    figure.update_layout(**plotly_layout(on), height=200, barmode="stack")
    figure.update_xaxes(title=f"compile time ({unit}), by class of phase")
    return figure

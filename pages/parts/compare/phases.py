"""Compile time of two runs, by phase."""

from __future__ import annotations

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from core.analysis import phase_class, phase_totals
from core.analysis.comparison import RunComparison
from core.base import words as fmt
from core.report import Report
from pages.look.charts import PLOTLY_CONFIG, in_unit, plotly_layout
from pages.look.palette import PHASES, Theme, phase_colour
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, one_line
from pages.parts.compare.kernel_table import UNKNOWN
from pages.session.figures import kept, theme
from pages.session.tables import in_words
from pages.session.view import RunView

MOST_PHASES = 40


def phases(found: RunComparison, left: RunView, right: RunView) -> None:
    """Draw the compile time of both runs: a chart by class, a table by phase."""
    rows = [
        {
            "phase": one_line(pair.name, LONGEST_LINE),
            "left": pair.left_s,
            "right": pair.right_s,
            "right over left": pair.right_s / pair.left_s if pair.left_s and pair.right_s else None,
        }
        for pair in found.phases[:MOST_PHASES]
    ]
    if not rows:
        st.write("Neither log tells of phases.")
        return
    key = (left.run.id, left.report.log_bytes, right.run.id, right.report.log_bytes, on := theme())
    figure = kept(lambda: phase_chart(left.report, right.report, on), "compare-phases", *key)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="compare-phase-chart")
    forms = {"left": fmt.duration_s, "right": fmt.duration_s, "right over left": fmt.ratio}
    st.dataframe(
        in_words(pd.DataFrame(rows), forms), hide_index=True, height=TALL, key="compare-phases", placeholder=UNKNOWN
    )
    st.caption(
        "Seconds in which a phase was open, dearest first; a phase that others are within counts with them. Each was "
        "measured once, and C++ objects that were built before come from the cache: no difference is claimed."
    )


def phase_chart(left: Report, right: Report, on: Theme) -> go.Figure:
    """Draw compile time by the class of its phase, each instant once: one bar per run."""
    sides = {"right": _by_class(right), "left": _by_class(left)}
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


def _by_class(report: Report) -> dict[str, float]:
    found: dict[str, float] = {}
    for total in phase_totals(report.phases):
        kind = phase_class(total.name)
        found[kind] = found.get(kind, 0.0) + total.self_s
    return found

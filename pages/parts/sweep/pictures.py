"""The pictures of a sweep: its charts side by side, or a heat map of one measure.

Plotly figures over two label axes: one number per cell, and the outcome of each call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import plotly.graph_objects as go
import streamlit as st

from core.views.sweep import SweepView
from pages.look.charts import PLOTLY_CONFIG, blended, plotly_layout
from pages.look.palette import GRID, INK, MUTED, PAPER, PHASES, STATUS, Theme, kernel_colour
from pages.parts.sweep.charts import (
    cumulative_chart,
    hover_text,
    memory_chart,
    phases_chart,
    ratio_lines,
    time_lines,
    times_chart,
)
from pages.session import url
from pages.session.cache import kept, theme
from pages.session.sweeps import ShownSweep

ROW_PX, FRAME_PX, MOST_PX = 40, 90, 640
# Ratios from this one on have the full colour.
FULL = 4.0
# Maximum opacity of the colour, so that text on it has enough contrast.
SHADE = 0.55


def pictures(shown: ShownSweep) -> None:
    """Draw the charts, two side by side; nothing before a cell is done."""
    if shown.view.measures:
        _heat(shown)
    elif shown.view.charts:
        _charts(shown)


def _charts(shown: ShownSweep) -> None:
    """Draw each chart, cached for all sessions as long as the sweep has no new data."""
    on = theme()
    columns = st.columns(len(shown.view.charts), gap="medium")
    for column, name in zip(columns, shown.view.charts, strict=True):
        with column:
            figure = kept(partial(CHARTS[name], shown.view, on), f"sweep-{name}", shown.moment, on)
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"sweep-{name}")


def _heat(shown: ShownSweep) -> None:
    """Draw one measure of all cells, chosen by the visitor."""
    measures, on = shown.view.measures, theme()
    url.read(url.MEASURE, measures, measures[0])
    chosen = st.segmented_control("Measure", measures, key=url.MEASURE, label_visibility="collapsed")
    measure = chosen or measures[0]
    url.write(url.MEASURE)
    figure = kept(lambda: heat_map(shown.view, measure, on), f"heat-{measure}", shown.moment, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="sweep-heat")


def heat_map(view: SweepView, measure: str, on: Theme) -> go.Figure:
    """Draw one number per cell, as a shade and as text; a cell without a value is empty."""
    heat = view.heat_map(measure)
    figure = go.Figure()
    figure.add_heatmap(
        x=list(heat.across),
        y=list(heat.down),
        z=heat.values if heat.is_two_sided else [[_log(value) for value in line] for line in heat.values],
        text=heat.texts,
        texttemplate="%{text}",
        textfont={"color": INK[on]},
        hovertext=[[hover_text(lines) for lines in line] for line in heat.cell_lines],
        hovertemplate="%{hovertext}<extra></extra>",
        showscale=False,
        xgap=2,
        ygap=2,
        **(
            _two_sided(heat.known_values, on)
            if heat.is_two_sided
            else {"colorscale": [[0, PAPER[on]], [1, blended(kernel_colour(0), PAPER[on], SHADE)]]}
        ),
    )
    figure.update_layout(**plotly_layout(on), height=min(MOST_PX, FRAME_PX + ROW_PX * len(heat.down)))
    figure.update_layout(plot_bgcolor=GRID[on])
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(showgrid=False, type="category", side="top")
    return figure


def _two_sided(known: Sequence[float], on: Theme) -> dict[str, object]:
    """Return the two-sided colour scale of a ratio: compiled is faster on one side, eager on the other."""
    most = max([math.log2(FULL), *map(abs, known)])
    eager, compiled = (blended(kernel_colour(place), PAPER[on], SHADE) for place in (1, 0))
    return {"zmin": -most, "zmax": most, "colorscale": [[0, eager], [0.5, PAPER[on]], [1, compiled]]}


def _log(value: float | None) -> float | None:
    return None if value is None or value < 0 else math.log10(max(value, 1e-9)) if value < 1 else math.log10(1 + value)


def calls_chart(view: SweepView, on: Theme) -> go.Figure:
    """Draw each cell's calls by outcome: compiled, reused, mixed, eager, or raised."""
    ways = {
        "compiled": PHASES["dynamo"].on(on),
        "reused": kernel_colour(2),
        "mixed": kernel_colour(5),
        "eager": GRID[on],
        "raised": STATUS["bad"].on(on),
    }
    cells = view.call_cells[::-1]
    figure = go.Figure()
    for how, colour in ways.items():
        bars = [(cell, place) for cell in cells for place, call in enumerate(cell.row.calls) if call.how == how]
        if not bars:
            continue
        figure.add_bar(
            orientation="h",
            name=how,
            y=[cell.label for cell, _ in bars],
            x=[0.96] * len(bars),
            base=[place + 0.02 for _, place in bars],
            width=0.86,
            marker={"color": colour},
            text=[how] * len(bars),
            textposition="inside",
            insidetextanchor="middle",
            hovertext=[hover_text(cell.call_lines(place)) for cell, place in bars],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    labels = view.call_labels
    figure.update_layout(**plotly_layout(on), height=min(MOST_PX, FRAME_PX + ROW_PX * len(cells)), barmode="overlay")
    figure.update_xaxes(
        range=[0, len(labels)],
        tickvals=[place + 0.5 for place in range(len(labels))],
        ticktext=labels,
        showgrid=False,
        side="top",
        zeroline=False,
    )
    order = [cell.label for cell in cells]
    figure.update_yaxes(showgrid=False, tickfont={"color": INK[on]}, categoryorder="array", categoryarray=order)
    figure.update_layout(showlegend=False, font={"color": MUTED[on]})
    return figure


CHARTS: dict[str, Callable[[SweepView, Theme], go.Figure]] = {
    "calls": calls_chart,
    "spent": cumulative_chart,
    "phases": phases_chart,
    "ratio": ratio_lines,
    "lines": time_lines,
    "memory": memory_chart,
    "times": times_chart,
}

"""The chart of the executions of a backend's compiled code."""

from __future__ import annotations

from collections.abc import Iterable

import plotly.graph_objects as go

from core.base import words as fmt
from core.views.backend import BackendCompilationView, ExecutionBar
from pages.look.charts import in_unit, plotly_layout
from pages.look.palette import MUTED, STATUS, Theme, kernel_colour

HEIGHT = 300
MOST_IN_LEGEND = 10
# Minimum number of bar positions in a chart, so that a single bar is not as wide as the page.
LEAST_ROOM = 8


def executions_chart(view: BackendCompilationView, on: Theme) -> go.Figure:
    """Draw the seconds of each execution as bars, coloured by call, and the mean of the others."""
    bars, outside_s = view.execution_bars, view.outside_s
    factor, unit = in_unit(max([bar.seconds for bar in bars] + [outside_s or 0.0]))
    figure = go.Figure()
    kinds = list(dict.fromkeys(bar.kind for bar in bars))
    for kind in kinds:
        _add_bars(figure, kind, [bar for bar in bars if bar.kind == kind], factor, on)
    if outside_s is not None:
        _add_mean(figure, view.outside_name, outside_s, factor, on)
    room = max(len(bars) + (outside_s is not None), LEAST_ROOM)
    legend = len(kinds) <= MOST_IN_LEGEND
    figure.update_layout(**plotly_layout(on), height=HEIGHT, showlegend=legend, barmode="overlay")
    figure.update_xaxes(title="execution of the backend's callable", type="category", range=[-0.5, room - 0.5])
    figure.update_yaxes(title=f"time ({unit})", rangemode="tozero")
    return figure


def _add_bars(figure: go.Figure, kind: str, bars: list[ExecutionBar], factor: float, on: Theme) -> None:
    figure.add_bar(
        name=kind,
        x=[str(bar.number) for bar in bars],
        y=[bar.seconds * factor for bar in bars],
        marker={"color": _colour(bars[0], on)},
        customdata=[_hover(bar.hover) for bar in bars],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _add_mean(figure: go.Figure, name: str, seconds: float, factor: float, on: Theme) -> None:
    figure.add_bar(
        name=name,
        x=["mean of the others"],
        y=[seconds * factor],
        marker={"color": MUTED[on]},
        hovertemplate=f"{name}: {fmt.duration_s(seconds)}<extra></extra>",
    )


def _colour(bar: ExecutionBar, on: Theme) -> str:
    if bar.is_failed:
        return STATUS["bad"].on(on)
    return MUTED[on] if bar.call is None else kernel_colour(bar.call)


def _hover(lines: Iterable[str]) -> str:
    """Return the hover text, escaped, since Plotly reads some HTML."""
    return "<br>".join(line.replace("<", "&lt;") for line in lines)

"""Chart of one model's runs over time: one number, in series of comparable runs; a click opens a run."""

from __future__ import annotations

import time
from collections.abc import Mapping

import plotly.graph_objects as go
import streamlit as st

from core.base import words as fmt
from core.views import run_history
from pages.look.charts import PLOTLY_CONFIG, plotly_layout
from pages.look.palette import MUTED, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line
from pages.parts.run.runs_table import draw_again
from pages.session import url
from pages.session.cache import theme
from pages.session.runs import models_of, runs_of_model, show_run, summarised
from pages.session.state import held, hold
from pages.session.tables import picked_points

HEIGHT_PX, LEGEND_PX, WIDTH_PX = 380, 20, 260
# Lines between more points than this hide them.
MOST_JOINED = 80
CHART, OPENED = "runs-over-time", "runs-over-time-opened"
AXES = {"date": "Date", "torch": "torch version"}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "pentagon")


def history(text: str) -> None:
    """Draw the choice of a model among the runs that a search matches, and its chart."""
    if opened := held(OPENED):
        hold(OPENED, None)
        show_run(opened)
    models = models_of(text)
    if not models:
        st.caption("No run that has ended matches.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        model = _choice(
            "Model", url.MODEL, {name: f"{_named(name)} · {fmt.count(count, 'run')}" for name, count in models.items()}
        )
        metric = _choice("Number", url.METRIC, {name: each.title for name, each in run_history.METRICS.items()})
        axis = _choice("Against", url.AXIS, AXES)
    listed, total = runs_of_model(model, run_history.MOST_RUNS, text)
    runs, waiting = summarised(listed)
    if waiting:
        draw_again("Reading more reports…")
    view = run_history.HistoryView.of(model, metric, runs, total)
    st.markdown(f"**{view.title}**")
    if view.series:
        figure = history_chart(view, by_torch=axis == "torch", on=theme())
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=CHART, on_select=_open_point)
    for note in view.notes:
        st.caption(note)


def _named(model: str) -> str:
    return one_line(model, LONGEST_NAME) or "no title"


def _choice(label: str, key: str, names: Mapping[str, str]) -> str:
    """Draw a choice that is in the URL, by default the first; return its key."""
    url.read(key, names, next(iter(names)))
    st.selectbox(label, list(names), key=key, format_func=lambda name: names.get(name, name), width=WIDTH_PX)
    url.write(key)
    return str(held(key))


def _open_point() -> None:
    """Note the picked run, which the next drawing of the page opens."""
    for point in picked_points(CHART):
        if point.get("customdata"):
            hold(OPENED, str(point["customdata"][0]))


def history_chart(view: run_history.HistoryView, by_torch: bool, on: Theme) -> go.Figure:
    """Draw one number of each run against its date, or against its torch version."""
    figure = go.Figure()
    for place, series in enumerate(view.series):
        _add(figure, view, series, place, by_torch)
    if view.metric is run_history.METRICS["speedup"]:
        figure.add_hline(y=1, line={"color": MUTED[on], "width": 1, "dash": "dot"})
    figure.update_layout(**plotly_layout(on), showlegend=len(view.series) > 1)
    figure.update_layout(height=HEIGHT_PX + LEGEND_PX * len(view.series), clickmode="event+select")
    figure.update_layout(legend={"orientation": "v", "x": 0, "y": -0.18, "yanchor": "top"}, scattermode="group")
    figure.update_yaxes(title=view.metric.axis, rangemode="tozero")
    versions = sorted({point.torch for series in view.series for point in series.points}, key=_version_key)
    figure.update_xaxes(**({"type": "category", "categoryarray": versions, "title": "torch"} if by_torch else {}))
    return figure


def _add(
    figure: go.Figure, view: run_history.HistoryView, series: run_history.HistorySeries, place: int, by_torch: bool
) -> None:
    factor, points = view.metric.factor, series.points
    bounds = [point.bounds or (point.value, point.value) for point in points]
    figure.add_scatter(
        name=series.label,
        mode="markers" if by_torch or len(points) > MOST_JOINED else "lines+markers",
        x=[point.torch if by_torch else _date(point.created_s) for point in points],
        y=[point.value * factor for point in points],
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [high - point.value for (_, high), point in zip(bounds, points, strict=True)],
            "arrayminus": [point.value - low for (low, _), point in zip(bounds, points, strict=True)],
            "visible": any(point.bounds for point in points),
            "color": kernel_colour(place),
        },
        line={"width": 1},
        marker={"color": kernel_colour(place), "symbol": SYMBOLS[place % len(SYMBOLS)], "size": 7},
        customdata=[[point.run] for point in points],
        hovertext=["<br>".join(point.lines) for point in points],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _date(created_s: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(created_s))


def _version_key(version: str) -> tuple[list[int], str]:
    return [int(part) for part in version.split(".") if part.isdecimal()], version

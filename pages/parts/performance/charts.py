"""Plotly figures about eager compared with compiled."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import plotly.graph_objects as go

from core.base import words as fmt
from core.report import Call
from core.views.speedup import CallTotals
from pages.look.charts import decades, in_unit, median_bars, plotly_layout
from pages.look.palette import Theme, kernel_colour

EAGER, COMPILED = "eager", "compiled"
COLOURS = {EAGER: 3, COMPILED: 0}


def steady_chart(medians: Sequence[tuple[str, float, tuple[float, float]]], on: Theme) -> go.Figure:
    """Draw median seconds per call, with quartiles as error bars."""
    return median_bars([(*median, COLOURS[median[0]]) for median in medians], on, 190)


def break_even_chart(break_even: CallTotals, on: Theme) -> go.Figure:
    """Draw total time over the number of calls, eager and compiled; break-even is in the band where the lines cross."""
    soonest, latest = break_even.soonest, break_even.latest
    calls = break_even.calls
    totals = {
        EAGER: [break_even.eager_total_s(count) for count in calls],
        COMPILED: [break_even.compiled_total_s(count) for count in calls],
    }
    figure = go.Figure()
    for name, seconds in totals.items():
        figure.add_scatter(x=calls, y=seconds, name=name, line={"color": kernel_colour(COLOURS[name])})
    figure.add_vrect(x0=soonest, x1=latest, opacity=0.2, fillcolor="#7F7F7F", line={"dash": "dot", "width": 1.5})
    # On a logarithmic axis, Plotly expects a shape's position as a value, but a text's position as a logarithm.
    place = {"x": math.log10(soonest), "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "top"}
    figure.add_annotation(text=f"{fmt.ordinal(soonest)} to {fmt.ordinal(latest)} call ", showarrow=False, **place)
    figure.update_layout(**plotly_layout(on), height=300)
    highest_s = max(seconds[-1] for seconds in totals.values())
    figure.update_xaxes(title="calls, log", type="log", **decades(1, calls[-1], lambda calls: fmt.number(round(calls))))
    figure.update_yaxes(
        title="total time, log",
        type="log",
        **decades(min(break_even.eager_s, break_even.cost_s), highest_s, fmt.duration_s),
    )
    return figure


def samples_chart(
    eager_s: Sequence[float],
    compiled_s: Sequence[float],
    warm_up: int,
    on: Theme,
    names: tuple[str, str] = (EAGER, COMPILED),
) -> go.Figure:
    """Draw every sample of two sides in the order of measurement; the warm-up is shaded."""
    figure = go.Figure()
    factor, unit = in_unit(statistics.median((*eager_s, *compiled_s)))
    for name, samples, colour in ((names[0], eager_s, COLOURS[EAGER]), (names[1], compiled_s, COLOURS[COMPILED])):
        figure.add_scatter(
            y=[sample * factor for sample in samples],
            mode="markers",
            name=name,
            marker={"color": kernel_colour(colour), "size": 4},
        )
    if warm_up:
        figure.add_vrect(
            x0=-0.5, x1=warm_up - 0.5, opacity=0.12, fillcolor="#7F7F7F", line_width=0, annotation_text="warm-up"
        )
    figure.update_layout(**plotly_layout(on), height=260)
    figure.update_xaxes(title="pair of samples, in the order taken")
    figure.update_yaxes(title=f"time per call ({unit})", rangemode="tozero")
    return figure


def first_calls_chart(calls: Sequence[Call], on: Theme) -> go.Figure:
    """Draw the seconds of each call's first execution, eager and compiled, on a logarithmic axis."""
    figure = go.Figure()
    names = [f"call {call.index}" for call in calls]
    sides = {EAGER: [call.eager_s for call in calls], COMPILED: [call.compiled_s for call in calls]}
    for name, seconds in sides.items():
        figure.add_bar(x=names, y=seconds, name=name, marker={"color": kernel_colour(COLOURS[name])})
    figure.update_layout(**plotly_layout(on), height=260, barmode="group")
    times = [time_s for seconds in sides.values() for time_s in seconds if time_s]
    ticks = decades(min(times), max(times), fmt.duration_s) if times else {}
    figure.update_yaxes(title="time, log", type="log", **ticks)
    return figure

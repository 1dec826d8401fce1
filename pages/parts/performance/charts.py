"""Plotly figures about eager compared with compiled."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

import plotly.graph_objects as go

from core.analysis import Speed
from core.base import words as fmt
from core.report import Call
from pages.look.charts import decades, in_unit, median_bars, plotly_layout
from pages.look.palette import Theme, kernel_colour

EAGER, COMPILED = "eager", "compiled"


def steady_chart(found: Speed, on: Theme) -> go.Figure:
    """Draw median seconds per call, with quartiles as error bars."""
    rows = (
        (EAGER, found.eager_s, found.eager_quartiles_s, 3),
        (COMPILED, found.compiled_s, found.compiled_quartiles_s, 0),
    )
    return median_bars(rows, on, 190)


def break_even_chart(found: Speed, cost_s: float, break_even: tuple[int, int], on: Theme) -> go.Figure:
    """Draw total time over the number of calls, eager and compiled; break-even is in the band where the lines cross."""
    soonest, latest = break_even
    last = max(10, 2 * latest)
    calls = sorted({round(10 ** (index / 20)) for index in range(200) if 10 ** (index / 20) <= last} | {last})
    figure = go.Figure()
    figure.add_scatter(
        x=calls, y=[count * found.eager_s for count in calls], name=EAGER, line={"color": kernel_colour(3)}
    )
    figure.add_scatter(
        x=calls,
        y=[cost_s + count * found.compiled_s for count in calls],
        name=COMPILED,
        line={"color": kernel_colour(0)},
    )
    figure.add_vrect(x0=soonest, x1=latest, opacity=0.2, fillcolor="#7F7F7F", line={"dash": "dot", "width": 1.5})
    # On a logarithmic axis plotly places a shape by the value, and a text by the value's logarithm.
    at = {"x": math.log10(soonest), "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "top"}
    figure.add_annotation(text=f"{fmt.ordinal(soonest)} to {fmt.ordinal(latest)} call ", showarrow=False, **at)
    figure.update_layout(**plotly_layout(on), height=300)
    dearest_s = max(last * found.eager_s, cost_s + last * found.compiled_s)
    figure.update_xaxes(title="calls, log", type="log", **decades(1, last, lambda calls: fmt.number(round(calls))))
    figure.update_yaxes(
        title="total time, log", type="log", **decades(min(found.eager_s, cost_s), dearest_s, fmt.duration_s)
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
    for name, samples, colour in ((names[0], eager_s, 3), (names[1], compiled_s, 0)):
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
    figure.add_bar(x=names, y=[call.eager_s for call in calls], name=EAGER, marker={"color": kernel_colour(3)})
    figure.add_bar(x=names, y=[call.compiled_s for call in calls], name=COMPILED, marker={"color": kernel_colour(0)})
    figure.update_layout(**plotly_layout(on), height=260, barmode="group")
    times = [seconds for call in calls for seconds in (call.eager_s, call.compiled_s) if seconds]
    ticks = decades(min(times), max(times), fmt.duration_s) if times else {}
    figure.update_yaxes(title="time, log", type="log", **ticks)
    return figure

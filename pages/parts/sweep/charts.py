"""Plotly figures of a sweep's rows: times with quartiles, ratios with intervals, and compile time by phase.

Plotly figures over a number: the ratio with its interval, both times with their quartiles, and total time.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from core.analysis import Interval, calls_to_pay
from core.base import words as fmt
from core.sweep import SweepRow
from core.views.speedup import ratio_words
from pages.look.charts import decades, in_unit, log_ticks, plotly_layout
from pages.look.palette import INK, MUTED, PHASES, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line

EAGER, COMPILED = "eager", "compiled"
COLOURS = {EAGER: kernel_colour(3), COMPILED: kernel_colour(0)}
BAR_PX, FRAME_PX, LEAST_PX, MOST_PX = 46, 74, 190, 560
# Bars with their seconds in them.
WITH_TEXT = 9
SPANS = 20.0
HEIGHT_PX = 330
WIDE = 10.0
# An interval is drawn up to so many times its middle.
SHOWN_TIMES = 3.0
# Number of points of a curve over calls.
CURVE = 160
Series = Mapping[str, Sequence[tuple[float, SweepRow]]]


def height_of(lines: int) -> int:
    """Return the height in pixels of a chart with so many bars."""
    return max(LEAST_PX, min(MOST_PX, FRAME_PX + BAR_PX * lines))


def label(row: SweepRow) -> str:
    """Return a row's position as an axis label."""
    return one_line(", ".join(row.at), LONGEST_NAME)


def times_chart(rows: Sequence[SweepRow], on: Theme) -> go.Figure:
    """Draw median seconds of an eager and a compiled call in each cell, with quartiles.

    As bars, or as points on a logarithmic axis if they span decades, where a bar would have no start.
    """
    timed = [row for row in rows if row.eager_s is not None and row.compiled_s is not None][::-1]
    sides = {COMPILED: [row.compiled_s or 0.0 for row in timed], EAGER: [row.eager_s or 0.0 for row in timed]}
    every = [*sides[EAGER], *sides[COMPILED]]
    factor, unit = in_unit(max(every))
    wide = max(every) > SPANS * min(every)
    figure = go.Figure()
    for name, seconds in sides.items():
        quartiles = [row.eager_quartiles_s if name == EAGER else row.compiled_quartiles_s for row in timed]
        look = {"mode": "markers"} if wide else _bar_look(seconds)
        (figure.add_scatter if wide else figure.add_bar)(
            orientation="h",
            name=name,
            y=[label(row) for row in timed],
            x=[value * factor for value in seconds],
            error_x=_quartile_bars(seconds, quartiles, factor),
            marker={"color": COLOURS[name], **({"size": 9} if wide else {})},
            hovertext=[_hover(row) for row in timed],
            hovertemplate="%{hovertext}<extra></extra>",
            **look,
        )
    figure.update_layout(**plotly_layout(on), height=height_of(len(timed)), bargap=0.25, bargroupgap=0.06)
    figure.update_layout(legend={"traceorder": "reversed"}, scattermode="group", scattergap=0.5)
    axis = decades(min(every) * factor, max(every) * factor, fmt.number) if wide else {"rangemode": "tozero"}
    figure.update_xaxes(type="log" if wide else "linear", title=f"time per call ({unit}), median and quartiles", **axis)
    figure.update_yaxes(showgrid=wide)
    return figure


def _bar_look(seconds: Sequence[float]) -> dict[str, Any]:
    """Return the look of bars, which show their seconds if there is room."""
    if len(seconds) > WITH_TEXT:
        return {}
    texts = [fmt.duration_s(value) for value in seconds]
    return {"text": texts, "textposition": "inside", "insidetextanchor": "start"}


def _quartile_bars(
    seconds: Sequence[float], quartiles: Sequence[tuple[float, float] | None], factor: float
) -> dict[str, Any]:
    found = [given or (middle, middle) for middle, given in zip(seconds, quartiles, strict=True)]
    return {
        "type": "data",
        "symmetric": False,
        "array": [(high - middle) * factor for middle, (_, high) in zip(seconds, found, strict=True)],
        "arrayminus": [(middle - low) * factor for middle, (low, _) in zip(seconds, found, strict=True)],
    }


def _hover(row: SweepRow) -> str:
    told = [
        f"<b>{label(row)}</b>",
        f"eager {fmt.duration_s(row.eager_s)}, compiled {fmt.duration_s(row.compiled_s)}",
        f"{ratio_words(row.ratio)}: {row.claim}",
    ]
    return "<br>".join([*told, *([one_line(row.disturbed)] if row.disturbed else [])])


def phases_chart(rows: Sequence[SweepRow], on: Theme) -> go.Figure:
    """Draw seconds of compile time in each cell, by class of phase."""
    shown = [row for row in rows if row.phases_s][::-1]
    figure = go.Figure()
    kinds = [kind for kind in PHASES if any(row.phases_s.get(kind) for row in shown)]
    factor, unit = in_unit(max(sum(row.phases_s.values()) for row in shown))
    for kind in kinds:
        seconds = [row.phases_s.get(kind, 0.0) for row in shown]
        figure.add_bar(
            orientation="h",
            name=PHASES[kind].label,
            y=[label(row) for row in shown],
            x=[value * factor for value in seconds],
            marker={"color": PHASES[kind].on(on)},
            customdata=[fmt.duration_s(value) for value in seconds],
            hovertemplate="%{y}: " + PHASES[kind].label + " %{customdata}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=height_of(len(shown)), barmode="stack")
    figure.update_layout(legend={"traceorder": "normal"})
    totals = [sum(row.phases_s.values()) for row in shown]
    for row, total in zip(shown, totals, strict=True):
        words = " " + fmt.duration_s(total)
        figure.add_annotation(x=total * factor, y=label(row), text=words, showarrow=False, xanchor="left")
    figure.update_xaxes(title=f"compile time ({unit})", range=[0, max(totals) * factor * 1.18])
    figure.update_yaxes(showgrid=False)
    return figure


def memory_chart(rows: Sequence[SweepRow], on: Theme) -> go.Figure:
    """Draw peak bytes of an eager and a compiled call in each cell."""
    shown = [row for row in rows if row.eager_peak_bytes is not None and row.compiled_peak_bytes is not None][::-1]
    figure = go.Figure()
    for name in (EAGER, COMPILED):
        sizes = [(row.eager_peak_bytes if name == EAGER else row.compiled_peak_bytes) or 0 for row in shown]
        figure.add_bar(
            orientation="h",
            name=name,
            y=[label(row) for row in shown],
            x=[size / 1e6 for size in sizes],
            marker={"color": COLOURS[name]},
            text=[fmt.bytes_(size) for size in sizes],
            textposition="auto",
            hovertemplate="%{y}: " + name + " %{text}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=height_of(len(shown)), legend={"traceorder": "reversed"})
    figure.update_xaxes(title="memory at the peak of one call (MB)", rangemode="tozero")
    figure.update_yaxes(showgrid=False)
    return figure


def ratio_lines(series: Series, title: str, between: tuple[float, float] | None, on: Theme) -> go.Figure:
    """Draw eager over compiled against a number, one line per series, with 99 % intervals; above one compiled is
    faster.
    """
    figure = go.Figure()
    for place, (name, points) in enumerate(series.items()):
        found = [(x, row.ratio) for x, row in points if row.ratio is not None]
        figure.add_scatter(
            x=[x for x, _ in found],
            y=[ratio.middle for _, ratio in found],
            name=name,
            mode="lines+markers",
            line={"color": kernel_colour(place)},
            error_y=_interval_bars([ratio for _, ratio in found]),
            hovertext=[f"{title} {number_words(x)}: {ratio_words(ratio)}" for x, ratio in found],
            hovertemplate=f"{f'{name}, ' if name else ''}%{{hovertext}}<extra></extra>",
            showlegend=bool(name),
        )
    figure.add_hline(y=1, line={"color": INK[on], "width": 1.25, "dash": "dot"})
    if between is not None:
        figure.add_vrect(x0=between[0], x1=between[1], fillcolor=MUTED[on], opacity=0.18, line_width=0)
    figure.update_layout(**plotly_layout(on), height=HEIGHT_PX)
    _number_axis(figure, [x for points in series.values() for x, _ in points], title)
    ratios = [row.ratio for points in series.values() for _, row in points if row.ratio is not None]
    figure.update_yaxes(title="eager / compiled (×), 99 % interval", **_ratio_axis(ratios))
    return figure


def _ratio_axis(intervals: Sequence[Interval]) -> dict[str, object]:
    """Return a logarithmic axis of ratios; an uninformative interval does not flatten the others."""
    low = min(0.8, *(max(one.low, one.middle / SHOWN_TIMES) for one in intervals)) / 1.1
    high = max(1.25, *(min(one.high, one.middle * SHOWN_TIMES) for one in intervals)) * 1.1
    ticks = log_ticks(low, high)
    return {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{number_words(round(tick, 9))} ×" for tick in ticks],
    }


def _interval_bars(intervals: Sequence[Interval]) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": [one.high - one.middle for one in intervals],
        "arrayminus": [one.middle - one.low for one in intervals],
    }


def time_lines(points: Sequence[tuple[float, SweepRow]], title: str, on: Theme) -> go.Figure:
    """Draw seconds of an eager and a compiled call against a number, in a band from quartile to quartile."""
    timed = [(x, row) for x, row in points if row.eager_s and row.compiled_s]
    every = [seconds for _, row in timed for seconds in (row.eager_s or 0.0, row.compiled_s or 0.0)]
    factor, unit = in_unit(max(every))
    figure = go.Figure()
    for name in (EAGER, COMPILED):
        _time_line(figure, name, timed, factor, title)
    figure.update_layout(**plotly_layout(on), height=HEIGHT_PX)
    _number_axis(figure, [x for x, _ in timed], title)
    ticks = decades(min(every) * factor, max(every) * factor, fmt.number)
    figure.update_yaxes(title=f"time per call ({unit}), quartiles", type="log", **ticks)
    return figure


def _time_line(
    figure: go.Figure, name: str, timed: Sequence[tuple[float, SweepRow]], factor: float, title: str
) -> None:
    xs = [x for x, _ in timed]
    middle = [(row.eager_s if name == EAGER else row.compiled_s) or 0.0 for _, row in timed]
    given = [row.eager_quartiles_s if name == EAGER else row.compiled_quartiles_s for _, row in timed]
    bands = [found or (value, value) for found, value in zip(given, middle, strict=True)]
    figure.add_scatter(
        x=[*xs, *xs[::-1]],
        y=[seconds * factor for seconds in (*(high for _, high in bands), *(low for low, _ in bands[::-1]))],
        fill="toself",
        fillcolor=COLOURS[name],
        opacity=0.25,
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=xs,
        y=[seconds * factor for seconds in middle],
        name=name,
        mode="lines+markers",
        line={"color": COLOURS[name]},
        hovertext=[f"{title} {number_words(x)}: {fmt.duration_s(s)}" for x, s in zip(xs, middle, strict=True)],
        hovertemplate=f"{name}, %{{hovertext}}<extra></extra>",
    )


def cumulative_chart(rows: Sequence[SweepRow], costs_s: Sequence[float], on: Theme) -> go.Figure:
    """Draw total time over calls: eager, and compiled in each cell, which starts with the cost of its first calls."""
    eager_s = statistics.median(row.eager_s or 0.0 for row in rows)
    most = max(10.0, *(_last(row, cost_s) for row, cost_s in zip(rows, costs_s, strict=True)))
    calls = [10 ** (math.log10(most) * step / CURVE) for step in range(CURVE + 1)]
    factor, unit = in_unit(most * eager_s)
    figure = go.Figure()
    curves = {EAGER: (COLOURS[EAGER], [n * eager_s for n in calls])}
    for place, (row, cost_s) in enumerate(zip(rows, costs_s, strict=True)):
        colour = kernel_colour((0, 2, 4)[place % 3])
        curves[f"compiled, {label(row)}"] = colour, [cost_s + n * (row.compiled_s or 0.0) for n in calls]
        pays = _pays(row, cost_s)
        if pays is not None:
            figure.add_vrect(x0=pays[0], x1=max(pays[1], pays[0] * 1.01), fillcolor=colour, opacity=0.2, line_width=0)
    for name, (colour, spent) in curves.items():
        figure.add_scatter(
            x=calls,
            y=[seconds * factor for seconds in spent],
            name=name,
            line={"color": colour},
            hovertext=[
                f"{name}: {fmt.duration_s(seconds)} after {fmt.count(round(n), 'call')}"
                for n, seconds in zip(calls, spent, strict=True)
            ],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=HEIGHT_PX)
    figure.update_xaxes(type="log", title="calls", **decades(1, most, number_words))
    least = min(calls[0] * eager_s, *costs_s) * factor
    figure.update_yaxes(
        type="log", title=f"all time spent ({unit})", **decades(least, 2 * most * eager_s * factor, fmt.number)
    )
    return figure


def _pays(row: SweepRow, cost_s: float) -> tuple[int, int] | None:
    if row.claim != "faster" or row.ratio is None or row.disturbed:
        return None
    return calls_to_pay(cost_s, row.eager_s or 0.0, row.ratio)


def _last(row: SweepRow, cost_s: float) -> float:
    """Return the end of a row's curve in calls: twice its break-even, else the calls that take ten times the cost."""
    pays = _pays(row, cost_s)
    return 2.0 * pays[1] if pays else 10 * cost_s / (row.compiled_s or 1.0)


def _number_axis(figure: go.Figure, x: Sequence[float], title: str) -> None:
    """Return the axis of tried numbers, logarithmic if they span more than a decade."""
    wide = min(x) > 0 and max(x) > WIDE * min(x)
    ticks = sorted(set(x))
    texts = [number_words(value) for value in ticks]
    figure.update_xaxes(type="log" if wide else "linear", tickvals=ticks, ticktext=texts, title=title)


def number_words(value: float) -> str:
    """Return a number of an axis as it was typed."""
    return fmt.exact(int(value) if value == int(value) else value)

"""Plotly figures of a sweep.

Bar charts show each cell: call times with quartiles, compile time by phase, or peak memory. Line charts over
a numeric axis show speedups with intervals, or call times with quartiles. Another line chart shows total time
over the number of calls.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

from core.base import words as fmt
from core.views.sweep import SweepView
from pages.look.charts import decades, go, in_brackets, in_unit, plotly_layout
from pages.look.palette import INK, MUTED, PHASES, Theme, kernel_colour

Side = Literal["eager", "compiled"]
COLOURS: dict[Side, str] = {"eager": kernel_colour(3), "compiled": kernel_colour(0)}
BAR_PX, FRAME_PX, LEAST_PX, MOST_PX = 46, 74, 190, 560
# Height of a bar whose name can be read, and the most bars of this height.
LINE_PX, MOST_LINES = 17, 80
# Height in pixels of a bar that contains its seconds as text.
WITH_TEXT = 9
SPANS = 20.0
HEIGHT_PX = 330
WIDE = 10.0
# An interval is drawn up to this multiple of its middle.
SHOWN_TIMES = 3.0


def height_of(lines: int) -> int:
    """Return the height in pixels of a chart with `lines` bars."""
    return max(LEAST_PX, min(MOST_PX, FRAME_PX + BAR_PX * lines), FRAME_PX + LINE_PX * min(lines, MOST_LINES))


def each_line(lines: int) -> dict[str, Any]:
    """Return the settings of an axis that names each of `lines` bars; some, if there are too many."""
    return {"dtick": 1} if lines <= MOST_LINES else {}


def hover_text(lines: Sequence[str]) -> str:
    """Return lines as a hover text; the first is bold if more follow."""
    first, *rest = lines
    return "<br>".join([f"<b>{first}</b>", *rest]) if rest else first


def times_chart(view: SweepView, on: Theme) -> go.Figure:
    """Draw the median seconds of an eager and a compiled call in each cell, with quartiles.

    The medians are bars. If they differ by more than a factor of `SPANS`, they are points on a logarithmic axis,
    where bars have no start.
    """
    cells = view.timed_cells[::-1]
    sides: dict[Side, list[float]] = {side: [cell.seconds(side) for cell in cells] for side in ("compiled", "eager")}
    every = [*sides["eager"], *sides["compiled"]]
    factor, unit = in_unit(max(every))
    wide = max(every) > SPANS * min(every)
    figure = go.Figure()
    for side, seconds in sides.items():
        look = {"mode": "markers"} if wide else _bar_look(seconds)
        (figure.add_scatter if wide else figure.add_bar)(
            orientation="h",
            name=side,
            y=[cell.label for cell in cells],
            x=[value * factor for value in seconds],
            error_x=_error_bars(seconds, [cell.quartiles_s(side) for cell in cells], factor),
            marker={"color": COLOURS[side], **({"size": 9} if wide else {})},
            hovertext=[hover_text(cell.times_lines) for cell in cells],
            hovertemplate="%{hovertext}<extra></extra>",
            **look,
        )
    figure.update_layout(**plotly_layout(on), height=height_of(len(cells)), bargap=0.25, bargroupgap=0.06)
    figure.update_layout(legend={"traceorder": "reversed"}, scattermode="group", scattergap=0.5)
    axis = decades(min(every) * factor, max(every) * factor, fmt.number) if wide else {"rangemode": "tozero"}
    figure.update_xaxes(
        type="log" if wide else "linear", title=in_brackets("time per call", unit, "median and quartiles"), **axis
    )
    figure.update_yaxes(showgrid=wide, **each_line(len(cells)))
    return figure


def _bar_look(seconds: Sequence[float]) -> dict[str, Any]:
    """Return the style of bars; if there is room, the bars contain their seconds as text."""
    if len(seconds) > WITH_TEXT:
        return {}
    texts = [fmt.duration_s(value) for value in seconds]
    return {"text": texts, "textposition": "inside", "insidetextanchor": "start"}


def _error_bars(middles: Sequence[float], bounds: Sequence[tuple[float, float]], factor: float = 1.0) -> dict[str, Any]:
    """Return error bars from a low to a high bound around each middle."""
    return {
        "type": "data",
        "symmetric": False,
        "array": [(high - middle) * factor for middle, (_, high) in zip(middles, bounds, strict=True)],
        "arrayminus": [(middle - low) * factor for middle, (low, _) in zip(middles, bounds, strict=True)],
    }


def phases_chart(view: SweepView, on: Theme) -> go.Figure:
    """Draw seconds of compile time in each cell, by class of phase."""
    rows = [(cell.label, cell.row.phases_s) for cell in view.phase_cells[::-1]]
    figure = go.Figure()
    kinds = [kind for kind in PHASES if any(phases_s.get(kind) for _, phases_s in rows)]
    totals = [sum(phases_s.values()) for _, phases_s in rows]
    factor, unit = in_unit(max(totals))
    for kind in kinds:
        seconds = [phases_s.get(kind, 0.0) for _, phases_s in rows]
        figure.add_bar(
            orientation="h",
            name=PHASES[kind].label,
            y=[label for label, _ in rows],
            x=[value * factor for value in seconds],
            marker={"color": PHASES[kind].on(on)},
            customdata=[fmt.duration_s(value) for value in seconds],
            hovertemplate="%{y}: " + PHASES[kind].label + " %{customdata}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=height_of(len(rows)), barmode="stack")
    figure.update_layout(legend={"traceorder": "normal"})
    for (label, _), total in zip(rows, totals, strict=True):
        words = " " + fmt.duration_s(total)
        figure.add_annotation(x=total * factor, y=label, text=words, showarrow=False, xanchor="left")
    figure.update_xaxes(title=in_brackets("compile time", unit), range=[0, max(totals) * factor * 1.18])
    figure.update_yaxes(showgrid=False, **each_line(len(rows)))
    return figure


def memory_chart(view: SweepView, on: Theme) -> go.Figure:
    """Draw peak bytes of an eager and a compiled call in each cell."""
    cells = view.memory_cells[::-1]
    figure = go.Figure()
    for side, colour in COLOURS.items():
        sizes = [cell.peak_bytes(side) for cell in cells]
        figure.add_bar(
            orientation="h",
            name=side,
            y=[cell.label for cell in cells],
            x=[size / 1e6 for size in sizes],
            marker={"color": colour},
            text=[fmt.bytes_(size) for size in sizes],
            textposition="auto",
            hovertemplate="%{y}: " + side + " %{text}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=height_of(len(cells)), legend={"traceorder": "reversed"})
    figure.update_xaxes(title="memory at the peak of one call (MB)", rangemode="tozero")
    figure.update_yaxes(showgrid=False, **each_line(len(cells)))
    return figure


def ratio_lines(view: SweepView, on: Theme) -> go.Figure:
    """Draw the speedup over the numeric axis, one line per series, with 99 % intervals."""
    figure, title = go.Figure(), view.axis_title
    for place, series in enumerate(view.series):
        middles = [point.ratio.middle for point in series.points]
        figure.add_scatter(
            x=[point.x for point in series.points],
            y=middles,
            name=series.name,
            mode="lines+markers",
            line={"color": kernel_colour(place)},
            error_y=_error_bars(middles, [(point.ratio.low, point.ratio.high) for point in series.points]),
            hovertext=[f"{title} {number_words(point.x)}: {point.words}" for point in series.points],
            hovertemplate=f"{f'{series.name}, ' if series.name else ''}%{{hovertext}}<extra></extra>",
            showlegend=bool(series.name),
        )
    figure.add_hline(y=1, line={"color": INK[on], "width": 1.25, "dash": "dot"})
    if view.crossover is not None:
        x0, x1 = view.crossover
        figure.add_vrect(x0=x0, x1=x1, fillcolor=MUTED[on], opacity=0.18, line_width=0)
    figure.update_layout(**plotly_layout(on), height=HEIGHT_PX)
    _number_axis(figure, [point.x for series in view.series for point in series.points], title)
    figure.update_yaxes(title="eager / compiled (×), 99 % interval", **_ratio_axis(view))
    return figure


def _ratio_axis(view: SweepView) -> dict[str, object]:
    """Return a logarithmic axis of ratios; very wide intervals are cut, so that others stay readable."""
    ratios = [point.ratio for series in view.series for point in series.points]
    low = min(0.8, *(max(ratio.low, ratio.middle / SHOWN_TIMES) for ratio in ratios)) / 1.1
    high = max(1.25, *(min(ratio.high, ratio.middle * SHOWN_TIMES) for ratio in ratios)) * 1.1
    ticks = fmt.log_ticks(low, high)
    return {
        "type": "log",
        "range": [math.log10(low), math.log10(high)],
        "tickvals": ticks,
        "ticktext": [f"{number_words(round(tick, 9))} ×" for tick in ticks],
    }


def time_lines(view: SweepView, on: Theme) -> go.Figure:
    """Draw seconds per eager and compiled call over the numeric axis, with quartiles as bands."""
    points, title = view.timed_points, view.axis_title
    every = [point.cell.seconds(side) for point in points for side in COLOURS]
    factor, unit = in_unit(max(every))
    figure = go.Figure()
    for side in COLOURS:
        _time_line(figure, side, view, factor)
    figure.update_layout(**plotly_layout(on), height=HEIGHT_PX)
    _number_axis(figure, [point.x for point in points], title)
    ticks = decades(min(every) * factor, max(every) * factor, fmt.number)
    figure.update_yaxes(title=in_brackets("time per call", unit, "quartiles"), type="log", **ticks)
    return figure


def _time_line(figure: go.Figure, side: Side, view: SweepView, factor: float) -> None:
    points, title = view.timed_points, view.axis_title
    xs = [point.x for point in points]
    middles = [point.cell.seconds(side) for point in points]
    bands = [point.cell.quartiles_s(side) for point in points]
    figure.add_scatter(
        x=[*xs, *xs[::-1]],
        y=[seconds * factor for seconds in (*(high for _, high in bands), *(low for low, _ in bands[::-1]))],
        fill="toself",
        fillcolor=COLOURS[side],
        opacity=0.25,
        line={"width": 0},
        hoverinfo="skip",
        showlegend=False,
    )
    figure.add_scatter(
        x=xs,
        y=[seconds * factor for seconds in middles],
        name=side,
        mode="lines+markers",
        line={"color": COLOURS[side]},
        hovertext=[f"{title} {number_words(x)}: {fmt.duration_s(s)}" for x, s in zip(xs, middles, strict=True)],
        hovertemplate=f"{side}, %{{hovertext}}<extra></extra>",
    )


def cumulative_chart(view: SweepView, on: Theme) -> go.Figure:
    """Draw total time over the number of calls, for eager and for compiled in each cell."""
    totals = view.totals
    assert totals is not None
    calls, eager_s, last = totals.calls, totals.eager_s, totals.last_call
    factor, unit = in_unit(last * eager_s)
    figure = go.Figure()
    curves = {"eager": (COLOURS["eager"], [n * eager_s for n in calls])}
    for place, curve in enumerate(totals.curves):
        colour = kernel_colour((0, 2, 4)[place % 3])
        curves[f"compiled, {curve.cell.label}"] = colour, [curve.total_s(n) for n in calls]
        if curve.pays is not None:
            soonest, latest = curve.pays
            x1 = max(latest, soonest * 1.01)
            figure.add_vrect(x0=soonest, x1=x1, fillcolor=colour, opacity=0.2, line_width=0)
    for name, (colour, spent) in curves.items():
        figure.add_scatter(
            x=calls,
            y=[seconds * factor for seconds in spent],
            name=name,
            line={"color": colour},
            hovertext=[totals.words(name, seconds, n) for n, seconds in zip(calls, spent, strict=True)],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=HEIGHT_PX)
    figure.update_xaxes(type="log", title="calls", **decades(1, last, number_words))
    least = min(seconds for _, spent in curves.values() for seconds in spent if seconds > 0) * factor
    figure.update_yaxes(
        type="log", title=in_brackets("all time spent", unit), **decades(least, 2 * last * eager_s * factor, fmt.number)
    )
    return figure


def _number_axis(figure: go.Figure, x: Sequence[float], title: str) -> None:
    """Set the x axis for a sweep's numbers, logarithmic if they span more than a factor of `WIDE`."""
    wide = min(x) > 0 and max(x) > WIDE * min(x)
    ticks = sorted(set(x))
    texts = [number_words(value) for value in ticks]
    figure.update_xaxes(type="log" if wide else "linear", tickvals=ticks, ticktext=texts, title=title)


def number_words(value: float) -> str:
    """Return a number of an axis as text."""
    return fmt.exact(int(value) if value == int(value) else value)

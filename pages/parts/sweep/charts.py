"""Plotly figures of a sweep's rows: times with quartiles, ratios with intervals, and compile time by phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from core.base import words as fmt
from core.sweep import SweepRow
from core.views.speed_words import ratio_words
from pages.look.charts import decades, in_unit, plotly_layout
from pages.look.palette import PHASES, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line

EAGER, COMPILED = "eager", "compiled"
COLOURS = {EAGER: kernel_colour(3), COMPILED: kernel_colour(0)}
BAR_PX, FRAME_PX, LEAST_PX, MOST_PX = 46, 74, 190, 560
# Bars with their seconds in them.
WITH_TEXT = 9
SPANS = 20.0


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

"""Plotly figures over two label axes: one number per cell, and the outcome of each call."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go

from core.base import words as fmt
from core.sweep import SweepRow
from core.views.speed_words import ratio_words
from pages.look.charts import blended, plotly_layout
from pages.look.palette import GRID, INK, MUTED, PAPER, PHASES, STATUS, Theme, kernel_colour
from pages.parts.sweep.charts import label

Measure = Literal["speedup", "compiled call", "compile time", "compilations", "kernels"]
ROW_PX, FRAME_PX, MOST_PX = 40, 90, 640
# Ratios from here on have the full colour.
FULL = 4.0
# The fullest shade has this fraction of the colour, so that text on it has enough contrast.
SHADE = 0.55


@dataclass(frozen=True, slots=True)
class Shade:
    """A measure's value in a row, and its text."""

    value: Callable[[SweepRow], float | None]
    words: Callable[[float], str]


def _log_ratio(row: SweepRow) -> float | None:
    """Return the ratio's logarithm; 0 if no difference was seen."""
    if row.ratio is None:
        return None
    return math.log2(row.ratio.middle) if row.clear else 0.0


MEASURES: dict[Measure, Shade] = {
    "speedup": Shade(_log_ratio, lambda power: fmt.ratio(2**power) if power else "none seen"),
    "compiled call": Shade(lambda row: row.compiled_s, fmt.duration_s),
    "compile time": Shade(lambda row: row.compile_s, fmt.duration_s),
    "compilations": Shade(lambda row: row.compilations, fmt.number),
    "kernels": Shade(lambda row: row.kernels, fmt.number),
}


def measured(rows: Sequence[SweepRow]) -> list[Measure]:
    """Return the measures that at least one row has."""
    return [name for name, shade in MEASURES.items() if any(shade.value(row) is not None for row in rows)]


def heat_map(
    rows: Sequence[SweepRow], down: Sequence[str], across: Sequence[str], measure: Measure, on: Theme
) -> go.Figure:
    """Draw one number per cell, as a shade and as text; a cell without a value is empty."""
    shade = MEASURES[measure]
    by_place = {row.at: row for row in rows}
    cells = [[by_place.get((one, other)) for other in across] for one in down]
    values = [[None if row is None else shade.value(row) for row in line] for line in cells]
    known = [value for line in values for value in line if value is not None]
    figure = go.Figure()
    figure.add_heatmap(
        x=list(across),
        y=list(down),
        z=values if measure == "speedup" else [[_log(value) for value in line] for line in values],
        text=[["" if value is None else shade.words(value) for value in line] for line in values],
        texttemplate="%{text}",
        textfont={"color": INK[on]},
        hovertext=[[_hover(row) for row in line] for line in cells],
        hovertemplate="%{hovertext}<extra></extra>",
        showscale=False,
        xgap=2,
        ygap=2,
        **(
            _two_sided(known, on)
            if measure == "speedup"
            else {"colorscale": [[0, PAPER[on]], [1, blended(kernel_colour(0), PAPER[on], SHADE)]]}
        ),
    )
    figure.update_layout(**plotly_layout(on), height=min(MOST_PX, FRAME_PX + ROW_PX * len(down)))
    figure.update_layout(plot_bgcolor=GRID[on])
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(showgrid=False, type="category", side="top")
    return figure


def _two_sided(known: Sequence[float], on: Theme) -> dict[str, object]:
    """Return the colour scale of a ratio: compiled is faster on one side, eager on the other."""
    most = max([math.log2(FULL), *map(abs, known)])
    eager, compiled = (blended(kernel_colour(place), PAPER[on], SHADE) for place in (1, 0))
    return {"zmin": -most, "zmax": most, "colorscale": [[0, eager], [0.5, PAPER[on]], [1, compiled]]}


def _log(value: float | None) -> float | None:
    return None if value is None or value < 0 else math.log10(max(value, 1e-9)) if value < 1 else math.log10(1 + value)


def _hover(row: SweepRow | None) -> str:
    if row is None or row.state == "waiting":
        return "not made yet"
    told = [f"<b>{label(row)}</b>", row.state]
    if row.ratio is not None:
        told.append(f"{ratio_words(row.ratio)}: {row.claim}")
    if row.compiled_s is not None:
        told.append(f"eager {fmt.duration_s(row.eager_s)}, compiled {fmt.duration_s(row.compiled_s)}")
    return "<br>".join(told)


def calls_chart(rows: Sequence[SweepRow], on: Theme) -> go.Figure:
    """Draw each cell's calls by outcome: compiled, reused, mixed, eager, or raised."""
    ways = {
        "compiled": PHASES["dynamo"].on(on),
        "reused": kernel_colour(2),
        "mixed": kernel_colour(5),
        "eager": GRID[on],
        "raised": STATUS["bad"].on(on),
    }
    shown = [row for row in rows if row.calls][::-1]
    figure = go.Figure()
    for how, colour in ways.items():
        there = [(row, place) for row in shown for place, call in enumerate(row.calls) if call.how == how]
        if not there:
            continue
        figure.add_bar(
            orientation="h",
            name=how,
            y=[label(row) for row, _ in there],
            x=[0.96] * len(there),
            base=[place + 0.02 for _, place in there],
            width=0.86,
            marker={"color": colour},
            text=[how] * len(there),
            textposition="inside",
            insidetextanchor="middle",
            hovertext=[_call_hover(row, place) for row, place in there],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    most = max(len(row.calls) for row in shown)
    inputs = next(row.calls for row in shown if len(row.calls) == most)
    figure.update_layout(**plotly_layout(on), height=min(MOST_PX, FRAME_PX + ROW_PX * len(shown)), barmode="overlay")
    figure.update_xaxes(
        range=[0, most],
        tickvals=[place + 0.5 for place in range(most)],
        ticktext=[f"call {place}: {call.inputs[:40]}" for place, call in enumerate(inputs)],
        showgrid=False,
        side="top",
        zeroline=False,
    )
    order = [label(row) for row in shown]
    figure.update_yaxes(showgrid=False, tickfont={"color": INK[on]}, categoryorder="array", categoryarray=order)
    figure.update_layout(showlegend=False, font={"color": MUTED[on]})
    return figure


def _call_hover(row: SweepRow, place: int) -> str:
    call = row.calls[place]
    made = fmt.count(call.compilations, "compilation")
    took = f", {fmt.duration_s(call.compiled_s)}" if call.compiled_s is not None else ""
    return f"<b>{label(row)}</b><br>call {place}: {call.how}, {made}{took}"

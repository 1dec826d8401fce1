"""The pictures of a sweep, chosen by its axes and its preset.

Plotly figures over two label axes: one number per cell, and the outcome of each call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import plotly.graph_objects as go
import streamlit as st

from core.base import words as fmt
from core.sweep import Axis, SweepRow
from core.sweep.presets import BreakEven, Crossover, preset_of
from core.views.speedup import ratio_words
from pages.look.charts import PLOTLY_CONFIG, blended, plotly_layout
from pages.look.palette import GRID, INK, MUTED, PAPER, PHASES, STATUS, Theme, kernel_colour
from pages.parts.sweep.charts import (
    Series,
    cumulative_chart,
    label,
    memory_chart,
    phases_chart,
    ratio_lines,
    time_lines,
    times_chart,
)
from pages.session import url
from pages.session.cache import kept, theme
from pages.session.sweeps import ShownSweep

MOST_BARS = 40
NAMES = {"batch": "batch size", "threads": "threads"}
Measure = Literal["speedup", "compiled call", "compile time", "compilations", "kernels"]
ROW_PX, FRAME_PX, MOST_PX = 40, 90, 640
# Ratios from here on have the full colour.
FULL = 4.0
# The fullest shade has this fraction of the colour, so that text on it has enough contrast.
SHADE = 0.55


def pictures(shown: ShownSweep) -> None:
    """Draw the pictures, two of them side by side; nothing before a cell is done."""
    done = [row for row in shown.rows if row.state == "done"]
    if not done:
        return
    axes, on = shown.sweep.axes, theme()
    picture = preset_of(shown.sweep).picture
    if picture == "calls" and any(call.how for row in done for call in row.calls):
        _shown(shown, {"calls": lambda: calls_chart(done, on)}, on)
    elif picture == "cumulative" and _costs(shown, done):
        _shown(shown, {"spent": lambda: _cumulative(shown, done, on), **_phases(done, on)}, on)
    elif numeric(axes) is not None and sum(row.ratio is not None for row in done) > 1:
        _lines(shown, done, on)
    elif len(axes) == 2:
        _heat(shown, done, on)
    else:
        _bars(shown, done[:MOST_BARS], on)


def _shown(shown: ShownSweep, figures: dict[str, Callable[[], go.Figure]], on: Theme) -> None:
    """Draw each figure, cached for all sessions as long as the sweep has no new data."""
    columns = st.columns(len(figures), gap="medium")
    for column, (name, make) in zip(columns, figures.items(), strict=True):
        with column:
            figure = kept(make, f"sweep-{name}", shown.moment, on)
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"sweep-{name}")


def _bars(shown: ShownSweep, done: Sequence[SweepRow], on: Theme) -> None:
    figures: dict[str, Callable[[], go.Figure]] = {}
    if any(row.eager_peak_bytes is not None and row.compiled_peak_bytes is not None for row in done):
        figures["memory"] = lambda: memory_chart(done, on)
    if any(row.eager_s is not None and row.compiled_s is not None for row in done):
        figures["times"] = lambda: times_chart(done, on)
    if len(figures) < 2:
        figures |= _phases(done, on)
    if figures:
        _shown(shown, figures, on)


def _phases(done: Sequence[SweepRow], on: Theme) -> dict[str, Callable[[], go.Figure]]:
    """Return the chart of compile time by phase, if it was recorded."""
    return {"phases": lambda: phases_chart(done, on)} if any(row.phases_s for row in done) else {}


def numeric(axes: Sequence[Axis]) -> int | None:
    """Return the only numeric axis among one or two; None without one, or if there are more axes."""
    found = [place for place, axis in enumerate(axes) if len(axis.values) > 1 and all(map(_is_number, axis.values))]
    return found[0] if len(found) == 1 and len(axes) <= 2 else None


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _lines(shown: ShownSweep, done: Sequence[SweepRow], on: Theme) -> None:
    """Return the chart of the ratio with its interval, and that of both times if there is only one series."""
    axes = shown.sweep.axes
    place = numeric(axes) or 0
    title = NAMES.get(axes[place].field, axes[place].field)
    values = dict(zip(axes[place].named(), axes[place].values, strict=True))
    series: dict[str, list[tuple[float, SweepRow]]] = {}
    for row in done:
        if row.ratio is not None:
            name = ", ".join(label for index, label in enumerate(row.at) if index != place)
            series.setdefault(name, []).append((float(str(values[row.at[place]])), row))
    ordered: Series = {name: sorted(points, key=lambda point: point[0]) for name, points in series.items()}
    crossing = next((fact for fact in shown.answer.facts if isinstance(fact, Crossover)), None)
    known = crossing is not None and crossing.slow is not None and crossing.fast is not None
    between = (crossing.slow or 0.0, crossing.fast or 0.0) if crossing is not None and known else None
    figures: dict[str, Callable[[], go.Figure]] = {"ratio": lambda: ratio_lines(ordered, title, between, on)}
    if len(ordered) == 1:
        figures["lines"] = lambda: time_lines(next(iter(ordered.values())), title, on)
    _shown(shown, figures, on)


def _heat(shown: ShownSweep, done: Sequence[SweepRow], on: Theme) -> None:
    """Draw one measure of all cells, chosen by the visitor."""
    offered = measured(done)
    if not offered:
        return
    url.read(url.MEASURE, offered, offered[0])
    chosen: Measure | None = st.segmented_control("Measure", offered, key=url.MEASURE, label_visibility="collapsed")
    wanted = chosen or offered[0]
    url.write(url.MEASURE)
    down, across = (axis.named() for axis in shown.sweep.axes)
    make = lambda: heat_map(shown.rows, down, across, wanted, on)  # noqa: E731
    figure = kept(make, f"heat-{wanted}", shown.moment, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="sweep-heat")


def _costs(shown: ShownSweep, done: Sequence[SweepRow]) -> dict[str, float]:
    """Return the cost of the first calls in seconds by cell, for the cells that were timed."""
    told = {fact.label: fact.cost_s for fact in shown.answer.facts if isinstance(fact, BreakEven)}
    return {row.at[0]: cost_s for row in done if row.eager_s and (cost_s := told.get(", ".join(row.at))) is not None}


def _cumulative(shown: ShownSweep, done: Sequence[SweepRow], on: Theme) -> go.Figure:
    costs_s = _costs(shown, done)
    timed = [row for row in done if row.at[0] in costs_s]
    return cumulative_chart(timed, [costs_s[row.at[0]] for row in timed], on)


def progress_words(shown: ShownSweep) -> str:
    """Describe a sweep's progress, its current cells, and the estimated time left."""
    at = shown.standing
    parts = [f"{fmt.number(at.done)} of {fmt.count(at.total, 'cell')} done"]
    if at.failed:
        parts.append(f"{fmt.number(at.failed)} failed")
    if at.live and at.now:
        parts.append("now " + "; ".join(", ".join(one) for one in at.now))
    if at.live and shown.left_s is not None:
        left = f"{fmt.duration_s(round(shown.left_s))} left"
        known = f"about {left}, estimated by the cells so far"
        parts.append(f"at least {left}: no cell with {at.untried} has ended yet" if at.untried else known)
    return " · ".join(parts)


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

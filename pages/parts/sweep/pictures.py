"""The pictures of a sweep, chosen by its axes and its preset."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import plotly.graph_objects as go
import streamlit as st

from core.base import words as fmt
from core.sweep import Axis, SweepRow
from core.sweep.presets import BreakEven, Crossover, preset_of
from pages.look.charts import PLOTLY_CONFIG
from pages.look.palette import Theme
from pages.parts.sweep.charts import memory_chart, phases_chart, times_chart
from pages.parts.sweep.heat import Measure, calls_chart, heat_map, measured
from pages.parts.sweep.lines import Series, cumulative_chart, ratio_lines, time_lines
from pages.session import url
from pages.session.figures import kept, theme
from pages.session.sweeps import ShownSweep

MOST_BARS = 40
NAMES = {"batch": "batch size", "threads": "threads"}


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

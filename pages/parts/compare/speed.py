"""Steady-state calls of two runs: seconds, and the interval of their ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence

import plotly.graph_objects as go
import streamlit as st

from core.base import words as fmt
from core.views.compare import CompareTimes, CompareView
from pages.look.charts import PLOTLY_CONFIG, median_bars, plotly_layout
from pages.look.palette import GRID, INK, Theme, kernel_colour
from pages.parts.run.measure import measure_now
from pages.parts.run.submit import job_again, submit_or_open
from pages.session.figures import kept, theme
from pages.session.view import RunView

# The colours that eager and compiled have on the page Speedup.
COLOURS = {"compiled": 0, "eager": 3}
# The distance of the bounds → the ticks of the axis.
TICKS: tuple[tuple[float, tuple[float, ...]], ...] = (
    (1.25, (0.8, 0.85, 0.9, 0.95, 1.0, 1.05, 1.1, 1.15, 1.2, 1.25)),
    (3.0, (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.4, 1.6, 2.0, 2.5, 3.0)),
    (math.inf, tuple(2.0**power for power in range(-12, 13))),
)
TOGETHER = (
    "A new run times both compiled calls in turn in one process, which shows a difference that is smaller than the "
    "drift between two."
)


def times(compare: CompareView, left: RunView, right: RunView) -> None:
    """Draw the claim, the seconds, and the intervals that it is based on."""
    if compare.times is None:
        _unmeasured(compare, left)
        return
    times, on = compare.times, theme()
    st.caption(times.method)
    key = (left.run.id, left.report.log_bytes, right.run.id, right.report.log_bytes, on)
    columns = st.columns(2, gap="medium")
    with columns[0]:
        st.header("Seconds of a call", anchor=False)
        figure = kept(lambda: seconds_chart(times, on), "compare-seconds", *key)
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="compare-seconds")
    with columns[1]:
        st.header("How many times faster the right one is", anchor=False)
        if times.unknown:
            st.write(times.unknown)
            return
        ratios = kept(lambda: ratio_chart(times, on), "compare-ratio", *key)
        st.plotly_chart(ratios, theme=None, config=PLOTLY_CONFIG, key="compare-ratio")
        st.caption(times.claim)
        _time_together(times, left, right)


def _time_together(times: CompareTimes, left: RunView, right: RunView) -> None:
    """Offer to time both compiled calls alternately in one process, if the jobs differ in compile settings only."""
    job = job_again(left)
    both = times.together(job, right.job) if job is not None and right.job is not None else None
    if both is not None and st.button(
        "Time both in one process", key="compare-rival", icon=":material/sync_alt:", help=TOGETHER
    ):
        submit_or_open(both)


def _unmeasured(compare: CompareView, left: RunView) -> None:
    for side in compare.unmeasured:
        st.write(f"The {side} run was not measured, so calls are not compared.")
    if "left" in compare.unmeasured:
        measure_now(left)


def seconds_chart(times: CompareTimes, on: Theme) -> go.Figure:
    """Draw median seconds per call of both runs, eager and compiled, with quartiles as error bars."""
    rows = [(f"{bar.kind}, {bar.side}", bar.median_s, bar.quartiles_s, COLOURS[bar.kind]) for bar in times.medians]
    figure = median_bars(rows, on, 240)
    order = [f"{kind}, {side}" for kind in ("compiled", "eager") for side in ("right", "left")]
    figure.update_yaxes(categoryorder="array", categoryarray=order)
    return figure


def ratio_chart(times: CompareTimes, on: Theme) -> go.Figure:
    """Draw the intervals on a logarithmic axis, with one marked; to its right the right run is faster."""
    figure = go.Figure()
    for ratio in times.ratios:
        colour = kernel_colour(0) if ratio.claim else INK[on]
        figure.add_scatter(
            x=[ratio.middle],
            y=[ratio.name],
            mode="markers",
            marker={"color": colour, "size": 10 if ratio.claim else 7},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [ratio.high - ratio.middle],
                "arrayminus": [ratio.middle - ratio.low],
                "color": colour,
                "thickness": 3 if ratio.claim else 1.5,
            },
            hovertemplate=f"{ratio.name}: {ratio.words}<extra></extra>",
        )
    figure.add_vline(x=1, line={"color": INK[on], "dash": "dot", "width": 1.5})
    figure.add_vrect(x0=1 / 1.02, x1=1.02, fillcolor=GRID[on], opacity=0.6, line_width=0, layer="below")
    figure.update_layout(**plotly_layout(on), height=240, showlegend=False)
    bounds = [bound for ratio in times.ratios for bound in (ratio.low, ratio.high)]
    figure.update_xaxes(title="times faster, log; 1 is no difference", type="log", **_ticks(bounds))
    return figure


def _ticks(bounds: Sequence[float]) -> dict[str, object]:
    """Return readable ticks: the closer all bounds are to one, the finer."""
    low, high = min(1.0, *bounds), max(1.0, *bounds)
    finest = next(ticks for spread, ticks in TICKS if high / low < spread)
    ticks = [tick for tick in finest if low / 2 < tick < 2 * high]
    return {"tickvals": ticks, "ticktext": [fmt.ratio(tick) for tick in ticks]}

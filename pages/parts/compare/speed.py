"""Steady-state calls of two runs: seconds, and the interval of their ratio."""

from __future__ import annotations

import math
from dataclasses import replace

import plotly.graph_objects as go
import streamlit as st

from core import CompileJob, CompileOptions, speed
from core.analysis import Interval, Speed
from core.analysis.comparison import RunComparison, TimeComparison, seconds_words, speed_words
from core.base import words as fmt
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
IN_TURN = (
    "A new run times both compiled calls in turn in one process, which shows a difference that is smaller than the "
    "drift between two."
)
HOW = (
    "The two were measured in processes of their own, one after the other, so the machine may have changed between "
    "them. The ratio of the seconds is held against the ratio of how much faster than its own eager each is, which a "
    "slower machine leaves as it is; the interval spans both, each with 99 % confidence by the Mann-Whitney test over "
    "blocks of samples. Below 2 % no difference is claimed."
)


def times(found: RunComparison, left: RunView, right: RunView) -> None:
    """Draw the claim, the seconds, and the intervals that it is based on."""
    compared = found.times
    if compared is None:
        _missing(left, right)
        return
    st.caption(f"{seconds_words(compared)}. {HOW}")
    key = (left.run.id, left.report.log_bytes, right.run.id, right.report.log_bytes, on := theme())
    columns = st.columns(2, gap="medium")
    with columns[0]:
        st.header("Seconds of a call", anchor=False)
        figure = kept(lambda: seconds_chart(compared.left, compared.right, on), "compare-seconds", *key)
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="compare-seconds")
    with columns[1]:
        st.header("How many times faster the right one is", anchor=False)
        if compared.interval is None or compared.interval.wide:
            st.write(f"{compared.why_not[:1].upper()}{compared.why_not[1:]}.")
            return
        ratios = kept(lambda: ratio_chart(compared, on), "compare-ratio", *key)
        st.plotly_chart(ratios, theme=None, config=PLOTLY_CONFIG, key="compare-ratio")
        st.caption(claim_words(compared))
        in_turn(left, right)


def claim_words(compared: TimeComparison) -> str:
    """Return the claim that the intervals allow."""
    if not compared.comparable:
        return f"Not comparable: {compared.disturbed}, and eager is not the same work in both, which would tell."
    said = speed_words(compared)
    return f"{said[:1].upper()}{said[1:]}{f'; {compared.disturbed}' if compared.disturbed else ''}."


def in_turn(left: RunView, right: RunView) -> None:
    """Offer to time both compiled calls alternately in one process, if the jobs differ in compile settings only."""
    job, other = job_again(left), right.job
    if job is None or other is None or job.target or job.compile == other.compile:
        return
    if _asked(job) != _asked(other):
        return
    if st.button("Time both in one process", key="compare-rival", icon=":material/sync_alt:", help=IN_TURN):
        submit_or_open(replace(job, measure=True, rival=other.compile))


def _asked(job: CompileJob) -> CompileJob:
    """Return a job without its settings for compiling, measuring and limits."""
    return replace(
        job, compile=CompileOptions(), rival=None, measure=True, memory=False, numerics="", sweep="",
        time_limit_s=1.0, memory_limit_bytes=1, from_file=None,
    )  # fmt: skip


def _missing(left: RunView, right: RunView) -> None:
    for name, view in (("left", left), ("right", right)):
        if speed(view.report.timing) is None:
            st.write(f"The {name} run was not measured, so calls are not compared.")
    if speed(left.report.timing) is None:
        measure_now(left)


def seconds_chart(left: Speed, right: Speed, on: Theme) -> go.Figure:
    """Draw median seconds per call of both runs, eager and compiled, with quartiles as error bars."""
    rows = [
        (f"{kind}, {side}", median_s, quartiles_s, COLOURS[kind])
        for side, found in (("right", right), ("left", left))
        for kind, median_s, quartiles_s in (
            ("eager", found.eager_s, found.eager_quartiles_s),
            ("compiled", found.compiled_s, found.compiled_quartiles_s),
        )
    ]
    figure = median_bars(rows, on, 240)
    order = [f"{kind}, {side}" for kind in ("compiled", "eager") for side in ("right", "left")]
    figure.update_yaxes(categoryorder="array", categoryarray=order)
    return figure


def ratio_chart(found: TimeComparison, on: Theme) -> go.Figure:
    """Draw the intervals on a logarithmic axis, with one marked; to its right the right run is faster."""
    rows: list[tuple[str, Interval | None, bool]] = [
        ("eager itself", found.eager, False),
        ("against its own eager", found.against_eager, False),
        ("by seconds", found.seconds, found.against_eager is None),
        ("both: the claim", found.interval if found.against_eager else None, True),
    ]
    figure = go.Figure()
    for name, interval, claim in rows:
        if interval is None:
            continue
        figure.add_scatter(
            x=[interval.middle],
            y=[name],
            mode="markers",
            marker={"color": kernel_colour(0) if claim else INK[on], "size": 10 if claim else 7},
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [interval.high - interval.middle],
                "arrayminus": [interval.middle - interval.low],
                "color": kernel_colour(0) if claim else INK[on],
                "thickness": 3 if claim else 1.5,
            },
            hovertemplate=f"{name}: {fmt.ratio(interval.middle, (interval.low, interval.high))}<extra></extra>",
        )
    known = [interval for _, interval, _ in rows if interval is not None]
    figure.add_vline(x=1, line={"color": INK[on], "dash": "dot", "width": 1.5})
    figure.add_vrect(x0=1 / 1.02, x1=1.02, fillcolor=GRID[on], opacity=0.6, line_width=0, layer="below")
    figure.update_layout(**plotly_layout(on), height=240, showlegend=False)
    figure.update_xaxes(title="times faster, log; 1 is no difference", type="log", **_ticks(known))
    return figure


def _ticks(known: list[Interval]) -> dict[str, object]:
    """Return readable ticks: the closer all values are to one, the finer."""
    low, high = min(1.0, *(one.low for one in known)), max(1.0, *(one.high for one in known))
    finest = next(ticks for spread, ticks in TICKS if high / low < spread)
    chosen = [tick for tick in finest if low / 2 < tick < 2 * high]
    return {"tickvals": chosen, "ticktext": [fmt.ratio(tick) for tick in chosen]}

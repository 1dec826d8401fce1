"""The executions of a backend's compiled code: a chart of the first ones, and a line for each."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from core.base import words as fmt
from core.report import Execution, Executions
from pages.look.charts import in_unit, plotly_layout
from pages.look.palette import MUTED, STATUS, Theme, kernel_colour
from pages.look.text import LONGEST_LINE, one_line

HEIGHT = 300
MOST_IN_LEGEND = 10
# A chart of few bars has room for at least so many, so that no bar is as wide as the page.
LEAST_ROOM = 8
OUTSIDE, FAILED = "outside of the calls", "raised"


def executions_chart(executions: Sequence[Execution], ran: Executions | None, on: Theme) -> go.Figure:
    """Draw the seconds of each execution as bars, coloured by the call of the run, and the mean of the others."""
    outside = outside_seconds(executions, ran)
    factor, unit = in_unit(max([one.seconds for one in executions] + [outside or 0.0]))
    figure = go.Figure()
    kinds = list(dict.fromkeys(map(_kind, executions)))
    for kind in kinds:
        those = [one for one in executions if _kind(one) == kind]
        figure.add_bar(
            name=kind,
            x=[str(one.number) for one in those],
            y=[one.seconds * factor for one in those],
            marker={"color": _colour(those[0], on)},
            customdata=[_hover(one) for one in those],
            hovertemplate="%{customdata}<extra></extra>",
        )
    if outside is not None and ran is not None:
        name = f"mean of {fmt.number(ran.measured)} outside of the calls"
        figure.add_bar(
            name=name,
            x=["mean of the others"],
            y=[outside * factor],
            marker={"color": MUTED[on]},
            hovertemplate=f"{name}: {fmt.duration_s(outside)}<extra></extra>",
        )
    bars = len(executions) + (outside is not None)
    legend = len(kinds) <= MOST_IN_LEGEND
    figure.update_layout(**plotly_layout(on), height=HEIGHT, showlegend=legend, barmode="overlay")
    figure.update_xaxes(
        title="execution of what the backend returned", type="category", range=[-0.5, max(bars, LEAST_ROOM) - 0.5]
    )
    figure.update_yaxes(title=f"time ({unit})", rangemode="tozero")
    return figure


def outside_seconds(executions: Sequence[Execution], ran: Executions | None) -> float | None:
    """Return the mean seconds of the executions outside of the calls.

    None if there are none, or if not all executions of the calls are listed.
    """
    told = [one.seconds for one in executions if one.call is not None]
    if ran is None or not ran.measured or len(told) != ran.calls:
        return None
    return max(0.0, ran.seconds - sum(told)) / ran.measured


def _kind(execution: Execution) -> str:
    if execution.problem:
        return FAILED
    return OUTSIDE if execution.call is None else f"call {fmt.number(execution.call)}"


def _colour(execution: Execution, on: Theme) -> str:
    if execution.problem:
        return STATUS["bad"].on(on)
    return MUTED[on] if execution.call is None else kernel_colour(execution.call)


def _hover(execution: Execution) -> str:
    """Return the hover text, escaped, since Plotly reads some HTML."""
    lines = (
        f"{_kind(execution)}: {fmt.duration_s(execution.seconds)}",
        f"{', '.join(execution.inputs)} → {', '.join(execution.outputs)}",
    )
    return "<br>".join(one_line(line, LONGEST_LINE).replace("<", "&lt;") for line in lines)


def execution_rows(executions: Sequence[Execution]) -> pd.DataFrame:
    """Return one row per execution."""
    return pd.DataFrame(
        [
            {
                "execution": one.number,
                "call": "–" if one.call is None else fmt.number(one.call),
                "time": fmt.duration_s(one.seconds),
                "given": one_line(", ".join(one.inputs), LONGEST_LINE),
                "returned": one_line(one.problem or ", ".join(one.outputs), LONGEST_LINE),
            }
            for one in executions
        ]
    )


def ran_words(ran: Executions | None, reported: int) -> str:
    """Describe how often the compiled code ran, in the calls of the run and outside of them."""
    if ran is None:
        return "How often it ran was not recorded."
    first = f"; the first {fmt.number(reported)} are told one by one" if reported < ran.calls else ""
    outside = f", and {fmt.count(ran.measured, 'time')} outside of them, as while measuring" if ran.measured else ""
    return f"What the backend returned ran {fmt.count(ran.calls, 'time')} in the calls of the run{first}{outside}."

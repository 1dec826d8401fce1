"""Plotly figures of errors compared with float64: of call results, and of nodes in execution order."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from core.base import words as fmt
from core.report import Accuracy
from core.views.numerics import ErrorPoint, NodeNumericsView
from pages.look.charts import plotly_layout
from pages.look.palette import INK, MUTED, PAPER, STATUS, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line
from pages.parts.performance.charts import COLOURS, COMPILED, EAGER

SYMBOLS = {EAGER: "circle-open", COMPILED: "circle"}
TOLERANCE = "tolerance"
MOST_RESULTS = 16
LABEL_LETTERS = 34
ROW_PX, AROUND_PX = 22, 96
NODES_PX = 280
EXACT = "none"
TICKS = 8
FEW_NODES, FEW_LETTERS = 12, 14


def results_chart(points: Sequence[ErrorPoint], on: Theme) -> go.Figure:
    """Draw both errors of each result on one line of a logarithmic axis; the largest first."""
    shown = points[:MOST_RESULTS]
    # Positions on the axis, one per node even if names are equal.
    names = [f"result {point.position}" for point in shown]
    calls = len({point.call for point in shown}) > 1
    low, axis = _axis([point.accuracy for point in shown])
    figure = go.Figure()
    figure.add_scatter(
        x=[point.accuracy.tolerance or None for point in shown],
        y=names,
        mode="markers",
        name=TOLERANCE,
        marker={"symbol": "line-ns-open", "color": MUTED[on], "size": 14},
        hovertemplate="tolerance %{x}<extra></extra>",
    )
    for side in (EAGER, COMPILED):
        figure.add_scatter(
            x=[_placed(point.errors[side], low) for point in shown],
            y=names,
            mode="markers",
            name=side,
            marker={"color": kernel_colour(COLOURS[side]), "symbol": SYMBOLS[side], "size": 10, "line": {"width": 2}},
            hovertext=[_hover(point) for point in shown],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=AROUND_PX + ROW_PX * max(3, len(shown)))
    figure.update_xaxes(title="error against float64, log", **axis)
    labels = [_label(point.name) + (f", call {point.call}" if calls else "") for point in shown]
    figure.update_yaxes(autorange="reversed", tickvals=names, ticktext=labels)
    return figure


def nodes_chart(graph: NodeNumericsView, selected: str, on: Theme) -> go.Figure:
    """Draw both errors of each compared node, in execution order."""
    points = graph.points
    positions = [point.position for point in points]
    low, axis = _axis([point.accuracy for point in points])
    figure = go.Figure()
    figure.add_scatter(
        x=positions,
        y=[point.accuracy.tolerance or None for point in points],
        mode="lines",
        name=TOLERANCE,
        line={"color": MUTED[on], "dash": "dot", "shape": "hvh", "width": 1.5},
        hoverinfo="skip",
    )
    for side in (EAGER, COMPILED):
        figure.add_scatter(
            x=positions,
            y=[_placed(point.errors[side], low) for point in points],
            mode="lines+markers" if len(points) > 1 else "markers",
            name=side,
            line={"color": kernel_colour(COLOURS[side]), "width": 1.25},
            marker={"symbol": SYMBOLS[side], "size": 7},
            customdata=[[point.name] for point in points],
            hovertext=[_hover(point) for point in points],
            hovertemplate="%{hovertext}<extra></extra>",
            unselected={"marker": {"opacity": 1}},
        )
    for point in points:
        if point.name in (graph.first_to_differ, selected):
            _mark(figure, point, low, point.name == graph.first_to_differ, on)
    figure.update_layout(**plotly_layout(on), height=NODES_PX, clickmode="event+select")
    few = {"tickvals": positions, "ticktext": [_label(point.name, FEW_LETTERS) for point in points]}
    ticks = few if len(points) <= FEW_NODES else {"tickformat": ",d"}
    figure.update_xaxes(title="node of the graph, in the order in which they run", zeroline=False, **ticks)
    figure.update_yaxes(title="error against float64, log", **axis)
    return figure


def _mark(figure: go.Figure, point: ErrorPoint, low: float, first: bool, on: Theme) -> None:
    """Mark a node with a ring and its name: the first that differs in red, else the selected one."""
    error = _placed(point.errors[COMPILED], low)
    if error is None:
        return
    colour = STATUS["bad"].on(on) if first else INK[on]
    figure.add_scatter(
        x=[point.position],
        y=[error],
        mode="markers",
        showlegend=False,
        hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 15, "color": colour, "line": {"width": 2}},
    )
    # On a logarithmic axis plotly places an annotation by the logarithm.
    figure.add_annotation(
        x=point.position,
        y=math.log10(error),
        text=_label(point.name) + (", the first that differs" if first else ""),
        showarrow=False,
        xanchor="left",
        xshift=2,
        yshift=-18,
        bgcolor=PAPER[on],
        font={"color": colour},
    )


def _placed(error: float | None, low: float) -> float | None:
    """Return an error's position on an axis without zero: an error of zero is at its start. None without an error."""
    return None if error is None else max(error, low)


def _ends(accuracies: Sequence[Accuracy]) -> tuple[int, int, bool]:
    """Return the powers of ten around all errors and tolerances, and True if an error is zero."""
    pairs = [(accuracy.eager_error, accuracy.compiled_error) for accuracy in accuracies]
    errors = [error for pair in pairs for error in pair if error is not None]
    positive = [error for error in (*errors, *(accuracy.tolerance for accuracy in accuracies)) if error > 0]
    low, high = min(positive, default=1e-9), max(positive, default=1.0)
    return math.floor(math.log10(low)), math.ceil(math.log10(high)), 0 in errors


def _axis(accuracies: Sequence[Accuracy]) -> tuple[float, dict[str, Any]]:
    """Return a logarithmic axis of errors, and the position on it of an error of zero."""
    first, last, exact = _ends(accuracies)
    powers = range(first, last + 1, 1 + (last - first) // TICKS)
    values, texts = [10.0**power for power in powers], [fmt.power_of_ten(power) for power in powers]
    zero = 10.0 ** (first - 1)
    if exact:
        values, texts = [zero, *values], [EXACT, *texts]
    start = first - (1.3 if exact else 0.2)
    return zero, {"type": "log", "tickvals": values, "ticktext": texts, "range": [start, last + 0.2]}


def _hover(point: ErrorPoint) -> str:
    dtype, errors, tolerance = point.details
    return f"<b>{_label(point.name, LONGEST_NAME)}</b> {dtype}<br>{errors}<br>{tolerance}"


def _label(name: str, limit: int = LABEL_LETTERS) -> str:
    """Return a name as escaped text, since Plotly reads some HTML."""
    return html.escape(one_line(name.replace("`", ""), limit))

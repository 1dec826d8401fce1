"""Plotly figures of errors compared with float64: of call results, and of nodes in execution order."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from core.analysis.numerics import ResultStanding, first_apart
from core.base import words as fmt
from core.report import Accuracy, GraphNumerics, NodeAccuracy
from pages.look.charts import plotly_layout
from pages.look.palette import INK, MUTED, PAPER, STATUS, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line
from pages.parts.performance.charts import COMPILED, EAGER

COLOURS = {EAGER: 3, COMPILED: 0}
SYMBOLS = {EAGER: "circle-open", COMPILED: "circle"}
TOLERANCE = "tolerance"
MOST_RESULTS = 16
LABEL_LETTERS = 34
ROW_PX, AROUND_PX = 22, 96
NODES_PX = 280
EXACT = "none"
TICKS = 8
FEW_NODES, FEW_LETTERS = 12, 14


def results_chart(found: Sequence[ResultStanding], on: Theme) -> go.Figure:
    """Draw both errors of each result on one line of a logarithmic axis; the largest first."""
    shown = [item for item in found if item.accuracy.compiled_error is not None][:MOST_RESULTS]
    # Positions on the axis, one per node even if names are equal.
    names = [f"result {index}" for index in range(len(shown))]
    calls = len({item.call for item in shown}) > 1
    low, axis = _axis([item.accuracy for item in shown])
    figure = go.Figure()
    figure.add_scatter(
        x=[item.accuracy.tolerance or None for item in shown],
        y=names,
        mode="markers",
        name=TOLERANCE,
        marker={"symbol": "line-ns-open", "color": MUTED[on], "size": 14},
        hovertemplate="tolerance %{x}<extra></extra>",
    )
    for side in (EAGER, COMPILED):
        figure.add_scatter(
            x=[_placed(_error(item.accuracy, side), low) for item in shown],
            y=names,
            mode="markers",
            name=side,
            marker={"color": kernel_colour(COLOURS[side]), "symbol": SYMBOLS[side], "size": 10, "line": {"width": 2}},
            hovertext=[_hover(item.what, item.accuracy) for item in shown],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    figure.update_layout(**plotly_layout(on), height=AROUND_PX + ROW_PX * max(3, len(shown)))
    figure.update_xaxes(title="error against float64, log", **axis)
    figure.update_yaxes(autorange="reversed", tickvals=names, ticktext=[_result(item, calls) for item in shown])
    return figure


def nodes_chart(found: GraphNumerics, selected: str, on: Theme) -> go.Figure:
    """Draw both errors of each compared node, in execution order."""
    shown = [(at, node) for at, node in enumerate(found.nodes) if node.accuracy is not None]
    low, axis = _axis([node.accuracy for _, node in shown if node.accuracy])
    figure = go.Figure()
    figure.add_scatter(
        x=[at for at, _ in shown],
        y=[node.accuracy.tolerance or None for _, node in shown if node.accuracy],
        mode="lines",
        name=TOLERANCE,
        line={"color": MUTED[on], "dash": "dot", "shape": "hvh", "width": 1.5},
        hoverinfo="skip",
    )
    for side in (EAGER, COMPILED):
        figure.add_scatter(
            x=[at for at, _ in shown],
            y=[_placed(_error(node.accuracy, side), low) for _, node in shown if node.accuracy],
            mode="lines+markers" if len(shown) > 1 else "markers",
            name=side,
            line={"color": kernel_colour(COLOURS[side]), "width": 1.25},
            marker={"symbol": SYMBOLS[side], "size": 7},
            customdata=[[node.name] for _, node in shown],
            hovertext=[_hover(node.name, node.accuracy) for _, node in shown if node.accuracy],
            hovertemplate="%{hovertext}<extra></extra>",
            unselected={"marker": {"opacity": 1}},
        )
    first = first_apart(found)
    for at, node in shown:
        if node is first or node.name == selected:
            _mark(figure, at, node, low, (first is node, on))
    figure.update_layout(**plotly_layout(on), height=NODES_PX, clickmode="event+select")
    few = {"tickvals": [at for at, _ in shown], "ticktext": [_words(node.name, FEW_LETTERS) for _, node in shown]}
    named = few if len(shown) <= FEW_NODES else {"tickformat": ",d"}
    figure.update_xaxes(title="node of the graph, in the order in which they run", zeroline=False, **named)
    figure.update_yaxes(title="error against float64, log", **axis)
    return figure


def _mark(figure: go.Figure, at: int, node: NodeAccuracy, low: float, look: tuple[bool, Theme]) -> None:
    """Mark a node with a ring and its name: the first that differs in red, else the selected one."""
    first, on = look
    error = _placed(_error(node.accuracy, COMPILED), low) if node.accuracy else None
    if error is None:
        return
    colour = STATUS["bad"].on(on) if first else INK[on]
    figure.add_scatter(
        x=[at],
        y=[error],
        mode="markers",
        showlegend=False,
        hoverinfo="skip",
        marker={"symbol": "circle-open", "size": 15, "color": colour, "line": {"width": 2}},
    )
    # On a logarithmic axis plotly places an annotation by the logarithm.
    figure.add_annotation(
        x=at,
        y=math.log10(error),
        text=_words(node.name) + (", the first that differs" if first else ""),
        showarrow=False,
        xanchor="left",
        xshift=2,
        yshift=-18,
        bgcolor=PAPER[on],
        font={"color": colour},
    )


def _error(found: Accuracy | None, side: str) -> float | None:
    if found is None:
        return None
    return found.eager_error if side == EAGER else found.compiled_error


def _placed(error: float | None, low: float) -> float | None:
    """Return an error's position on an axis without zero: an error of zero is at its start. None without an error."""
    return None if error is None else max(error, low)


def _ends(found: Sequence[Accuracy]) -> tuple[int, int, bool]:
    """Return the powers of ten around all errors and tolerances, and True if an error is zero."""
    errors = [error for item in found for error in (item.eager_error, item.compiled_error) if error is not None]
    known = [error for error in (*errors, *(item.tolerance for item in found)) if error > 0]
    low, high = min(known, default=1e-9), max(known, default=1.0)
    return math.floor(math.log10(low)), math.ceil(math.log10(high)), 0 in errors


def _axis(found: Sequence[Accuracy]) -> tuple[float, dict[str, Any]]:
    """Return a logarithmic axis of errors, and the position on it of an error of zero."""
    first, last, exact = _ends(found)
    powers = range(first, last + 1, 1 + (last - first) // TICKS)
    values, texts = [10.0**power for power in powers], [fmt.power_of_ten(power) for power in powers]
    nothing = 10.0 ** (first - 1)
    if exact:
        values, texts = [nothing, *values], [EXACT, *texts]
    begins = first - (1.3 if exact else 0.2)
    return nothing, {"type": "log", "tickvals": values, "ticktext": texts, "range": [begins, last + 0.2]}


def _hover(name: str, found: Accuracy) -> str:
    errors = f"eager {fmt.number(found.eager_error)}, compiled {fmt.number(found.compiled_error)}"
    return f"<b>{_words(name, LONGEST_NAME)}</b> {found.dtype}<br>{errors}<br>tolerance {fmt.number(found.tolerance)}"


def _result(found: ResultStanding, calls: bool) -> str:
    """Return a result's name, with its call if there are several."""
    return _words(found.what) + (f", call {found.call}" if calls else "")


def _words(name: str, limit: int = LABEL_LETTERS) -> str:
    """Return a name as escaped text, since Plotly reads some HTML."""
    return html.escape(one_line(name.replace("`", ""), limit))

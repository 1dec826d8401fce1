"""Parts of the page Numerics, and their Plotly figures.

Call results, and nodes in execution order, are compared with float64. Values are compared bit by bit with
another configuration.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from core.base import words as fmt
from core.views import numerics as views
from pages import menu
from pages.look.charts import go, plotly_layout
from pages.look.palette import INK, MUTED, PAPER, SHORT, STATUS, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, code, one_line
from pages.parts.performance.charts import COLOURS, COMPILED, EAGER
from pages.session import url
from pages.session.shown import RunView
from pages.session.tables import draw_chart, framed, picked_by_url, picked_points
from pages.session.url import page_link

COLOUR = "numerics"
SYMBOLS = {EAGER: "circle-open", COMPILED: "circle"}
TOLERANCE = "tolerance"
MOST_RESULTS = 16  #: results in the chart of errors against float64
LABEL_LETTERS = 34
ROW_PX, AROUND_PX = 22, 96
NODES_PX = 280
EXACT = "none"
TICKS = 8
FEW_NODES, FEW_LETTERS = 12, 14


def results_part(view: RunView, numerics: views.NumericsView) -> None:
    """Draw the errors of the results as a chart."""
    points = numerics.points
    draw_chart(view, views.RESULTS, partial(results_chart, points))
    if len(points) > MOST_RESULTS:
        st.caption(numerics.largest_words(MOST_RESULTS))


def nodes_part(view: RunView, graph: views.NodeNumericsView) -> None:
    """Draw the errors of all nodes in execution order; a click on a point selects its node."""
    key, chosen = f"{views.NODES}-{graph.compilation.id}", chosen_of(graph)
    make = partial(nodes_chart, graph, chosen)
    draw_chart(
        view,
        key,
        make,
        chosen,
        on_select=partial(_take_node, key, graph.graph.id if graph.graph else ""),
        selection_mode="points",
    )


def chosen_of(graph: views.NodeNumericsView) -> str:
    """Return the name of the selected node, or of the node that is selected at first."""
    return graph.chosen((url.selected() or "").removeprefix("n:"))


def _take_node(key: str, graph: str) -> None:
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"n:{point['customdata'][0]}", graph)


def node_table(graph: views.NodeNumericsView) -> None:
    """Draw a table with one row per node; a click selects it."""
    frame, settings = framed(graph.table)
    ids = [f"n:{node.name}" for node in graph.numerics.nodes]
    picked_by_url(frame, ids, graph.table.name, height=SHORT, column_config=settings)


def chosen_lines(view: RunView, draw_lines: Callable[..., object], graph: views.NodeNumericsView) -> None:
    """Draw a link from the chosen node to its place in the graph, and its lines by `draw_lines`."""
    chosen, of = chosen_of(graph), view.of(graph.compilation)
    if graph.graph is None or not chosen:
        return
    url.pick(f"n:{chosen}")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(code(chosen, LONGEST_NAME))
        more = {url.GRAPH: graph.graph.id, url.SELECT: f"n:{chosen}", url.COLOUR: COLOUR}
        page_link(menu.FX_GRAPH, label="Show it in the graph", **more)
    draw_lines(of, [*graph.nodes.values()], graph.nodes.get(chosen), f"numerics-{of.compilation.id}")


def results_chart(points: Sequence[views.ErrorPoint], on: Theme) -> go.Figure:
    """Draw the errors of the first `MOST_RESULTS` results, eager and compiled, on a logarithmic axis."""
    shown = points[:MOST_RESULTS]
    # Separate positions on the axis even for equal names.
    names = [f"result {point.position}" for point in shown]
    calls = len({point.call for point in shown}) > 1
    low, axis = _axis(shown)
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


def nodes_chart(graph: views.NodeNumericsView, selected: str, on: Theme) -> go.Figure:
    """Draw each compared node's error in eager and in compiled, in execution order."""
    points = graph.points
    positions = [point.position for point in points]
    low, axis = _axis(points)
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


def _mark(figure: go.Figure, point: views.ErrorPoint, low: float, first: bool, on: Theme) -> None:
    """Mark a node with a ring and its name, red for the first node that differs."""
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
    # On a logarithmic axis, Plotly expects an annotation's position as a logarithm.
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
    """Return an error's position on a logarithmic axis, at `low` for zero; None if there is no error."""
    return None if error is None else max(error, low)


def _ends(points: Sequence[views.ErrorPoint]) -> tuple[int, int, bool]:
    """Return the powers of ten around all errors and tolerances, and True if an error is zero."""
    accuracies = [point.accuracy for point in points]
    pairs = [(accuracy.eager_error, accuracy.compiled_error) for accuracy in accuracies]
    errors = [error for pair in pairs for error in pair if error is not None]
    positive = [error for error in (*errors, *(accuracy.tolerance for accuracy in accuracies)) if error > 0]
    low, high = min(positive, default=1e-9), max(positive, default=1.0)
    return math.floor(math.log10(low)), math.ceil(math.log10(high)), 0 in errors


def _axis(points: Sequence[views.ErrorPoint]) -> tuple[float, dict[str, Any]]:
    """Return where an error of zero is drawn, and the logarithmic axis of errors."""
    first, last, exact = _ends(points)
    powers = range(first, last + 1, 1 + (last - first) // TICKS)
    values, texts = [10.0**power for power in powers], [fmt.power_of_ten(power) for power in powers]
    zero = 10.0 ** (first - 1)
    if exact:
        values, texts = [zero, *values], [EXACT, *texts]
    start = first - (1.3 if exact else 0.2)
    return zero, {"type": "log", "tickvals": values, "ticktext": texts, "range": [start, last + 0.2]}


def _hover(point: views.ErrorPoint) -> str:
    dtype, errors, tolerance = point.details
    return f"<b>{_label(point.name, LONGEST_NAME)}</b> {dtype}<br>{errors}<br>{tolerance}"


def _label(name: str, limit: int = LABEL_LETTERS) -> str:
    """Return a name as escaped text, since Plotly reads some HTML."""
    return html.escape(one_line(name.replace("`", ""), limit))

"""Parts of the page Numerics, and their Plotly figures.

Call results, and nodes in execution order, are compared with float64. Values are compared bit by bit with
another configuration.
"""

from __future__ import annotations

import html
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import streamlit as st

from core.base import words as fmt
from core.report import FxGraph
from core.views.glossary import GLOSSARY
from core.views.numerics import ErrorPoint, NodeNumericsView, NumericsView
from pages import menu
from pages.look.charts import PLOTLY_CONFIG, go, plotly_layout
from pages.look.palette import INK, MUTED, PAPER, SHORT, STATUS, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, code, one_line
from pages.parts.performance.charts import COLOURS, COMPILED, EAGER
from pages.session import url
from pages.session.server import cached_figure, theme
from pages.session.shown import RunView, View
from pages.session.tables import columns, data_frame, in_words, picked_by_url, picked_points

COLOUR = "numerics"
FEW = 4
FORMS: dict[str, Callable[[Any], str]] = {
    "elements": fmt.number,
    "eager": fmt.number,
    "compiled": fmt.number,
    "of tolerance": fmt.ratio,
    "largest, eager": fmt.number,
    "largest, compiled": fmt.number,
    "apart": fmt.number,
}
COLUMNS = columns(NumericsView.column_help)
SYMBOLS = {EAGER: "circle-open", COMPILED: "circle"}
TOLERANCE = "tolerance"
MOST_RESULTS = 16
LABEL_LETTERS = 34
ROW_PX, AROUND_PX = 22, 96
NODES_PX = 280
EXACT = "none"
TICKS = 8
FEW_NODES, FEW_LETTERS = 12, 14


def bits_part(numerics: NumericsView) -> None:
    """Draw the comparison bit by bit with another configuration; nothing if none was requested."""
    if not numerics.bits:
        return
    st.header("Bit by bit", anchor=False, help=GLOSSARY["bit by bit"])
    st.write(numerics.bits)
    if numerics.bit_rows:
        height: int | Literal["content"] = SHORT if len(numerics.bit_rows) > MOST_RESULTS else "content"
        table = in_words(data_frame(numerics.bit_rows), {"largest difference": fmt.number})
        st.dataframe(table, hide_index=True, height=height)


def results_part(view: RunView, numerics: NumericsView) -> None:
    """Draw every result as a chart and a table."""
    rows, points, on = numerics.rows, numerics.points, theme()
    left, right = st.columns(2, gap="medium") if points else (None, st.container())
    if left is not None:
        with left:
            figure = cached_figure(
                lambda: results_chart(points, on), "numerics", view.run.id, view.report.log_bytes, on
            )
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="numerics-results")
            if len(points) > MOST_RESULTS:
                st.caption(numerics.largest_words(MOST_RESULTS))
    with right:
        as_drawn = AROUND_PX + ROW_PX * min(MOST_RESULTS, len(rows))
        height: int | Literal["content"] = as_drawn if len(rows) > FEW else "content"
        table = in_words(data_frame(rows), FORMS)
        st.dataframe(table, hide_index=True, height=height, column_config=COLUMNS, placeholder="")


def nodes_part(view: View, graph: NodeNumericsView, chosen: str) -> None:
    """Draw the errors of all nodes in execution order; a click on a point selects its node."""
    on = theme()
    parts = ("node-numerics", view.run.id, view.report.log_bytes, view.compilation.id, chosen, on)
    key = f"numerics-nodes-{view.compilation.id}"
    st.plotly_chart(
        cached_figure(lambda: nodes_chart(graph, chosen, on), *parts),
        theme=None,
        config=PLOTLY_CONFIG,
        key=key,
        on_select=partial(_take_node, key),
        selection_mode="points",
    )


def _take_node(key: str) -> None:
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"n:{point['customdata'][0]}")


def node_table(view: View, graph: NodeNumericsView) -> None:
    """Draw a table with one row per node; a click selects it."""
    ids = [f"n:{name}" for name in graph.names]
    key = f"numerics-table-{view.compilation.id}"
    table = in_words(data_frame(graph.rows), FORMS)
    picked_by_url(table, ids, key, height=SHORT, column_config=COLUMNS, placeholder="")


def graph_link(graph: FxGraph, chosen: str) -> None:
    """Draw a link from the chosen node to its place in the graph, coloured by the accuracy of each node."""
    query = url.link(**{url.GRAPH: graph.id, url.SELECT: f"n:{chosen}", url.COLOUR: COLOUR})
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(code(chosen, LONGEST_NAME))
        st.page_link(menu.FX_GRAPH.script, label="Show it in the graph", icon=menu.FX_GRAPH.icon, query_params=query)


def results_chart(points: Sequence[ErrorPoint], on: Theme) -> go.Figure:
    """Draw each result's error in eager and in compiled, on a logarithmic axis.

    The chart has at most `MOST_RESULTS` results, in the order of the points.
    """
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


def nodes_chart(graph: NodeNumericsView, selected: str, on: Theme) -> go.Figure:
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


def _mark(figure: go.Figure, point: ErrorPoint, low: float, first: bool, on: Theme) -> None:
    """Mark a node with a ring and its name.

    `first` is True for the first node that differs, whose mark is red; False for the selected node.
    """
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
    """Return an error's position on a logarithmic axis; None if there is no error.

    An error of zero is at `low`.
    """
    return None if error is None else max(error, low)


def _ends(points: Sequence[ErrorPoint]) -> tuple[int, int, bool]:
    """Return the powers of ten around all errors and tolerances, and True if an error is zero."""
    accuracies = [point.accuracy for point in points]
    pairs = [(accuracy.eager_error, accuracy.compiled_error) for accuracy in accuracies]
    errors = [error for pair in pairs for error in pair if error is not None]
    positive = [error for error in (*errors, *(accuracy.tolerance for accuracy in accuracies)) if error > 0]
    low, high = min(positive, default=1e-9), max(positive, default=1.0)
    return math.floor(math.log10(low)), math.ceil(math.log10(high)), 0 in errors


def _axis(points: Sequence[ErrorPoint]) -> tuple[float, dict[str, Any]]:
    """Return where an error of zero is drawn, and the logarithmic axis of errors."""
    first, last, exact = _ends(points)
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

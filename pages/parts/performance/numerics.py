"""The parts of the page Numerics: the results of calls, and the nodes of a graph, compared with float64."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.report import FxGraph
from core.views.numerics import NodeNumericsView, NumericsView
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_NAME, code
from pages.parts.performance.numerics_charts import AROUND_PX, MOST_RESULTS, ROW_PX, nodes_chart, results_chart
from pages.session import url
from pages.session.figures import kept, theme
from pages.session.tables import in_words, picked_by_url, picked_points
from pages.session.view import RunView, View

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
COLUMNS = {
    "eager": st.column_config.NumberColumn(
        help="Norm of eager's difference from float64 over the norm in float64; of whole numbers and booleans the "
        "part of the elements that differ"
    ),
    "compiled": st.column_config.NumberColumn(help="The same of compiled"),
    "of tolerance": st.column_config.NumberColumn(help="Compiled's error over what its dtype allows"),
    "largest, eager": st.column_config.NumberColumn(help="The largest difference of one element from float64"),
    "largest, compiled": st.column_config.NumberColumn(help="The same of compiled"),
    "apart": st.column_config.NumberColumn(help="Compiled against eager: norm of the difference over eager's norm"),
}


def results_part(view: RunView, numerics: NumericsView) -> None:
    """Draw every result as a chart and a table."""
    rows, points, on = numerics.rows, numerics.points, theme()
    left, right = st.columns(2, gap="medium") if points else (None, st.container())
    if left is not None:
        with left:
            figure = kept(lambda: results_chart(points, on), "numerics", view.run.id, view.report.log_bytes, on)
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="numerics-results")
            if len(points) > MOST_RESULTS:
                st.caption(f"The {fmt.number(MOST_RESULTS)} with the largest errors; the table has all.")
    with right:
        as_drawn = AROUND_PX + ROW_PX * min(MOST_RESULTS, len(rows))
        height: int | Literal["content"] = as_drawn if len(rows) > FEW else "content"
        table = in_words(pd.DataFrame(rows), FORMS)
        st.dataframe(table, hide_index=True, height=height, column_config=COLUMNS, placeholder="")


def nodes_part(view: View, graph: NodeNumericsView, chosen: str) -> None:
    """Draw the errors of all nodes in execution order; a click on a point selects its node."""
    on = theme()
    parts = ("node-numerics", view.run.id, view.report.log_bytes, view.compilation.id, chosen, on)
    key = f"numerics-nodes-{view.compilation.id}"
    st.plotly_chart(
        kept(lambda: nodes_chart(graph, chosen, on), *parts),
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
    table = in_words(pd.DataFrame(graph.rows), FORMS)
    picked_by_url(table, ids, key, height=SHORT, column_config=COLUMNS, placeholder="")


def graph_link(graph: FxGraph, chosen: str) -> None:
    """Draw a link from the chosen node to its place in the graph, coloured by the accuracy of each node."""
    query = url.link(**{url.GRAPH: graph.id, url.SELECT: f"n:{chosen}", url.COLOUR: COLOUR})
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(code(chosen, LONGEST_NAME))
        st.page_link(menu.FX_GRAPH.script, label="Show it in the graph", icon=menu.FX_GRAPH.icon, query_params=query)

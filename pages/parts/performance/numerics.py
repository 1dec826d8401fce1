"""The parts of the page Numerics: the results of calls, and the nodes of a graph, compared with float64."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Literal

import pandas as pd
import streamlit as st

from core.analysis.numerics import Numerics, ResultStanding, first_apart, node_standings, of_tolerance
from core.base import words as fmt
from core.report import Accuracy, FxGraph, FxNode, GraphNumerics, NodeAccuracy
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_LINE, LONGEST_NAME, code, one_line
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


def by_error(found: Numerics) -> list[ResultStanding]:
    """Sort the results: first those that differ, then by compiled's error relative to its tolerance."""
    return sorted(found.results, key=lambda item: (item.standing != "differs", -(of_tolerance(item.accuracy) or 0.0)))


def results_part(view: RunView, found: Numerics) -> None:
    """Draw every result as a chart and a table."""
    rows, on = by_error(found), theme()
    drawn = [row for row in rows if row.accuracy.compiled_error is not None]
    left, right = st.columns(2, gap="medium") if drawn else (None, st.container())
    if left is not None:
        with left:
            figure = kept(lambda: results_chart(rows, on), "numerics", view.run.id, view.report.log_bytes, on)
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="numerics-results")
            if len(drawn) > MOST_RESULTS:
                st.caption(f"The {fmt.number(MOST_RESULTS)} with the largest errors; the table has all.")
    with right:
        calls = len({row.call for row in rows}) > 1
        table = pd.DataFrame([_result_row(row, calls) for row in rows])
        as_drawn = AROUND_PX + ROW_PX * min(MOST_RESULTS, len(rows))
        high: int | Literal["content"] = as_drawn if len(rows) > FEW else "content"
        shown = in_words(table, FORMS)
        st.dataframe(shown, hide_index=True, height=high, column_config=COLUMNS, placeholder="")


def _result_row(row: ResultStanding, calls: bool) -> dict[str, object]:
    return {
        "result": one_line(row.what, LONGEST_LINE),
        **({"call": row.call} if calls else {}),
        "compiled is": row.standing,
        **_figures(row.accuracy),
        "elements": row.accuracy.elements,
        "why": one_line(row.accuracy.reason, LONGEST_LINE),
    }


def _figures(found: Accuracy | None) -> dict[str, object]:
    names = ("eager", "compiled", "of tolerance", "apart", "largest, eager", "largest, compiled")
    if found is None:
        return {"dtype": "", **dict.fromkeys(names)}
    values = (found.eager_error, found.compiled_error, of_tolerance(found), found.apart)
    return {
        "dtype": found.dtype,
        **dict(zip(names, (*values, found.eager_max_abs, found.compiled_max_abs), strict=True)),
    }


def chosen_node(found: GraphNumerics) -> NodeAccuracy | None:
    """Return the node that the URL selects, else the first that differs, else the one with the largest error."""
    asked = (url.selected() or "").removeprefix("n:")
    largest = max(found.nodes, key=lambda node: (node.accuracy and node.accuracy.compiled_error) or 0.0, default=None)
    return next((node for node in found.nodes if node.name == asked), first_apart(found) or largest)


def nodes_part(view: View, found: GraphNumerics, chosen: NodeAccuracy | None) -> None:
    """Draw the errors of all nodes in execution order; a click on a point selects its node."""
    name, on = chosen.name if chosen else "", theme()
    what = ("node-numerics", view.run.id, view.report.log_bytes, view.compilation.id, name, on)
    key = f"numerics-nodes-{view.compilation.id}"
    st.plotly_chart(
        kept(lambda: nodes_chart(found, name, on), *what),
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


def node_table(view: View, found: GraphNumerics, nodes: Mapping[str, FxNode]) -> None:
    """Draw a table with one row per node; a click selects it."""
    standings = node_standings(found)
    rows = [_node_row(at, node, standings[node.name], nodes.get(node.name)) for at, node in enumerate(found.nodes)]
    ids = [f"n:{node.name}" for node in found.nodes]
    key = f"numerics-table-{view.compilation.id}"
    picked_by_url(in_words(pd.DataFrame(rows), FORMS), ids, key, height=SHORT, column_config=COLUMNS, placeholder="")


def _node_row(at: int, found: NodeAccuracy, standing: str, node: FxNode | None) -> dict[str, object]:
    why = found.left_out or (found.accuracy.reason if found.accuracy else "")
    return {
        "#": at,
        "node": one_line(found.name, LONGEST_NAME),
        "compiled is": standing,
        **_figures(found.accuracy),
        "your line": one_line(node.code, LONGEST_LINE) if node else "",
        "module": one_line(node.module, LONGEST_LINE) if node else "",
        "why": one_line(why, LONGEST_LINE),
    }


def graph_link(graph: FxGraph, chosen: NodeAccuracy) -> None:
    """Draw a link from the chosen node to its place in the graph, coloured by the accuracy of each node."""
    query = url.link(**{url.GRAPH: graph.id, url.SELECT: f"n:{chosen.name}", url.COLOUR: COLOUR})
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(code(chosen.name, LONGEST_NAME))
        st.page_link(menu.FX_GRAPH.script, label="Show it in the graph", icon=menu.FX_GRAPH.icon, query_params=query)

"""The panes below the contract: at the left nodes, graph, executions and reported tables; at the right texts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import streamlit as st

from core import CompileJob
from core.analysis.backend import BackendRow
from core.report import Invocation
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.gate.visitor import may_bring_code
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import FILL
from pages.parts.backends.contract import call_table
from pages.parts.backends.executions import execution_rows, executions_chart, ran_words
from pages.parts.backends.graph import graph_pane
from pages.parts.backends.nodes import code_picture, left_out_words, node_rows, node_text
from pages.parts.backends.source import backend_picture
from pages.parts.backends.told import tables_of, texts_of, told_tables, told_texts
from pages.parts.backends.write import editor
from pages.parts.run.submit import job_again
from pages.session import url
from pages.session.downloads import frame_twin, json_twin, text_twin
from pages.session.figures import kept, theme
from pages.session.memory import held
from pages.session.tables import picked_by_url
from pages.session.view import View

NODES, GRAPH, EXECUTIONS = "nodes", "graph", "executions"
CODE, BACKEND, WRITE = "gm.code", "backend", "write"
TABLES, TEXTS, PRINTED = "what it told", "texts it told", "printed"
TABLE_PX, EDITOR_PX = 420, 460
FEW = 6
Panes = Mapping[str, Callable[[], None]]


def pane(name: str, panes: Panes, first: str) -> None:
    """Draw one of the panes; they are chosen in a row above, and the choice is in the URL."""
    url.read(name, panes, first)
    st.segmented_control(name, list(panes), key=name, label_visibility="collapsed")
    url.write(name)
    panes[held(name) or first]()


def left_panes(view: View, row: BackendRow) -> Panes:
    """Return the left panes: the graph, its nodes, the executions, and the tables that the backend reported."""
    tables = tables_of(view.report, view.compilation.id)
    return {
        **({GRAPH: partial(graph_pane, view)} if view.compilation.graphs else {}),
        NODES: partial(_nodes, view, row.invocations[-1]),
        EXECUTIONS: partial(_executions, view, row),
        **({TABLES: partial(told_tables, view, tables)} if tables else {}),
    }


def right_panes(view: View, made: Invocation) -> Panes:
    """Return the right panes: the graph's code, the backend's code, its reported texts, the output, and an editor."""
    told = texts_of(view.report, view.compilation.id)
    code, source, job = code_picture(made), backend_picture(view, made), job_again(view)
    shown = {name: picture for name, picture in ((CODE, code), (BACKEND, source)) if picture is not None}
    pictures = {name: partial(_code, view, picture, name) for name, picture in shown.items()}
    write = {WRITE: partial(_write, view, job)} if job is not None and may_bring_code() else {}
    texts = {TEXTS: partial(told_texts, view, told)} if told else {}
    output = view.run.output_tail()
    printed = {PRINTED: partial(_printed, output, key=f"printed-{view.run.id}")} if output.strip() else {}
    return {**pictures, **texts, **printed, **write} or {CODE: _no_code}


def _nodes(view: View, made: Invocation) -> None:
    frame = node_rows(made.nodes)
    key = f"nodes-{view.compilation.id}"
    picked_by_url(frame, [f"n:{node.name}" for node in made.nodes], key, height=TABLE_PX)
    left_out_words(made)
    with st.container(horizontal=True):
        text_twin("nodes", node_text(made.nodes), key=key)
        frame_twin("nodes", frame, key=key)
        json_twin("nodes", made.nodes, key=key)
        if view.compilation.graphs:
            selected = url.selected()
            chosen = url.link(**{url.SELECT: selected}) if selected else url.link()
            st.page_link(menu.FX_GRAPH.script, label="In the FX graph", icon=menu.FX_GRAPH.icon, query_params=chosen)


def _executions(view: View, row: BackendRow) -> None:
    found = [one for one in view.report.executions if one.compilation == view.compilation.id]
    st.caption(ran_words(row.ran, len(found)))
    if found:
        on, what = theme(), (view.run.id, view.compilation.id, len(found))
        draw = partial(executions_chart, found, row.ran, on)
        figure = draw() if view.going else kept(draw, *what, on)
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"executions-{view.compilation.id}")
    calls = call_table(row, view.report)
    if len(calls):
        st.dataframe(calls, hide_index=True, key=f"calls-{view.compilation.id}")
    if found:
        table = execution_rows(found)
        st.dataframe(
            table,
            hide_index=True,
            height="content" if len(found) <= FEW else TABLE_PX // 2,
            key=f"ran-{view.compilation.id}",
        )
        with st.container(horizontal=True):
            frame_twin("executions", table, key="executions")


def _code(view: View, picture: CodePicture, name: str) -> None:
    # The graph beside it sends its selection to the view in the browser; a table cannot.
    selected = url.selected()
    apart = "" if held(url.PANE) == GRAPH else selected or ""
    code_view(picture, key=f"{name}-{view.compilation.id}-{apart}", height=FILL, selected=selected)


def _printed(output: str, *, key: str) -> None:
    """Draw the end of the run's output, which includes the backend's."""
    lines = code_lines(output, prefix="printed")
    code_view(CodePicture("the end of what the run printed", "", lines), key=key, height=FILL, channel="printed")


def _write(view: View, job: CompileJob) -> None:
    editor(view, job, EDITOR_PX)


def _no_code() -> None:
    st.caption("The code of this graph was not recorded.")

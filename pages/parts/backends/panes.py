"""The panes below the contract: at the left nodes, graph, executions and reported tables; at the right texts.

The graphs that a backend received or made, coloured by its reports about their nodes.

The nodes of a backend's input graph: a table with the columns of `print_tabular`, and `gm.code`.

The code of a run's backend, with failures at its lines.

Reports of a backend through torch's trace: tables, whose column `node` leads to the graph, and texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core import SHIPPED_BACKENDS, CompileJob
from core.analysis.backend import NODE_COLUMN, BackendRow
from core.base import words as fmt
from core.graph import annotation_name, annotations_of, source_path
from core.report import BackendNode, FxGraph, Invocation, Report, ToldTable, ToldText
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.gate.visitor import may_bring_code
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import FILL, TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.parts.backends.contract import call_table
from pages.parts.backends.executions import execution_rows, executions_chart, ran_words
from pages.parts.backends.write import editor
from pages.parts.code import source_text
from pages.parts.graphs.drawn import fx_drawn, show, stage_row
from pages.parts.run.own_backend import shipped_text
from pages.parts.run.submit import job_again
from pages.session import url
from pages.session.cache import kept, theme
from pages.session.downloads import frame_twin, json_twin, text_twin
from pages.session.shown import View
from pages.session.state import held
from pages.session.tables import picked_by_url

NODES, GRAPH, EXECUTIONS = "nodes", "graph", "executions"
CODE, BACKEND, WRITE = "gm.code", "backend", "write"
TABLES, TEXTS, PRINTED = "what it told", "texts it told", "printed"
TABLE_PX, EDITOR_PX = 420, 460
FEW = 6
Panes = Mapping[str, Callable[[], None]]
# `add = x + 1`, `relu: "f32[8]" = …` and `return (add,)` in `gm.code`.
ASSIGNED = re.compile(r"^\s*(\w+)(?:\s*:[^=]*)?\s*=(?!=)")
RETURNED = re.compile(r"^\s*return\b")
MOST_NODES_SHOWN = 2_000
COLUMNS = ("opcode", "name", "target", "args", "kwargs", "users", "value")
OWN_FILE = "backend.py"
MOST_TOLD = 24


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


def graph_pane(view: View) -> None:
    """Draw one of the graphs: first the one that the backend reported, else its input graph."""
    graphs = view.compilation.graphs
    told = _told_graph(view)
    first = told or next((graph for graph in graphs if graph.stage == "dynamo_output_graph"), graphs[0])
    url.read(url.GRAPH, [graph.id for graph in graphs], first.id)
    graph = view.compilation.graph(held(url.GRAPH, first.id)) or first
    if len(graphs) > 1:
        stage_row(graphs, graph)
    url.write(url.GRAPH)
    if not graph.ops:
        st.caption(
            "The text of this graph was not parsed, so it cannot be drawn: it is not Python, or too long or too dense."
        )
        return
    overlay = annotation_name(0) if graph == told else ""
    show(fx_drawn(view, graph), f"given-{view.compilation.id}-{graph.id}", overlay=overlay)


def _told_graph(view: View) -> FxGraph | None:
    """Return the last graph that a table names: a backend's input graph shares names with the graph that it made."""
    for graph in reversed(view.compilation.graphs if view.report.told_tables else ()):
        if annotations_of(view.report, view.compilation.id, {node.name for node in view.nodes(graph)}):
            return graph
    return None


def node_rows(nodes: Sequence[BackendNode]) -> pd.DataFrame:
    """Return one row per node."""
    return pd.DataFrame([_row(node) for node in nodes[:MOST_NODES_SHOWN]], columns=list(COLUMNS))


def _row(node: BackendNode) -> dict[str, str]:
    return {
        "opcode": node.op,
        "name": one_line(node.name, LONGEST_NAME),
        "target": one_line(node.target, LONGEST_LINE),
        "args": one_line(node.args, LONGEST_LINE),
        "kwargs": "" if node.kwargs == "{}" else one_line(node.kwargs, LONGEST_LINE),
        "users": one_line(", ".join(node.users), LONGEST_LINE),
        "value": one_line(node.value, LONGEST_NAME),
    }


def node_text(nodes: Sequence[BackendNode]) -> str:
    """Return the table as text, in the format of `gm.graph.print_tabular()`."""
    rows = [COLUMNS, *((n.op, n.name, n.target, n.args, n.kwargs, ", ".join(n.users), n.value) for n in nodes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in (head, "  ".join("-" * width for width in widths), *lines)) + "\n"


def left_out_words(invocation: Invocation) -> None:
    """Note how many nodes are not shown."""
    more = invocation.left_out + max(0, len(invocation.nodes) - MOST_NODES_SHOWN)
    if more:
        st.caption(f"{fmt.count(more, 'more node')} not shown.")


def code_picture(invocation: Invocation) -> CodePicture | None:
    """Return `gm.code`, each line linked to the node that it computes; None if it was not recorded."""
    if not invocation.code:
        return None
    code = invocation.code.strip("\n").rstrip()
    return CodePicture("gm.code", "python", code_lines(code, prefix="gm", links=_links(code, invocation.nodes)))


def _links(code: str, nodes: Sequence[BackendNode]) -> dict[int, tuple[str, ...]]:
    names = {node.name for node in nodes}
    ends = {kind: tuple(f"n:{n.name}" for n in nodes if n.op == kind) for kind in ("placeholder", "output")}
    found: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(code.split("\n"), 1):
        assigned = ASSIGNED.match(line)
        if assigned and assigned[1] in names:
            found[number] = (f"n:{assigned[1]}",)
        elif RETURNED.match(line):
            found[number] = ends["output"]
        elif line.startswith("def forward"):
            found[number] = ends["placeholder"]
    return found


def backend_picture(view: View, invocation: Invocation) -> CodePicture | None:
    """Return the backend's own file: the job's, a built-in one, or the logged one; None if there is none."""
    code, title = _backend_code(view, invocation)
    if not code:
        return None
    line = invocation.place[1] if invocation.place else 0
    lines = code_lines(
        code,
        prefix="own",
        marks={line: "break"} if line else {},
        notes={line: invocation.problem} if line else {},
    )
    return CodePicture(title, "python", lines)


def _backend_code(view: View, invocation: Invocation) -> tuple[str, str]:
    """Return the text and the title of the code, as it was when it ran if the log holds it."""
    recorded = [source.path for source in view.report.sources]
    if invocation.place and invocation.place[0] in recorded:
        return source_text(view, invocation.place[0]), _name(invocation.place[0])
    chosen = view.job.compile if view.job else None
    if chosen is None:
        return "", ""
    own = OWN_FILE if chosen.backend_code else f"{chosen.backend}.py"
    path = next((path for path in recorded[1:] if _name(path) == own), "")
    if path:
        return source_text(view, path), own
    if chosen.backend_code:
        return chosen.backend_code, own
    if chosen.backend in SHIPPED_BACKENDS:
        return shipped_text(chosen.backend), own
    return _of_the_model(view, invocation.backend)


def _of_the_model(view: View, backend: str) -> tuple[str, str]:
    """Return the model's file if it defines the backend: a function, a class or a variable of its name."""
    text = source_text(view)
    held = re.search(rf"^(def|class) {re.escape(backend)}\b|^{re.escape(backend)}\s*[:=]", text, re.MULTILINE)
    return (text, _name(source_path(view.report))) if held else ("", "")


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def tables_of(report: Report, compilation: str) -> tuple[ToldTable, ...]:
    """Return the tables reported for a compilation, and those that name no compilation."""
    return tuple(table for table in report.told_tables if table.compilation in ("", compilation))[:MOST_TOLD]


def texts_of(report: Report, compilation: str) -> tuple[ToldText, ...]:
    """Return the texts reported for a compilation, and those that name no compilation."""
    return tuple(text for text in report.told_texts if text.compilation in ("", compilation))[:MOST_TOLD]


def told_tables(view: View, tables: Sequence[ToldTable]) -> None:
    """Draw one of the tables, which are chosen by title."""
    at = _chosen(url.TABLE, tables)
    told_table(tables[at], key=f"told-{view.compilation.id}-{at}")


def told_texts(view: View, texts: Sequence[ToldText]) -> None:
    """Draw one of the texts, which are chosen by title."""
    at = _chosen(url.TEXT, texts)
    told = texts[at]
    lines = code_lines(view.text(told.text), prefix="told")
    picture = CodePicture(one_line(told.title, LONGEST_LINE), told.language, lines)
    code_view(picture, key=f"text-{view.compilation.id}-{at}", height=FILL)


def _chosen(name: str, annotations: Sequence[ToldTable | ToldText]) -> int:
    """Return the index of the chosen one, which is in the URL."""
    places = [str(at) for at in range(len(annotations))]
    url.read(name, places, places[0])
    if len(annotations) > 1:
        titles = [one_line(one.title, LONGEST_NAME) or "without a title" for one in annotations]
        st.selectbox(name, places, key=name, format_func=lambda at: titles[int(at)], label_visibility="collapsed")
    url.write(name)
    return int(held(name, places[0]))


def told_table(table: ToldTable, *, key: str) -> None:
    """Draw a table as the backend reported it; a click on a row selects its node."""
    columns = [one_line(name, LONGEST_NAME) or f"column {at}" for at, name in enumerate(table.columns, 1)]
    frame = pd.DataFrame([list(map(_cell, row)) for row in table.rows], columns=_apart(columns))
    if NODE_COLUMN in table.columns:
        at = table.columns.index(NODE_COLUMN)
        picked_by_url(frame, [f"n:{row[at]}" for row in table.rows], key, height=TALL)
    else:
        st.dataframe(frame, hide_index=True, placeholder="", key=key)
    with st.container(horizontal=True, vertical_alignment="center"):
        frame_twin("told", frame, key=key)
        if table.left_out:
            st.caption(f"{fmt.count(table.left_out, 'more row')} not shown.")


def _cell(value: str | int | float | None) -> str | int | float | None:
    return one_line(value, LONGEST_LINE) if isinstance(value, str) else value


def _apart(names: list[str]) -> list[str]:
    """Make column names distinct, since Streamlit's tables need that."""
    return [name if name not in names[:at] else f"{name} ({at + 1})" for at, name in enumerate(names)]

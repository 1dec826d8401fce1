"""Picture of the contract between torch.compile and a backend, and the panes below the picture.

The left panes are the nodes as `print_tabular` lists them, the graph coloured by the backend's annotations,
the chart of executions, and the tables that the backend reported. The right panes are `gm.code`, the
backend's source with the failure at its line, the reported texts, the run's output, and an editor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

import streamlit as st

from core import CompileJob
from core.base import words as fmt
from core.views.backend import run as views
from core.views.backend.compilation import BackendCompilationView, ExecutionBar
from pages import menu
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.components.contract.view import ContractData, GivenData, StationData, contract_view
from pages.gate.visitor import may_bring_code
from pages.look.charts import PLOTLY_CONFIG, go, in_unit, plotly_layout
from pages.look.palette import FILL, MUTED, STATUS, TALL, Theme, kernel_colour
from pages.parts.backends.alternatives import editor, offer_backends
from pages.parts.code import source_text
from pages.parts.graphs.drawn import fx_drawn, show, stage_row
from pages.parts.run.submit import job_again
from pages.session import url
from pages.session.downloads import json_twin, table_twin, text_twin
from pages.session.server import cached_figure, theme
from pages.session.shown import RunView, View
from pages.session.tables import Parts, draw, framed, picked_by_url
from pages.session.url import go_to, page_link, press, state_of, taken

NODES, GRAPH, EXECUTIONS = "nodes", "graph", "executions"
CODE, BACKEND, WRITE = "gm.code", "backend", "write"
TABLES, TEXTS, PRINTED = "what it told", "texts it told", "printed"
TABLE_PX, EDITOR_PX = 420, 460
Panes = Mapping[str, Callable[[], None]]
HEIGHT = 300
MOST_IN_LEGEND = 10  #: calls in the legend of the chart of executions
# Minimum number of bar positions in a chart, so that a single bar is not as wide as the page.
LEAST_ROOM = 8


def backend_parts(view: RunView) -> Parts:
    """Return the parts of the page by their names."""
    return {
        views.OFFER: partial(offer_backends, view),
        views.CONTRACT: _contract,
        views.LEFT: partial(_left, view),
        views.RIGHT: partial(_right, view),
    }


def _contract(backend: views.BackendView, chosen: str) -> None:
    contract_view(contract(backend, chosen), key="contract", on_pick=partial(press, "contract"))
    clicked = taken("contract")
    if clicked and clicked != chosen:
        go_to(menu.BACKEND, url.link(compilation=clicked))


def _left(view: RunView, backend: BackendCompilationView) -> None:
    panes = left_panes(view.of(backend.compilation), backend)
    pane(url.PANE, panes, next(iter(panes)))


def _right(view: RunView, backend: BackendCompilationView) -> None:
    panes = right_panes(view.of(backend.compilation), backend)
    first = CODE if CODE in panes else next(iter(panes))
    pane(url.BESIDE, panes, BACKEND if backend.is_failed and BACKEND in panes else first)


def pane(name: str, panes: Panes, first: str) -> None:
    """Draw the pane that is chosen in the row above; the choice is in the URL."""
    url.read(name, panes, first)
    st.segmented_control(name, list(panes), key=name, label_visibility="collapsed")
    url.write(name)
    panes[state_of(name) or first]()


def left_panes(view: View, backend: BackendCompilationView) -> Panes:
    """Return the left panes: the graph, its nodes, the executions, and the reported tables."""
    return {
        **({GRAPH: partial(graph_pane, view, backend)} if view.compilation.graphs else {}),
        NODES: partial(_nodes, view, backend),
        EXECUTIONS: partial(_executions, view, backend),
        **({TABLES: partial(reported_tables, backend)} if backend.tables else {}),
    }


def right_panes(view: View, backend: BackendCompilationView) -> Panes:
    """Return the right panes: `gm.code`, backend source, reported texts, output, and an editor."""
    code, source, job = code_picture(backend), source_picture(view, backend), job_again(view)
    shown = {name: picture for name, picture in ((CODE, code), (BACKEND, source)) if picture is not None}
    pictures = {name: partial(_code, view, picture, name) for name, picture in shown.items()}
    write = {WRITE: partial(_write, view, job)} if job is not None and may_bring_code() else {}
    texts = {TEXTS: partial(reported_texts, view, backend)} if backend.texts else {}
    output = view.run.output_tail()
    printed = {PRINTED: partial(_printed, output, key=f"printed-{view.run.id}")} if output.strip() else {}
    return {**pictures, **texts, **printed, **write} or {CODE: _no_code}


def _nodes(view: View, backend: BackendCompilationView) -> None:
    table = backend.node_table
    frame, settings = framed(table)
    picked_by_url(frame, backend.node_ids, table.name, height=TABLE_PX, column_config=settings)
    if backend.nodes_left_out:
        st.caption(backend.nodes_left_out)
    with st.container(horizontal=True):
        text_twin("nodes", backend.node_text, key=table.name)
        table_twin(table, name="nodes")
        json_twin("nodes", backend.nodes, key=table.name)
        if view.compilation.graphs:
            page_link(menu.FX_GRAPH, label="In the FX graph")


def _executions(view: View, backend: BackendCompilationView) -> None:
    st.caption(backend.execution_words)
    if backend.executions:
        _chart(view, backend)
    if backend.call_table.rows:
        draw([backend.call_table])
    if backend.executions:
        draw([backend.execution_table])
        table_twin(backend.execution_table, name="executions")


def _chart(view: View, backend: BackendCompilationView) -> None:
    on, what = theme(), (view.run.id, backend.id, len(backend.executions))
    make = partial(executions_chart, backend, on)
    figure = make() if view.going else cached_figure(make, *what, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"executions-{backend.id}")


def _code(view: View, picture: CodePicture, name: str) -> None:
    # The graph sends its selection to the code view within the browser; a table cannot.
    selected = url.selected()
    apart = "" if state_of(url.PANE) == GRAPH else selected or ""
    code_view(picture, key=f"{name}-{view.compilation.id}-{apart}", height=FILL, selected=selected)


def _printed(output: str, *, key: str) -> None:
    """Draw the end of the run's output, which includes the backend's."""
    lines = code_lines(output, prefix="printed")
    code_view(CodePicture("the end of what the run printed", "", lines), key=key, height=FILL, channel="printed")


def _write(view: View, job: CompileJob) -> None:
    editor(view, job, EDITOR_PX)


def _no_code() -> None:
    st.caption(BackendCompilationView.no_code)


def graph_pane(view: View, backend: BackendCompilationView) -> None:
    """Draw one of the graphs: by default the graph that the backend annotated, otherwise its input graph."""
    graphs = view.compilation.graphs
    annotated = backend.annotated_graph(view.nodes)
    first = annotated or backend.first_graph
    url.read(url.GRAPH, [graph.id for graph in graphs], first.id)
    graph = view.compilation.graph(state_of(url.GRAPH, first.id)) or first
    if len(graphs) > 1:
        stage_row(graphs, graph)
    url.write(url.GRAPH)
    if not graph.ops:
        st.caption(backend.unparsed)
        return
    overlay = backend.overlay if graph == annotated else ""
    show(fx_drawn(view, graph), f"given-{backend.id}-{graph.id}", overlay=overlay)


def code_picture(backend: BackendCompilationView) -> CodePicture | None:
    """Return `gm.code`, each line linked to the node that it computes; None if it was not recorded."""
    if not backend.code:
        return None
    return CodePicture("gm.code", "python", code_lines(backend.code, prefix="gm", links=backend.code_links))


def source_picture(view: View, backend: BackendCompilationView) -> CodePicture | None:
    """Return the file that defines the backend, with the failure at its line; None if there is none."""
    source = backend.source(view.job, partial(source_text, view))
    if source is None:
        return None
    lines = code_lines(source.code, prefix="own", marks=dict.fromkeys(source.notes, "break"), notes=source.notes)
    return CodePicture(source.title, "python", lines)


def reported_tables(backend: BackendCompilationView) -> None:
    """Draw the table that is chosen by title; a click on a row selects its node."""
    at = _chosen(url.TABLE, [table.label for table in backend.tables])
    table, key = backend.tables[at], f"told-{backend.id}-{at}"
    block = table.block(key)
    frame, settings = framed(block)
    if table.node_ids is not None:
        picked_by_url(frame, table.node_ids, key, height=TALL, column_config=settings)
    else:
        st.dataframe(frame, hide_index=True, placeholder="", key=key)
    with st.container(horizontal=True, vertical_alignment="center"):
        table_twin(block, name="told")
        if table.left_out:
            st.caption(table.left_out)


def reported_texts(view: View, backend: BackendCompilationView) -> None:
    """Draw the text that is chosen by title."""
    at = _chosen(url.TEXT, [text.label for text in backend.texts])
    text = backend.texts[at]
    picture = CodePicture(text.title, text.language, code_lines(view.text(text.payload), prefix="told"))
    code_view(picture, key=f"text-{backend.id}-{at}", height=FILL)


def _chosen(name: str, titles: Sequence[str]) -> int:
    """Return the index of the chosen title, which is in the URL."""
    places = [str(at) for at in range(len(titles))]
    url.read(name, places, places[0])
    if len(titles) > 1:
        st.selectbox(name, places, key=name, format_func=lambda at: titles[int(at)], label_visibility="collapsed")
    url.write(name)
    return int(state_of(name, places[0]))


def executions_chart(view: BackendCompilationView, on: Theme) -> go.Figure:
    """Draw each execution's seconds as a bar coloured by call, and the mean outside of the calls."""
    bars, outside_s = view.execution_bars, view.outside_s
    factor, unit = in_unit(max([bar.seconds for bar in bars] + [outside_s or 0.0]))
    figure = go.Figure()
    kinds = list(dict.fromkeys(bar.kind for bar in bars))
    for kind in kinds:
        _add_bars(figure, kind, [bar for bar in bars if bar.kind == kind], factor, on)
    if outside_s is not None:
        _add_mean(figure, view.outside_name, outside_s, factor, on)
    room = max(len(bars) + (outside_s is not None), LEAST_ROOM)
    legend = len(kinds) <= MOST_IN_LEGEND
    figure.update_layout(**plotly_layout(on), height=HEIGHT, showlegend=legend, barmode="overlay")
    figure.update_xaxes(title="execution of the backend's callable", type="category", range=[-0.5, room - 0.5])
    figure.update_yaxes(title=f"time ({unit})", rangemode="tozero")
    return figure


def _add_bars(figure: go.Figure, kind: str, bars: list[ExecutionBar], factor: float, on: Theme) -> None:
    figure.add_bar(
        name=kind,
        x=[str(bar.number) for bar in bars],
        y=[bar.seconds * factor for bar in bars],
        marker={"color": _colour(bars[0], on)},
        customdata=[_hover(bar.hover) for bar in bars],
        hovertemplate="%{customdata}<extra></extra>",
    )


def _add_mean(figure: go.Figure, name: str, seconds: float, factor: float, on: Theme) -> None:
    figure.add_bar(
        name=name,
        x=["mean of the others"],
        y=[seconds * factor],
        marker={"color": MUTED[on]},
        hovertemplate=f"{name}: {fmt.duration_s(seconds)}<extra></extra>",
    )


def _colour(bar: ExecutionBar, on: Theme) -> str:
    if bar.is_failed:
        return STATUS["bad"].on(on)
    return MUTED[on] if bar.call is None else kernel_colour(bar.call)


def _hover(lines: Iterable[str]) -> str:
    """Return the hover text, escaped, since Plotly reads some HTML."""
    return "<br>".join(line.replace("<", "&lt;") for line in lines)


def contract(backend: views.BackendView, chosen: str) -> ContractData:
    """Return the picture's data: the steps with the run's numbers, and a line per compilation."""
    return ContractData(
        stations=tuple(
            StationData(station.name, station.code, station.number, station.is_bad) for station in backend.stations
        ),
        once=backend.once,
        always=backend.always,
        rows=tuple(map(_line, backend.compilations)),
        legend=backend.legend,
        chosen=chosen,
    )


def _line(view: BackendCompilationView) -> GivenData:
    return GivenData(
        id=view.id,
        cells=view.cells,
        failed=view.is_failed,
        marks=view.marks,
        said=view.mark_texts,
        ran=view.execution_count,
    )

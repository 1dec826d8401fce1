"""FX graph of a stage, and a step of a film of passes, as pictures."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.report import FxGraph
from core.views.fx_graph import FxGraphView
from core.views.passes import PassesView
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.look.palette import FILL, MAX_CHARS, SHORT, TALL
from pages.parts.code import output_code
from pages.parts.graphs.drawn import node_lines, node_of
from pages.session import url
from pages.session.shown import View
from pages.session.tables import in_words, newly_picked

NODE, GENERATED, INPUTS, TEXT = "node", "generated code", "inputs and results", "graph text"


def tabs(fx: FxGraphView) -> list[str]:
    """Return the tabs that the drawer has for a graph."""
    return [NODE, *([GENERATED] if fx.first_kernel else []), *([INPUTS] if fx.metadata else []), TEXT]


def fill_drawer(view: View, fx: FxGraphView, tab: str, selected: str | None) -> None:
    """Draw one tab of the drawer."""
    if tab == TEXT:
        _text(view, fx)
        return
    if tab == INPUTS and fx.metadata:
        inputs = fx.inputs(view.text(fx.metadata))
        st.markdown(inputs.title)
        st.dataframe(inputs.input_rows, hide_index=True)
        st.dataframe(inputs.output_rows, hide_index=True)
        return
    if tab == GENERATED and fx.first_kernel:
        picture = output_code(view, fx.first_kernel, fx.own_lines)
        code_view(picture, key=f"generated-{fx.compilation.id}-{fx.graph.id}", height=FILL)
        return
    node = node_of(fx.nodes, selected)
    if node is not None:
        mapped = fx.mapped_nodes(view.text(fx.node_map), node.name) if fx.node_map else {}
        st.table(fx.node_rows(node) | mapped, border="horizontal")
    elif selected and selected.startswith("n:"):
        st.caption(fx.missing_node(selected))
    node_lines(view, fx.nodes, node, f"{fx.compilation.id}-{fx.graph.id}")


def _text(view: View, fx: FxGraphView) -> None:
    text = view.text(fx.graph.payload)
    lines = code_lines(text.removeprefix("\n"), prefix="t", links=fx.text_links(text))
    picture = CodePicture(fx.graph.id, "python", lines)
    code_view(picture, key=f"text-{fx.compilation.id}-{fx.graph.id}", height=FILL)


def unparsed(view: View, graph: FxGraph) -> None:
    """Draw the text of a graph that could not be parsed, in the code view, since it cuts extremely long lines."""
    st.warning(FxGraphView.unparsed)
    text = view.text(graph.payload)
    if len(text) > MAX_CHARS:
        st.caption(FxGraphView.cut_text(MAX_CHARS, len(text)))
    picture = CodePicture(graph.id, "python", code_lines(text[:MAX_CHARS], prefix="t"))
    code_view(picture, key=f"unparsed-{view.compilation.id}-{graph.id}", height=TALL)


STEP_NODE, STEPS = "node", "steps"
FORMATS = {"µs": fmt.number}


def steps_table(passes: PassesView, *, key: str) -> None:
    """Draw the steps as a table; a click writes the step to the URL, and the film shows it after the rerun."""
    rows = passes.rows
    step = newly_picked(
        in_words(pd.DataFrame(rows), FORMATS),
        range(len(rows)),
        key,
        height="auto" if len(rows) <= 7 else SHORT,
        column_config={"µs": st.column_config.NumberColumn(help=PassesView.time_help)},
    )
    if step is not None:
        url.put(url.FRAME, str(step))
        st.rerun()


def url_step(passes: PassesView) -> int:
    """Return the step of the URL; the last step by default."""
    return shown_step(passes, url.number(url.FRAME))


def shown_step(passes: PassesView, frame: int | None) -> int:
    """Return the selected step and write it to the URL; defaults to the last step."""
    step = passes.last if frame is None or frame > passes.last else frame
    url.put(url.FRAME, None if step == passes.last else str(step))
    return step


def node_after(view: View, passes: PassesView, step: int, selected: str | None) -> None:
    """Draw a node's details after a step, and its source lines."""
    nodes = passes.nodes(step)
    node = node_of(nodes, selected)
    if node is None:
        st.caption(passes.no_node(selected))
        return
    st.table(passes.node_rows(step, node), border="horizontal")
    node_lines(view, nodes, node, f"{view.compilation.id}-{passes.id}")


def step_details(passes: PassesView, step: int) -> None:
    """Draw a step, and each node that it changed."""
    st.markdown(passes.step_title(step))
    for line in passes.origin(step):
        st.caption(line)
    for change in passes.changes(step):
        st.markdown(change.title)
        st.code(change.code, language="python", wrap_lines=True)
    if note := passes.reordered(step):
        st.caption(note)


def unchanged_passes(passes: PassesView) -> None:
    """Draw the passes that ran without changing anything, with their times."""
    if passes.unchanged:
        with st.expander(passes.unchanged):
            st.dataframe(in_words(pd.DataFrame(passes.unchanged_rows), FORMATS), hide_index=True)

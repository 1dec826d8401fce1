"""Tabs of the drawer beside the captures of a model: a node, the nodes of each line, all nodes, and `explain()`."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.views.capture import CaptureView
from core.views.source import SourceView
from pages.look.palette import TALL
from pages.parts.graphs.drawn import node_lines, node_of
from pages.session.shown import View
from pages.session.tables import in_words, shown

NODE, WAYS, LINES, NODES, SUMMARY = "node", "graphs", "lines", "nodes", "explain()"
TABS = (NODE, WAYS, LINES, NODES, SUMMARY)
COUNTS = dict.fromkeys(("nodes", "calls", "inputs", "attributes"), fmt.number)
CODE = {"code": st.column_config.TextColumn(width="medium")}


def captures_of(view: View) -> CaptureView:
    """Return the captures of a run's model, with the graphs of the shown compilation."""
    return CaptureView(view.report, view.compilation, view.nodes, SourceView(view.report, view.text))


def fill_drawer(view: View, captures: CaptureView, tab: str, selected: str | None) -> None:
    """Draw one tab of the drawer."""
    if tab == WAYS:
        shown(in_words(pd.DataFrame(captures.way_rows), COUNTS), captures.graphs, height=TALL)
        for reason in captures.reasons:
            st.caption(reason)
    elif tab == LINES:
        st.markdown(captures.lines_title)
        shown(pd.DataFrame(captures.line_rows), captures.line_rows, height=TALL, column_config=CODE)
        st.caption(captures.lines_note)
    elif tab == NODES:
        shown(pd.DataFrame(captures.node_rows), captures.node_rows, height=TALL)
    elif tab == SUMMARY:
        st.markdown(captures.explain_note)
        if captures.explained_rows:
            st.table(captures.explained_rows, border="horizontal")
        for reason in captures.explained_reasons:
            st.markdown(f"- {reason}")
    else:
        if facts := captures.node_facts(selected):
            st.table(facts, border="horizontal")
        node_lines(view, captures.nodes, node_of(captures.nodes, selected), f"captures-{view.compilation.id}")

"""Captures page: the model captured by symbolic_trace, Dynamo, export and AOTAutograd, side by side."""

from functools import partial

import streamlit as st

from core.views import capture as views
from pages.parts.code import open_button, title_row
from pages.parts.graphs.drawers import captured_graphs
from pages.parts.graphs.drawn import captures_of
from pages.parts.run.submit import capture_now
from pages.session.downloads import downloads, json_twin
from pages.session.require import require_view
from pages.session.tables import draw

view = require_view("This page compares the captures of a model.")
if view is None:
    draw(views.NOTHING)
    st.stop()
captures = captures_of(view)
with title_row() as title:
    open_button(views.WAYS_TAB, "Graphs", ":material/difference:")
    open_button(views.LINES_TAB, "Lines", ":material/format_list_numbered:")
    open_button(views.NODES_TAB, "Nodes", ":material/table_rows:")
    open_button(views.SUMMARY_TAB, "explain()", ":material/help:")
    with downloads():
        json_twin("captures", view.report.captures, key="captures")
parts = {views.CAPTURE: partial(capture_now, view), views.GRAPHS: partial(captured_graphs, view, captures)}
draw(views.captures(captures), parts, title)

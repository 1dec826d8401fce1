"""Captures page: the model captured by symbolic_trace, Dynamo, export and AOTAutograd, side by side."""

import streamlit as st

from pages.parts.code import drawer, open_button, stage, title_row
from pages.parts.graphs.drawers import CAPTURE_TABS, LINES, NODES, SUMMARY, WAYS, captures_of, fill_captures_drawer
from pages.parts.graphs.drawn import captures_drawn, show
from pages.parts.run.submit import capture_now
from pages.session import url
from pages.session.downloads import downloads, json_twin
from pages.session.header import page_title
from pages.session.require import require_view

view = require_view("The captures of a model will stand here.")
if view is None:
    page_title("This run compiled nothing")
    st.stop()
captures = captures_of(view)
with title_row() as title:
    open_button(WAYS, "Graphs", ":material/difference:")
    open_button(LINES, "Lines", ":material/format_list_numbered:")
    open_button(NODES, "Nodes", ":material/table_rows:")
    open_button(SUMMARY, "explain()", ":material/help:")
    with downloads():
        json_twin("captures", view.report.captures, key="captures")
page_title(captures.title, place=title)
if not captures.is_recorded:
    st.write(captures.how_to_capture)
    capture_now(view)
for failure in captures.failures:
    st.warning(failure)
place = stage()
selected = url.selected()
if captures.is_drawn:
    with place.container(key="drawing"):
        selected = show(captures_drawn(view, captures), f"captures-{view.compilation.id}").id
with drawer(place, CAPTURE_TABS, selected) as tab:
    if tab:
        fill_captures_drawer(view, captures, tab, selected)

"""Compilations page: all compilations of a run as a tree, marked as the model's or as helpers."""

import streamlit as st

from core.views.compilations import CompilationsView
from core.views.glossary import GLOSSARY
from pages.parts.dynamo.tables import compilation_details, compilation_table
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("The compilations of a run will stand here.")
compilations = CompilationsView(view.report)
page_title(compilations.title, help=GLOSSARY["compilation"])
shown = shown_compilation(view.report)
if shown is None:
    st.write("torch.compile captured no frame, or the log holds none.")
    st.stop()

with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(compilations.totals)
    json_twin("compilations", compilations.entries, key="compilations")
if compilations.execution_order:
    st.caption(compilations.execution_order)
left, right = st.columns([4, 1], gap="medium")
with left:
    compilation_table(compilations, key="compilations-table")
with right:
    compilation_details(shown, compilations)

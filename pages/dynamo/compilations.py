"""Compilations page: all compilations of a run as a tree; marks which belong to the model and which are helpers."""

import streamlit as st

from core.analysis import compilation_tree, flattened, tree_sentence
from pages.look.glossary import GLOSSARY
from pages.look.text import LONGEST_TEXT, prose
from pages.parts.dynamo.compilations import compilation_table, one_compilation, totals
from pages.session.downloads import json_twin
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("The compilations of a run will stand here.")
report = view.report
entries = compilation_tree(report)
st.title(prose(tree_sentence(entries), LONGEST_TEXT), anchor=False, help=GLOSSARY["compilation"])
shown = shown_compilation(report)
if shown is None:
    st.write("torch.compile captured no frame, or the log holds none.")
    st.stop()

with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(totals(report, entries))
    json_twin("compilations", entries, key="compilations")
left, right = st.columns([4, 1], gap="medium")
with left:
    compilation_table(entries, key="compilations-table")
with right:
    one_compilation(shown, next(entry for _, entry in flattened(entries) if entry.id == shown.id))

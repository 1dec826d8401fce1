"""Recompiles page: a tree per recompiled frame, with the failed guard and the cost of each recompile."""

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.recompiles import RecompilesView
from pages import menu
from pages.parts.dynamo.boxes import fixes_of, offer_all, original_run, recompile_trees
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("What made torch compile a frame again will stand here.")
report = view.report
recompiles = RecompilesView(report)
page_title(recompiles.title, help=GLOSSARY["recompile"] if recompiles.count else None)
original_run(view)
if not report.compilations:
    st.stop()
if not recompiles.count:
    for sentence, error in recompiles.refused_calls:
        st.caption(sentence)
        st.code(error, language=None, wrap_lines=True)
    st.write("To see one, add two calls with different shapes, dtypes or arguments in the options of a new run.")
    st.stop()

with st.container(horizontal=True, vertical_alignment="center"):
    st.caption(recompiles.sources)
    json_twin("recompiles", report.recompiles, key="recompiles")
offer_all(view, fixes_of(view).of_all_recompiles(), key="recompiles")
recompile_trees(view, recompiles, recompiles.chosen(shown_compilation(report), url.selected()))
if recompiles.with_symbols:
    st.page_link(
        menu.DYNAMIC_SHAPES.script,
        label="Dynamic shapes: symbols of the inputs that changed",
        icon=menu.DYNAMIC_SHAPES.icon,
        query_params=url.link(compilation=recompiles.with_symbols),
    )

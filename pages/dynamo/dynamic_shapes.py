"""Dynamic shapes page: every symbol of a compilation, its origin, and torch's constraints on it."""

import streamlit as st

from core.analysis import symbol_rows
from pages.look.glossary import GLOSSARY
from pages.parts.dynamo.dynamic_shapes import elsewhere, symbol_table, title, whole_symbol, why_none
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_view
from pages.session.tables import picked_by_url

view = require_view("The symbols that stand for sizes will stand here.")
if view is None:
    st.title("No frame was compiled, so no size is dynamic.", anchor=False)
    st.stop()
rows = symbol_rows(view.compilation)
if not rows:
    st.title(f"No size of [{view.compilation.id}] is dynamic.", anchor=False, help=GLOSSARY["symbol"])
    elsewhere(view)
    st.markdown(why_none(view.job))
    job = job_again(view)
    if job is not None and not job.compile.dynamic and st.button("Try it", icon=":material/play_arrow:"):
        submit_or_open(job.with_settings(dynamic=True))
    st.stop()

st.title(title(rows, view.compilation), anchor=False, help=GLOSSARY["symbol"])
names = [row.symbol.name for row in rows]
picked_by_url(symbol_table(rows), names, "symbols")
with st.container(horizontal=True):
    json_twin("symbols", rows, key="symbols")
asked = url.selected()
whole_symbol(next((row for row in rows if row.symbol.name == asked), rows[0]))

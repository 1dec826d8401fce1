"""Dynamic shapes page: every symbol of a compilation, its origin, and torch's constraints on it."""

import streamlit as st

from core.views.dynamic_shapes import SymbolsView
from core.views.glossary import GLOSSARY
from pages.parts.dynamo.tables import compilations_with_symbols, export_issues, expressions, symbol_details
from pages.parts.run.submit import job_again, submit_or_open
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.tables import data_frame, picked_by_url
from pages.session.url import pressed

view = require_view("The symbols that stand for sizes will stand here.")
if view is None:
    page_title("No frame was compiled, so no size is dynamic")
    st.stop()
symbols = SymbolsView(view.report, view.compilation, view.job)
page_title(symbols.title, help=GLOSSARY["symbol"])
export_issues(symbols)
if not symbols.symbols:
    compilations_with_symbols(symbols)
    st.markdown(symbols.why_none)
    job = job_again(view)
    if (
        job is not None
        and not job.compile.dynamic
        and pressed("Try it", key="try-dynamic", icon=":material/play_arrow:")
    ):
        submit_or_open(job.with_settings(dynamic=True))
    st.stop()

picked_by_url(data_frame(symbols.rows), symbols.names, "symbols")
with st.container(horizontal=True):
    json_twin("symbols", symbols.symbols, key="symbols")
symbol_details(symbols, url.selected())
expressions(symbols)

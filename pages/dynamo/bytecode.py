"""Bytecode page: a function before and after Dynamo, with its compiled graph and its resume functions."""

import streamlit as st

from core.views.compilations import BytecodeView
from core.views.glossary import GLOSSARY
from pages.parts.dynamo.tables import PYTHON, bytecode_links, bytecode_listings, choose_form, decompiled_python
from pages.session.downloads import text_twin
from pages.session.header import page_title
from pages.session.require import require_view

view = require_view("What Dynamo makes of your function's bytecode will stand here.")
bytecode = BytecodeView(view.report, view.compilation, view.text) if view is not None else None
if view is None or bytecode is None or not bytecode.is_recorded:
    page_title("No bytecode of this compilation")
    st.write(bytecode.why_none if bytecode is not None else "Nothing was compiled.")
    st.stop()

page_title(bytecode.title, help=GLOSSARY["bytecode"])
with st.container(horizontal=True, vertical_alignment="center"):
    form = choose_form(bytecode)
    text_twin("bytecode", f"{bytecode.original}\n{bytecode.modified}", key="bytecode")
bytecode_links(bytecode)
if form == PYTHON:
    decompiled_python(bytecode)
else:
    bytecode_listings(view, bytecode)

"""Bytecode page: a function before and after Dynamo, with its compiled graph and its resume functions."""

import streamlit as st

from pages.look.glossary import GLOSSARY
from pages.parts.dynamo.bytecode import PYTHON, both_as_python, both_listings, how_shown, leads, missing, texts, title
from pages.session.downloads import text_twin
from pages.session.require import require_view

view = require_view("What Dynamo makes of your function's bytecode will stand here.")
found = texts(view) if view is not None else None
if view is None or found is None:
    st.title("No bytecode of this compilation.", anchor=False)
    st.write(missing(view.compilation) if view is not None else "Nothing was compiled.")
    st.stop()

st.title(title(view, found), anchor=False, help=GLOSSARY["bytecode"])
with st.container(horizontal=True, vertical_alignment="center"):
    shown = how_shown(found)
    text_twin("bytecode", f"{found.original}\n{found.modified}", key="bytecode")
leads(view, found)
if shown == PYTHON:
    both_as_python(found)
else:
    both_listings(view, found)

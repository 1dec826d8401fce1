"""AOTInductor page: export the model, compile it to a package, run the package in Python and C++."""

import streamlit as st

from core.views import aotinductor
from core.views.glossary import GLOSSARY
from pages.parts.aotinductor.panels import ask_for_package, choose_step, panel, sizes_part, times_part
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report

view = require_report("The model as a package, compiled ahead of time, will stand here.")
aoti = aotinductor.AotInductorView(view.report)
if aoti.compiled_for:
    page_title(aoti.title)
    st.write(aoti.compiled_for)
    st.stop()
page_title(aoti.title, help=GLOSSARY["package"])
if aoti.story is None:
    st.write(aoti.introduction)
    ask_for_package(view, aoti, "Package this model")
    st.stop()

step = choose_step(aoti)
if aoti.package is not None:
    left, right = st.columns([6, 5], gap="medium")
    with left:
        times_part(view, aoti)
    with right:
        sizes_part(aoti)
panel(view, aoti, step)
with st.container(horizontal=True, vertical_alignment="center"):
    json_twin("aotinductor", aoti.story, key="aotinductor")
with st.expander("Package again, with other sizes", aoti.export_failed, icon=":material/tune:"):
    ask_for_package(view, aoti, "Package again")

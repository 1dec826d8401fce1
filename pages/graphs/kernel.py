"""Kernel page: one kernel from source to machine code, on this machine or for a target."""

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.kernels import KernelView
from pages.look.text import prose
from pages.parts.kernel.ladder import chosen_kernel, compare_view, compiled_views
from pages.parts.kernel.tool import interpreter_view, may_run_tools, reproduce_view
from pages.session import url
from pages.session.header import page_title
from pages.session.require import require_view

view = require_view("One kernel, from its source down to machine code, will stand here.")
generated = KernelView.generated(view.report, view.compilation) if view is not None else {}
if view is None or not generated:
    page_title("This compilation generated no C++ and no Triton kernel")
    st.write("Extern kernels are library functions, whose code is not available.")
    st.stop()

title = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    kernel = chosen_kernel(generated)
    views = kernel.panels
    url.read(url.VIEW, views, views[0])
    shape = st.segmented_control("View", views, key=url.VIEW, label_visibility="collapsed") or views[0]
url.write(url.VIEW)
page_title(prose(kernel.title(shape)), help=GLOSSARY["kernel"], place=title)
if kernel.tuning:
    st.caption(kernel.tuning)
if shape == "reproduce":
    reproduce_view(view, kernel)
elif shape == "interpreter":
    interpreter_view(view, kernel)
elif shape == "compare":
    compare_view(view, kernel)
elif may_run_tools(view.shown):
    compiled_views(view, kernel, shape)

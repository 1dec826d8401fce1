"""Kernel page: one kernel from its source down to machine code, on this machine or for a cross-compilation target."""

import streamlit as st

from core.analysis.kernels import kernel_names
from core.base import words as fmt
from pages.look.glossary import GLOSSARY
from pages.look.text import LONGEST_NAME, plain
from pages.parts.kernel.compare import compare_view
from pages.parts.kernel.scripts import interpreter_view, reproduce_view
from pages.parts.kernel.tool import may_run_tools
from pages.parts.kernel.views import COMPARE, INTERPRETER, REPRODUCE, VIEWS, chosen_kernel, compiled_views
from pages.session import url
from pages.session.require import require_view

view = require_view("One kernel, from its source down to machine code, will stand here.")
kernels = view.compilation.kernels if view is not None else ()
generated = {kernel.id: kernel for kernel in kernels if not kernel.extern and kernel.language in VIEWS}
if view is None or not generated:
    st.title("This compilation generated no C++ and no Triton kernel.", anchor=False)
    st.write("Extern kernels are library functions: there is no code of theirs to follow down to machine code.")
    st.stop()

title = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    kernel = chosen_kernel(generated, kernel_names(view.compilation))
    views = VIEWS[kernel.language]
    url.read(url.VIEW, views, views[0])
    shape = st.segmented_control("View", views, key=url.VIEW, label_visibility="collapsed") or views[0]
url.write(url.VIEW)
apart = shape == INTERPRETER and kernel.language != "triton"
title.title(
    "Triton's interpreter, on another kernel: this one is no Triton."
    if apart
    else f"{plain(kernel.name, LONGEST_NAME)}: {plain(kernel.category, LONGEST_NAME)}, "
    f"made of {fmt.count(len(kernel.origins), 'FX node')}.",
    anchor=False,
    help=GLOSSARY["kernel"],
)
if shape == REPRODUCE:
    reproduce_view(view, kernel)
elif shape == INTERPRETER:
    interpreter_view(view, kernel)
elif shape == COMPARE:
    compare_view(view, kernel)
elif may_run_tools(view.shown):
    compiled_views(view, kernel, shape)

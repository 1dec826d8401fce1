"""Targets page: the kernels of two runs side by side, with fusion, tiling, configs and registers."""

import streamlit as st

from core import likeliest
from core.views import pairs as views
from core.views.glossary import GLOSSARY
from pages import menu
from pages.parts.compare.aspects import chosen_kernels
from pages.parts.compare.runs import kernel_pairs_view, labels, other_runs
from pages.parts.run.submit import retarget
from pages.session import url
from pages.session.header import page_title
from pages.session.require import require_view
from pages.session.shown import open_view
from pages.session.tables import draw

view = require_view("This page compares the code for two targets.")
if view is None or not view.compilation.kernels:
    page_title("This compilation has no kernel to compare")
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()
others = other_runs(view)
if not others:
    page_title("There is no other run of this model yet")
    st.write("Run it with other options, or generate code for another device, then compare both.")
    retarget(view)
    st.stop()

title = st.container()
left_column, right_column = st.columns(2, gap="medium", vertical_alignment="bottom")
with right_column, st.container(horizontal=True, vertical_alignment="bottom"):
    names = labels(others)
    url.read(url.OTHER, names, likeliest(others, view.job).run.id)
    other_id = st.selectbox("Right", list(names), key=url.OTHER, format_func=lambda name: names.get(name, name))
    retarget(view)
url.write(url.OTHER)
right = open_view(other_id) if other_id else None
kernels = kernel_pairs_view(view, view.compilation.id, right) if right is not None else None
if right is None or kernels is None:
    page_title("The run on the right has no kernel to compare with", place=title)
    st.write("It failed before code generation, or its backend is not `inductor`. Choose another run.")
    st.stop()

left_column.markdown(kernels.left)
right_column.markdown(kernels.right)
page_title(kernels.title, help=GLOSSARY["kernel"], place=title)
everything = url.link(other=right.run.id)
st.page_link(menu.COMPARE.script, label="All differences", icon=menu.COMPARE.icon, query_params=everything)
key = f"targets-{view.compilation.id}-{right.run.id}"
draw(views.kernel_pairs(kernels), {views.CHOSEN: lambda: chosen_kernels(kernels, key)})

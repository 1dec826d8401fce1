"""Kernels page: traffic, arithmetic and time of each kernel call, compared with the device's limits."""

import streamlit as st

from core.views.glossary import GLOSSARY
from pages import menu
from pages.look.text import LONGEST_NAME, code, plain, prose
from pages.parts.backends.alternatives import edit_and_run
from pages.parts.kernels.ledger import (
    chart,
    compiled_call,
    filtered,
    kernels_of,
    ledger_table,
    picture,
    target_choices,
)
from pages.parts.kernels.source import estimates_of_torch, kernel_source, kernel_text, user_lines
from pages.parts.run.submit import measure_again, measure_now, retarget
from pages.session import url
from pages.session.downloads import json_twin, text_twin
from pages.session.header import page_title
from pages.session.require import require_view

TIME_THEM = "Time the kernels"

view = require_view("The kernels that Inductor generated will stand here.")
if view is None or not view.compilation.kernels:
    page_title("This compilation has no kernel")
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()

kernels = kernels_of(view)
kernel = kernels.kernel((url.selected() or "").removeprefix("k:"))
page_title(kernels.scope + prose(kernels.title), help=GLOSSARY["kernel"])
limits = prose(kernels.ceilings_help) if kernels.ceilings_help and (kernels.measured or not view.going) else None
st.caption(prose(kernels.caption_of(view.going)), help=limits)
compiled_call(kernels)
if kernels.measured:
    measure_again(view)
elif not view.going:
    measure_now(view)
    measure_again(view, label=TIME_THEM)
target_choices(kernels)
with st.container(horizontal=True, vertical_alignment="center"):
    shape = picture(kernels)
    rows = filtered(kernels)
left, right = st.columns(2, gap="medium")
with left:
    chart(view, kernels, rows, shape, kernel.id)
with right:
    ledger_table(kernels, rows)

url.select(f"k:{kernel.id}")
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(f"**{plain(kernels.names[kernel.id], LONGEST_NAME)}** {code(kernel.name, LONGEST_NAME)}")
    if not kernel.extern:
        link = url.link(**{url.SELECT: f"k:{kernel.id}"})
        st.page_link(menu.KERNEL.script, label="Open the kernel", icon=menu.KERNEL.icon, query_params=link)
    whole = st.toggle("whole output code", key=url.WHOLE, bind="query-params")
    retarget(view)
    text_twin(kernel.name, kernel_text(view, kernel), key="kernel")
    json_twin("kernel-ledger", kernels.rows, key="kernel")
left, right = st.columns([3, 2], gap="medium")
with left:
    kernel_source(view, kernel, whole)
    edit_and_run(view, kernel)
with right:
    user_lines(view, kernel, selects=not whole)
estimates_of_torch(view, kernels)

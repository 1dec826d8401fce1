"""Kernels: the ledger. Each kernel call with its traffic, arithmetic and time, held against what the device allows."""

import streamlit as st

from core.analysis.kernels import ceilings, summary
from core.code import kernel_code
from pages import menu
from pages.look.glossary import GLOSSARY
from pages.look.sizes import SHORT
from pages.look.text import code
from pages.parts.kernels.choices import target_choices
from pages.parts.kernels.ledger import chart, chosen_kernel, filtered, rows_of
from pages.parts.kernels.ledger_table import COLUMNS, table
from pages.parts.kernels.ledger_words import ceiling_words, disturbed, sums, title, untimed, worst
from pages.parts.kernels.source import kernel_source, user_lines
from pages.parts.run.measure import measure_now
from pages.parts.run.retarget import retarget
from pages.session import url
from pages.session.downloads import json_twin, text_twin
from pages.session.require import require_view
from pages.session.tables import picked_by_url

view = require_view("The kernels that Inductor generated will stand here.")
if view is None or not view.compilation.kernels:
    st.title("This compilation has no kernel.", anchor=False)
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()

report, compilation = view.report, view.compilation
rows = rows_of(view)
limits = ceilings(report)
kernel = chosen_kernel(compilation, rows)
st.title(title(rows), anchor=False, help=GLOSSARY["kernel"])
if any(row.measured for row in rows):
    st.caption(worst(rows) + disturbed(report) + sums(summary(report)) + ceiling_words(limits))
elif view.going:
    st.caption("What was measured of them is recorded at the end of the run.")
else:
    target = limits.device if limits and limits.source == "datasheet" else ""
    st.caption(untimed(report, target) + (ceiling_words(limits) if limits else ""))
    measure_now(view)
target_choices(compilation)
left, right = st.columns([2, 3], gap="medium")
with right:
    shown = filtered(rows)
    key = f"kernels-{compilation.id}"
    ids = [f"k:{row.kernel}" for row in shown]
    picked_by_url(table(shown) if shown else None, ids, key, column_config=COLUMNS, height=SHORT)
with left:
    chart(view, shown, kernel.id)

url.select(f"k:{kernel.id}")
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(code(kernel.name))
    if not kernel.extern:
        link = url.link(**{url.SELECT: f"k:{kernel.id}"})
        st.page_link(menu.KERNEL.script, label="Open the kernel", icon=menu.KERNEL.icon, query_params=link)
    whole = st.toggle("whole output code", key=url.WHOLE, bind="query-params")
    retarget(view)
    text_twin(kernel.name, kernel_code(kernel, view.text(kernel.output_code)), key="kernel")
    json_twin("kernel-ledger", rows, key="kernel")
left, right = st.columns([3, 2], gap="medium")
with left:
    kernel_source(view, kernel, whole)
with right:
    user_lines(view, kernel)

"""Kernels: the ledger. Each kernel call with its traffic, arithmetic and time, held against what the device allows."""

from functools import partial

import streamlit as st

from core.analysis import ceilings, summary
from pages import menu
from pages.look.glossary import GLOSSARY
from pages.look.text import code
from pages.parts.code import kernel_code
from pages.parts.kernels.choices import target_choices
from pages.parts.kernels.ledger import chart, chosen_kernel, filtered, rows_of
from pages.parts.kernels.ledger_table import COLUMNS, table
from pages.parts.kernels.ledger_words import ceiling_words, disturbed, sums, title, untimed, worst
from pages.parts.kernels.source import kernel_source, user_lines
from pages.parts.run.retarget import retarget
from pages.session import url
from pages.session.downloads import json_twin, text_twin
from pages.session.require import require_report
from pages.session.shown import shown_compilation, text_of
from pages.session.tables import select_row

here, report = require_report("The kernels that Inductor generated will stand here.")
item = shown_compilation(report)
if item is None or not item.kernels:
    st.title("This compilation has no kernel.", anchor=False)
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()

rows = rows_of(here.run.id, report.log_bytes, item.id, here, report)
limits = ceilings(report)
kernel = chosen_kernel(item, rows)
st.title(title(rows), anchor=False, help=GLOSSARY["kernel"])
if any(row.measured for row in rows):
    st.caption(worst(rows) + disturbed(report) + sums(summary(report)) + ceiling_words(limits))
else:
    target = limits.device if limits and limits.source == "datasheet" else ""
    st.caption(untimed(report, target) + (ceiling_words(limits) if limits else ""))
target_choices(item)
left, right = st.columns([2, 3], gap="medium")
with right:
    shown = filtered(rows)
    key = f"kernels-{item.id}"
    st.dataframe(
        table(shown) if shown else None,
        hide_index=True,
        on_select=partial(select_row, key, [f"k:{row.kernel}" for row in shown]),
        selection_mode="single-row",
        key=key,
        column_config=COLUMNS,
        height=340,
    )
with left:
    chart(here.run.id, item, report, shown, kernel.id)

url.select(f"k:{kernel.id}")
text = text_of(here, kernel.output_code)
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(code(kernel.name))
    if not kernel.extern:
        link = url.link(**{url.SELECT: f"k:{kernel.id}"})
        st.page_link(menu.KERNEL.script, label="Open the kernel", icon=menu.KERNEL.icon, query_params=link)
    whole = st.toggle("whole output code", key=url.WHOLE, bind="query-params")
    retarget(here)
    text_twin(kernel.name, kernel_code(kernel, text), key="kernel")
    json_twin("kernel-ledger", rows, key="kernel")
left, right = st.columns([3, 2], gap="medium")
with left:
    kernel_source(kernel, item, report, text, whole)
with right:
    user_lines(here, report, item, kernel)

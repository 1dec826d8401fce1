"""Kernels page: each kernel call with its traffic, arithmetic and time, compared with the device's limits."""

import streamlit as st

from core.analysis import scope_words
from core.analysis.kernels import ceilings, kernel_names, summary, times_unreliable
from core.code import kernel_code
from pages import menu
from pages.look.glossary import GLOSSARY
from pages.look.text import LONGEST_NAME, code, plain
from pages.parts.kernels.choices import target_choices
from pages.parts.kernels.ledger import chart, chosen_kernel, compiled_call, filtered, picture, rows_of
from pages.parts.kernels.ledger_charts import HEIGHT
from pages.parts.kernels.ledger_table import COLUMNS, FEW, UNKNOWN, table
from pages.parts.kernels.ledger_words import ceiling_words, disturbed, sums, title, untimed, without_peak, worst
from pages.parts.kernels.source import kernel_source, user_lines
from pages.parts.run.measure import measure_again, measure_now
from pages.parts.run.retarget import retarget
from pages.session import url
from pages.session.downloads import json_twin, text_twin
from pages.session.require import require_view
from pages.session.tables import picked_by_url

TIME_THEM = "Time the kernels"

view = require_view("The kernels that Inductor generated will stand here.")
if view is None or not view.compilation.kernels:
    st.title("This compilation has no kernel.", anchor=False)
    st.write("Only the backend `inductor` generates kernels; a compilation without a graph has none either.")
    st.stop()

report, compilation = view.report, view.compilation
rows = rows_of(view)
limits = ceilings(report)
kernel, unreliable = chosen_kernel(compilation, rows), times_unreliable(report)
st.title(scope_words(report, compilation) + title(rows, unreliable), anchor=False, help=GLOSSARY["kernel"])
if any(row.measured for row in rows):
    st.caption(
        ("" if unreliable else sums(summary(report))) + disturbed(report) + worst(rows) + without_peak(rows, report)
        or "The kernels were timed.",
        help=ceiling_words(limits),
    )
    if not unreliable:
        compiled_call(view)
    measure_again(view)
elif view.going:
    st.caption("What was measured of them is recorded at the end of the run.")
else:
    target = limits.device if limits and limits.source == "datasheet" else ""
    st.caption(untimed(report, target), help=ceiling_words(limits) if limits else None)
    measure_now(view)
    measure_again(view, label=TIME_THEM)
target_choices(compilation)
with st.container(horizontal=True, vertical_alignment="center"):
    shape = picture(view, rows)
    shown = filtered(rows)
left, right = st.columns(2, gap="medium")
with left:
    chart(view, shown, shape, kernel.id)
with right:
    ids = [f"k:{row.kernel}" for row in shown]
    picked_by_url(
        table(shown) if shown else None,
        ids,
        f"kernels-{compilation.id}",
        column_config=COLUMNS,
        height=HEIGHT if len(shown) > FEW else "content",
        placeholder=UNKNOWN,
    )

url.select(f"k:{kernel.id}")
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(f"**{plain(kernel_names(compilation)[kernel.id], LONGEST_NAME)}** {code(kernel.name, LONGEST_NAME)}")
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

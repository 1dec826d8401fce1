"""Memory page: peak memory of eager and compiled, and Inductor's plan for the generated code."""

import streamlit as st

from core.views.glossary import GLOSSARY
from core.views.memory import MemoryView
from pages import menu
from pages.parts.code import source_text
from pages.parts.performance.memory import alive_table, memory_curves, plan_section, plans_of
from pages.parts.run.submit import measure_memory
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.header import page_title
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("The memory of eager and of compiled will stand here.")
report = view.report
compilation = shown_compilation(report)
plans = plans_of(view, compilation)
memory = MemoryView(report, lambda path: source_text(view, path))
skipped = "" if report.memory else memory.compiled_for
page_title(memory.title, help=None if skipped else GLOSSARY["peak memory"])
for failure in memory.failures:
    st.error(failure)
if skipped:
    st.write(skipped)
elif not report.memory:
    st.write(memory.how_to_measure)
    measure_memory(view)

if memory.uses:
    st.caption(memory.method, help=memory.method_help)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        memory_curves(view, memory)
    with right:
        alive_table(memory)
if compilation is not None and plans:
    plan_section(view.of(compilation), plans)
elif compilation is not None and not compilation.kernels:
    st.caption("No memory plan: this compilation has no generated code.")
with st.container(horizontal=True, vertical_alignment="center"):
    if compilation is not None and compilation.partitions:
        st.page_link(
            menu.PARTITION.script,
            label="Values saved for the backward",
            icon=menu.PARTITION.icon,
            query_params=url.link(),
        )
    plan_data = [plan.graph_plan.plan for plan in plans]
    json_twin("memory", {"measured": report.memory, "plans": plan_data}, key="memory")

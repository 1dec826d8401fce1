"""Memory page: peak memory of eager and compiled, and Inductor's plan for the generated code."""

import streamlit as st

from core.analysis import memory_sentence, memory_unmeasured, target_words
from pages import menu
from pages.look.glossary import GLOSSARY
from pages.look.text import plain
from pages.parts.performance.memory import (
    WHAT,
    alive_table,
    curves,
    how_measured,
    peaks_words,
    plan_section,
    plans_of,
    uses_of,
)
from pages.parts.run.measure_memory import measure_memory
from pages.session import url
from pages.session.downloads import json_twin
from pages.session.require import require_report
from pages.session.shown import shown_compilation

view = require_report("The memory of eager and of compiled will stand here.")
report = view.report
compilation = shown_compilation(report)
plans = plans_of(view, compilation)
words = target_words(report)
if report.memory:
    st.title(memory_sentence(report), anchor=False, help=GLOSSARY["peak memory"])
    for reason in memory_unmeasured(report):
        st.error(plain(reason))
elif words:
    st.title("Nothing was run, so no memory was measured.", anchor=False)
    st.write(f"The code was {words}.")
else:
    st.title("The memory of eager and compiled was not measured.", anchor=False, help=GLOSSARY["peak memory"])
    st.write(
        "A run that measures it makes its last call again, eagerly and compiled, each in a process of its own, and "
        "watches the allocator."
    )
    measure_memory(view)

uses = uses_of(report)
if uses:
    st.caption(f"{how_measured(uses)} {peaks_words(report, uses)}", help=WHAT)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        curves(view, uses)
    with right:
        alive_table(view)
if compilation is not None and plans:
    plan_section(view.of(compilation), plans)
elif compilation is not None and not compilation.kernels:
    st.caption("This compilation has no generated code, so that there is no plan of its memory.")
with st.container(horizontal=True, vertical_alignment="center"):
    if compilation is not None and compilation.partitions:
        st.page_link(
            menu.PARTITION.script,
            label="What the forward keeps for the backward",
            icon=menu.PARTITION.icon,
            query_params=url.link(),
        )
    json_twin("memory", {"measured": report.memory, "plans": [found.plan for found in plans]}, key="memory")

"""Kernel: one kernel, from its source down to machine code, on this machine or for a target that is not there."""

import streamlit as st

from core.report import Autotuning, Compilation, Kernel, Report
from core.tools import (
    TARGETS,
    Assembly,
    AssemblyAnswer,
    Configs,
    ConfigsAnswer,
    Ladder,
    LadderAnswer,
    Passes,
    PassesAnswer,
)
from pages.look import format as fmt
from pages.look.glossary import GLOSSARY
from pages.look.text import one_line, plain
from pages.parts.kernel.compare import compare_view, target_words
from pages.parts.kernel.ladder import assembly_view, configs_view, ladder_view, passes_view
from pages.parts.kernel.scripts import interpreter_view, reproduce_view
from pages.parts.kernel.tool import may_run_tools, tool
from pages.session import url
from pages.session.memory import held, hold
from pages.session.require import require_report
from pages.session.shown import shown_compilation

LADDER, PASSES, CONFIGS, ASSEMBLY = "ladder", "passes", "configs", "assembly"
REPRODUCE, INTERPRETER, COMPARE = "reproduce", "interpreter", "compare"
VIEWS = {
    "triton": [LADDER, PASSES, CONFIGS, REPRODUCE, INTERPRETER, COMPARE],
    "cpp": [ASSEMBLY, REPRODUCE, INTERPRETER, COMPARE],
}
MOST_CONFIGS = 200


def chosen(item: Compilation, generated: dict[str, Kernel]) -> Kernel:
    """The picked kernel, which the URL holds as the selection of every page."""
    selected = (url.selected() or "").removeprefix("k:")
    fallback = max(generated.values(), key=lambda kernel: len(kernel.origins)).id
    url.read(url.KERNEL, generated, selected if selected in generated else fallback)
    if selected in generated and held("kernel-selected") != selected:
        hold(url.KERNEL, selected)
    picked = st.selectbox(
        "Kernel",
        list(generated),
        key=url.KERNEL,
        format_func=lambda name: one_line(generated[name].name, 110),
        label_visibility="collapsed",
        width=520,
    )
    hold("kernel-selected", picked)
    url.select(f"k:{picked}")
    return generated[picked]


def measured(report: Report, kernel: Kernel) -> Autotuning | None:
    """What autotuning measured for this kernel, if it did."""
    return next((item for item in report.autotuned if (item.name, item.kind) == (kernel.name, "configs")), None)


def compiled_views(kernel: Kernel, view: str) -> None:
    """The views that compile the kernel once more."""
    if view == ASSEMBLY:
        answer = tool(here.run, Assembly(kernel.id), "Compiling to assembly…")
        if isinstance(answer, AssemblyAnswer):
            assembly_view(answer, f"assembly-{kernel.id}")
        return
    with st.container(horizontal=True):
        url.read(url.TARGET, TARGETS, "")
        target = st.selectbox("Target", ["", *TARGETS], key=url.TARGET, format_func=target_words, width=260)
        config = 0
        if view != CONFIGS:
            config = int(
                st.number_input("Config", 0, MOST_CONFIGS, 0, key="config", width=140, help="See the view configs")
            )
    url.write(url.TARGET)
    key = f"{view}-{kernel.id}-{target}-{config}"
    if view == LADDER:
        answer = tool(here.run, Ladder(kernel.id, target, config), "Compiling…")
        if isinstance(answer, LadderAnswer):
            ladder_view(answer, key)
    elif view == PASSES:
        answer = tool(here.run, Passes(kernel.id, target, config), "Compiling with MLIR's dumps…")
        if isinstance(answer, PassesAnswer):
            passes_view(answer, key)
    else:
        answer = tool(here.run, Configs(kernel.id, target), "Compiling every config…")
        if isinstance(answer, ConfigsAnswer):
            configs_view(answer, measured(report, kernel))


here, report = require_report("One kernel, from its source down to machine code, will stand here.")
item = shown_compilation(report)
generated = (
    {kernel.id: kernel for kernel in item.kernels if not kernel.extern and kernel.language in VIEWS} if item else {}
)
if item is None or not generated:
    st.title("This compilation generated no C++ and no Triton kernel.", anchor=False)
    st.write("Extern kernels are library functions: there is no code of theirs to follow down to machine code.")
    st.stop()

title = st.container()
with st.container(horizontal=True, vertical_alignment="bottom"):
    kernel = chosen(item, generated)
    views = VIEWS[kernel.language]
    url.read(url.VIEW, views, views[0])
    view = st.segmented_control("View", views, key=url.VIEW, label_visibility="collapsed") or views[0]
url.write(url.VIEW)
title.title(
    f"{plain(kernel.name, 90)}: {plain(kernel.category, 60)}, made of {fmt.count(len(kernel.origins), 'FX node')}.",
    anchor=False,
    help=GLOSSARY["kernel"],
)
if view == REPRODUCE:
    reproduce_view(here, report, kernel)
elif view == INTERPRETER:
    interpreter_view(here, kernel)
elif view == COMPARE:
    compare_view(here, kernel)
elif may_run_tools(here):
    compiled_views(kernel, view)

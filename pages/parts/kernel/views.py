"""The views that compile one kernel again, and the choice of that kernel."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.report import Kernel
from core.runs.tools import (
    TARGETS,
    Assembly,
    AssemblyAnswer,
    Configs,
    ConfigsAnswer,
    Ladder,
    LadderAnswer,
    Passes,
    PassesAnswer,
    Request,
)
from pages.look.text import LONGEST_LINE, one_line
from pages.parts.kernel.compare import target_words
from pages.parts.kernel.ladder import assembly_view, configs_view, ladder_view, passes_view
from pages.parts.kernel.tool import tool
from pages.parts.kernels.source import kernel_source
from pages.session import url
from pages.session.memory import held, hold
from pages.session.view import View

LADDER, PASSES, CONFIGS, ASSEMBLY = "ladder", "passes", "configs", "assembly"
REPRODUCE, INTERPRETER, COMPARE = "reproduce", "interpreter", "compare"
VIEWS = {
    "triton": [LADDER, PASSES, CONFIGS, REPRODUCE, INTERPRETER, COMPARE],
    "cpp": [ASSEMBLY, REPRODUCE, INTERPRETER, COMPARE],
}
MOST_CONFIGS = 200


def chosen_kernel(generated: Mapping[str, Kernel], names: Mapping[str, str]) -> Kernel:
    """Return the picked kernel by name; the URL holds it as the selection of every page."""
    selected = (url.selected() or "").removeprefix("k:")
    fallback = max(generated.values(), key=lambda kernel: len(kernel.origins)).id
    url.read(url.KERNEL, generated, selected if selected in generated else fallback)
    if selected in generated and held("kernel-selected") != selected:
        hold(url.KERNEL, selected)
    picked = st.selectbox(
        "Kernel",
        list(generated),
        key=url.KERNEL,
        format_func=lambda name: one_line(f"{names[name]} ({generated[name].name})", LONGEST_LINE),
        label_visibility="collapsed",
        width=520,
    )
    hold("kernel-selected", picked)
    url.select(f"k:{picked}")
    return generated[picked]


def compiled_views(view: View, kernel: Kernel, shape: str) -> None:
    """Draw a view that compiles the kernel again; shows its source until that is done."""
    target, config = ("", 0) if shape == ASSEMBLY else _target_and_config(shape)
    key = f"{shape}-{kernel.id}-{target}-{config}"
    request, waiting = _asked(kernel.id, shape, target, config)
    match tool(view.run, request, waiting):
        case LadderAnswer() as answer:
            ladder_view(answer, key)
        case PassesAnswer() as answer:
            passes_view(answer, key)
        case ConfigsAnswer() as answer:
            configs_view(answer, kernel.tried)
        case AssemblyAnswer() as answer:
            assembly_view(answer, key)
        case _:
            kernel_source(view, kernel, whole=False)


def _target_and_config(shape: str) -> tuple[str, int]:
    with st.container(horizontal=True):
        url.read(url.TARGET, TARGETS, "")
        target = st.selectbox("Target", ["", *TARGETS], key=url.TARGET, format_func=target_words, width=260)
        config = 0
        if shape != CONFIGS:
            config = int(
                st.number_input("Config", 0, MOST_CONFIGS, 0, key="config", width=140, help="See the view configs")
            )
    url.write(url.TARGET)
    return target, config


def _asked(kernel: str, shape: str, target: str, config: int) -> tuple[Request, str]:
    """Return a view's tool request, and the text shown while the tool runs."""
    if shape == ASSEMBLY:
        return Assembly(kernel), "Compiling to assembly…"
    if shape == LADDER:
        return Ladder(kernel, target, config), "Compiling…"
    if shape == PASSES:
        return Passes(kernel, target, config), "Compiling with MLIR's dumps…"
    return Configs(kernel, target), "Compiling every config…"

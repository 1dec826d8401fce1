"""The views that compile one kernel again, and the choice of that kernel."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core import TARGETS
from core.views.kernels import KernelTool, KernelView
from pages.look.text import LONGEST_LINE, one_line
from pages.parts.kernel.ladder import assembly_view, configs_view, ladder_view, passes_view
from pages.parts.kernel.tool import tool_result
from pages.parts.kernels.source import kernel_source
from pages.session import url
from pages.session.memory import held, hold
from pages.session.view import View

CONFIGS, ASSEMBLY = "configs", "assembly"
MOST_CONFIGS = 200


def chosen_kernel(generated: Mapping[str, KernelView]) -> KernelView:
    """Return the kernel that is picked by name; its id is the URL's selection, which other pages follow."""
    selected = (url.selected() or "").removeprefix("k:")
    fallback = max(generated, key=lambda name: len(generated[name].kernel.origins))
    url.read(url.KERNEL, generated, selected if selected in generated else fallback)
    if selected in generated and held("kernel-selected") != selected:
        hold(url.KERNEL, selected)
    picked = st.selectbox(
        "Kernel",
        list(generated),
        key=url.KERNEL,
        format_func=lambda name: one_line(generated[name].label, LONGEST_LINE),
        label_visibility="collapsed",
        width=520,
    )
    hold("kernel-selected", picked)
    url.select(f"k:{picked}")
    return generated[picked]


def compiled_views(view: View, shown: KernelView, shape: str) -> None:
    """Draw a view that compiles the kernel again; shows its source until that is done."""
    kernel = shown.kernel
    target, config = ("", 0) if shape == ASSEMBLY else _target_and_config(shape)
    result = tool_result(KernelTool.compiled(view.run, kernel.id, shape, target, config))
    if result is None:
        kernel_source(view, kernel, whole=False)
        return
    key = f"{shape}-{kernel.id}-{target}-{config}"
    ladder_view(result, key)
    passes_view(result, key)
    configs_view(result, kernel.tried)
    assembly_view(result, key)


def _target_and_config(shape: str) -> tuple[str, int]:
    with st.container(horizontal=True):
        url.read(url.TARGET, TARGETS, "")
        target = st.selectbox("Target", ["", *TARGETS], key=url.TARGET, format_func=KernelView.target_title, width=260)
        config = 0
        if shape != CONFIGS:
            config = int(
                st.number_input("Config", 0, MOST_CONFIGS, 0, key="config", width=140, help="See the view configs")
            )
    url.write(url.TARGET)
    return target, config

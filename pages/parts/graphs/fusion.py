"""Parts of the fusion page: graphs before and after fusion, a kernel, and why two nodes were not fused."""

from __future__ import annotations

import streamlit as st

from core.report import Kernel
from core.views.fusion import FusionView
from pages import menu
from pages.look.palette import SHORT, TALL
from pages.look.text import LONGEST_NAME, code
from pages.parts.graphs.drawn import fusion_drawn, show
from pages.parts.kernels.source import kernel_source, user_lines
from pages.session import url
from pages.session.shown import View
from pages.session.url import go_to, held, hold

KERNEL, WHY, IR = "kernel", "why not fused", "IR"
OPENED = "fusion-opened"


def draw_both(view: View, index: int) -> str | None:
    """Draw before and after fusion side by side; a selection in one is marked in the other.

    The right side is a film of the fusions, which starts with its last frame.
    """
    before, after = fusion_drawn(view, index, morph=False)
    left, right = st.columns(2, gap="small")
    name = f"{view.compilation.id}-{index}"
    with left:
        left_choice = show(before, f"before-{name}", step=name)
    with right:
        last = len(after.data["frames"]) - 1
        requested = url.number(url.FRAME)
        frame = last if requested is None else min(requested, last)
        right_choice = show(after, f"after-{name}", step=name, frame=frame, on_activate=_activated)
    url.put(url.FRAME, None if right_choice.frame == last else str(right_choice.frame))
    url.select(_newest(left_choice.id, right_choice.id))
    return url.selected()


def draw_morph(view: View, index: int) -> str | None:
    """Draw a view that animates the ops into their kernels and back; return the selected id."""
    (both,) = fusion_drawn(view, index, morph=True)
    return show(both, f"morph-{view.compilation.id}-{index}", on_activate=_activated).id


def _activated(item_id: str) -> None:
    hold(OPENED, item_id)


def _newest(left: str | None, right: str | None) -> str | None:
    """Return the selection of the view that changed since the page's last run."""
    last_left, last_right = held("fusion-selections", (None, None))
    hold("fusion-selections", (left, right))
    if right != last_right:
        return right
    return left if left != last_left else url.selected()


def open_kernel(fusion: FusionView) -> None:
    """Open the page of a newly double-clicked kernel."""
    kernel = fusion.kernel(held(OPENED))
    hold(OPENED, None)
    if kernel is not None:
        go_to(_page(kernel), url.link(**{url.SELECT: f"k:{kernel.id}"}))


def kernel_drawer(view: View, kernel: Kernel | None) -> None:
    """Draw a kernel's source, and the lines of the model that it comes from."""
    if kernel is None:
        st.caption(FusionView.no_kernel_picked)
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(code(kernel.name, LONGEST_NAME))
        page = _page(kernel)
        link = url.link(**{url.SELECT: f"k:{kernel.id}"})
        st.page_link(page.script, label="Open the kernel", icon=page.icon, query_params=link)
    kernel_source(view, kernel, whole=False, height=SHORT)
    user_lines(view, kernel)


def _page(kernel: Kernel) -> menu.Page:
    return menu.KERNELS if kernel.extern else menu.KERNEL


def why_not(fusion: FusionView) -> None:
    """Let the visitor pick two nodes (by default a refused pair), and show why they are not fused."""
    titles = fusion.node_titles
    if len(titles) < 2:
        st.caption(fusion.one_node)
        return
    st.markdown(f"**{fusion.question}**")
    names = list(titles)
    first, second = map(names.index, fusion.pair)
    left = st.selectbox("First", names, index=first, format_func=titles.__getitem__, key="why-one")
    right = st.selectbox("Second", names, index=second, format_func=titles.__getitem__, key="why-other")
    _refusal(fusion, left, right)
    with st.expander(fusion.refusals_title):
        for line in fusion.refusals:
            st.markdown(line)


def _refusal(fusion: FusionView, left: str, right: str) -> None:
    refusal = fusion.refusal(left, right)
    if refusal is None:
        st.caption(fusion.same_nodes)
        return
    for line in refusal.lines:
        st.markdown(line)
    st.caption(refusal.shared)


def loop_body(view: View, fusion: FusionView, selected: str | None) -> bool:
    """Draw Inductor's IR of the selected op or kernel; return False if it was not recorded."""
    if selected is None:
        st.caption(fusion.no_ir_picked)
        return True
    text = fusion.ir(selected, view.text)
    if text:
        st.code(text, language="python", height=TALL)
    else:
        st.caption(fusion.no_ir)
    return bool(text)

"""The parts of the fusion page: both sides of the scheduler, and why two nodes were not fused."""

from __future__ import annotations

import re

import streamlit as st

from core.analysis import WhyApart, refused_pair, rejections, why_apart, working_ops
from core.base import words as fmt
from core.report import Compilation, Kernel, Schedule, SchedulerNode
from pages import menu
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, code, one_line, plain
from pages.parts.graphs.drawn import fusion_drawn, lowered_nodes, show
from pages.parts.kernels.source import kernel_source, user_lines
from pages.session import url
from pages.session.memory import held, hold
from pages.session.navigate import go_to
from pages.session.view import View

SCHEDULER_NAME = re.compile(r"\bop\d+\b")
MOST_WORDS = 4
KERNEL, WHY = "kernel", "why not fused"
OPENED = "fusion-opened"


def schedule_words(schedule: Schedule) -> str:
    """Return a schedule's name in a list."""
    words = f"{schedule.direction or 'graph'} {schedule.graph_id}" if schedule.graph_id >= 0 else schedule.direction
    return f"{words}, {one_line(schedule.subgraph, LONGEST_NAME)}" if schedule.subgraph else words


def draw_both(view: View, index: int) -> str | None:
    """Draw before and after fusion side by side; a selection in one is marked in the other.

    The right side is a film of the fusions, which starts with its last frame.
    """
    before, after = fusion_drawn(view, index, morph=False)
    left, right = st.columns(2, gap="small")
    name = f"{view.compilation.id}-{index}"
    with left:
        one = show(before, f"before-{name}", step=name)
    with right:
        last = len(after.data["frames"]) - 1
        asked = url.number(url.FRAME)
        frame = last if asked is None else min(asked, last)
        other = show(after, f"after-{name}", step=name, frame=frame, on_activate=_activated)
    url.put(url.FRAME, None if other.frame == last else str(other.frame))
    url.select(_newest(one.id, other.id))
    return url.selected()


def draw_morph(view: View, index: int) -> str | None:
    """Draw a view that moves the ops into their kernels, from before fusion to after it and back; return the selected
    id.
    """
    (both,) = fusion_drawn(view, index, morph=True)
    return show(both, f"morph-{view.compilation.id}-{index}", on_activate=_activated).id


def _activated(item: str) -> None:
    hold(OPENED, item)


def open_kernel(view: View, schedule: Schedule) -> None:
    """Open the page of the kernel that was double-clicked just now."""
    kernel = kernel_at(view, schedule, held(OPENED))
    hold(OPENED, None)
    if kernel is not None:
        page = menu.KERNELS if kernel.extern else menu.KERNEL
        go_to(page, url.link(**{url.SELECT: f"k:{kernel.id}"}))


def kernel_at(view: View, schedule: Schedule, selected: str | None) -> Kernel | None:
    """Return the kernel of a selected box, op or kernel."""
    kind, _, name = (selected or "").partition(":")
    nodes = {node.name: node.kernel for node in schedule.before}
    kernel_id = name if kind == "k" else nodes.get(name, "")
    return next((kernel for kernel in view.compilation.kernels if kernel.id == kernel_id), None)


def kernel_drawer(view: View, kernel: Kernel | None) -> None:
    """Draw a kernel's source, and the lines of the model that it comes from."""
    if kernel is None:
        st.caption("Click a kernel for its source and the lines that it came from; double click opens its page.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(code(kernel.name, LONGEST_NAME))
        page = menu.KERNELS if kernel.extern else menu.KERNEL
        link = url.link(**{url.SELECT: f"k:{kernel.id}"})
        st.page_link(page.script, label="Open the kernel", icon=page.icon, query_params=link)
    kernel_source(view, kernel, whole=False, height=SHORT)
    user_lines(view, kernel)


def _newest(one: str | None, other: str | None) -> str | None:
    """Return the selection that changed since the page's last run, of two views that report separately."""
    before = held("fusion-selections", (None, None))
    hold("fusion-selections", (one, other))
    if other != before[1]:
        return other
    return one if one != before[0] else url.selected()


def why_not(view: View, schedule: Schedule) -> None:
    """Let the visitor pick two nodes, and show why they are not fused; by default a pair that torch refused."""
    if len(schedule.after) < 2:
        st.caption("There is one node, and nothing that it could be fused with.")
        return
    st.markdown("**Why were these two not fused?**")
    ops = working_ops(schedule, lowered_nodes(view, schedule))
    words = {name: ", ".join(found[:MOST_WORDS]) for name, found in ops.items()}
    names = {node.name: _title(node, view.compilation, words) for node in schedule.after}
    order = list(names)
    places = [order.index(name) for name in refused_pair(schedule) or order[:2]]
    one = st.selectbox("First", order, index=places[0], format_func=names.__getitem__, key="why-one")
    other = st.selectbox("Second", order, index=places[1], format_func=names.__getitem__, key="why-other")
    by_name = {node.name: node for node in schedule.after}
    if one == other:
        st.caption("Choose two different nodes.")
    else:
        _reasons(why_apart(schedule, by_name[one], by_name[other]), words)
    with st.expander("All refusals of the scheduler"):
        for reason, count in rejections(schedule).items():
            st.markdown(f"{fmt.number(count)} × {plain(reason)}")


def _title(node: SchedulerNode, compilation: Compilation, words: dict[str, str]) -> str:
    kernel = next((kernel.name for kernel in compilation.kernels if kernel.id == node.kernel), "")
    ops = ", ".join(dict.fromkeys(text for name in node.nodes if (text := words.get(name))))
    return " · ".join(filter(None, [ops[:60], kernel or node.kind, node.name]))[:140]


def _reasons(found: WhyApart, words: dict[str, str]) -> None:
    if found.because:
        st.markdown(plain(_with_words(found.because, words), LONGEST_TEXT))
    for number, reason in found.recorded:
        st.markdown(f"round {number}: {code(_with_words(reason, words), LONGEST_TEXT)}")
    if not found.because and not found.recorded:
        st.markdown("The scheduler recorded no reason for this pair.")
    st.caption(_shared_words(found))


def _shared_words(found: WhyApart) -> str:
    if not found.shared:
        return "They share no buffer."
    if not sum(found.shared.values()):
        return "They share memory, but neither moves any of it."
    bound = "" if found.because else ": at most that much traffic could have been saved (a bound, not a measurement)"
    return f"They share {fmt.bytes_(sum(found.shared.values()))} of buffers{bound}."


def _with_words(reason: str, words: dict[str, str]) -> str:
    """Return torch's reason, with the user's ops after the scheduler's names."""

    def told(match: re.Match[str]) -> str:
        ops = words.get(match.group())
        return f"{match.group()} ({ops})" if ops else match.group()

    return SCHEDULER_NAME.sub(told, reason)

"""The parts of the fusion page: both sides of the scheduler, and why two nodes stayed apart."""

from __future__ import annotations

import streamlit as st

from core.analysis import groups_after, kernel_groups, reasons_between, rejections, shared_bytes, steps
from core.report import Compilation, FxGraph, FxNode, Report, Schedule, SchedulerNode
from pages.components import format as fmt
from pages.components import state
from pages.components.graph_view import GraphPicture, graph_view, place
from pages.components.pictures import after_picture, before_picture, kernel_colours
from pages.components.text import code, plain


def schedule_words(schedule: Schedule) -> str:
    """A schedule's name in a list."""
    return f"{schedule.direction or 'graph'} {schedule.graph_id}" if schedule.graph_id >= 0 else schedule.direction


def lowered_graph(item: Compilation, schedule: Schedule) -> FxGraph | None:
    """The graph that a schedule was made of."""
    found = [graph for graph in item.graphs if graph.stage == "inductor_post_grad_graph"]
    return next((graph for graph in found if graph.direction == schedule.direction), found[0] if found else None)


def fx_nodes(here: state.Shown, item: Compilation, schedule: Schedule) -> dict[str, FxNode]:
    """The FX nodes that a schedule's origins name."""
    graph = lowered_graph(item, schedule)
    return {node.name: node for node in state.nodes(here, item, graph)} if graph else {}


@st.cache_resource(max_entries=64, show_spinner="Laying the graph out")
def _before(run_id: str, compile_id: str, index: int, _report: Report) -> GraphPicture:
    here, item, schedule = _opened(run_id, compile_id, index, _report)
    nodes = fx_nodes(here, item, schedule)
    return place(*before_picture(schedule, nodes, kernel_colours(_report)))


@st.cache_resource(max_entries=256, show_spinner="Laying the graph out")
def _after(run_id: str, compile_id: str, index: int, step: int, _report: Report) -> GraphPicture:
    here, item, schedule = _opened(run_id, compile_id, index, _report)
    kernels = {kernel.id: kernel for kernel in item.kernels}
    groups = kernel_groups(schedule) if step == len(steps(schedule)) else groups_after(schedule, step)
    nodes = fx_nodes(here, item, schedule)
    return place(*after_picture(schedule, groups, nodes, kernels, kernel_colours(_report)))


def _opened(run_id: str, compile_id: str, index: int, report: Report) -> tuple[state.Shown, Compilation, Schedule]:
    here, item = state.open_shown(run_id), report.compilation(compile_id)
    assert here is not None
    assert item is not None
    return here, item, item.schedules[index]


def draw_both(here: state.Shown, report: Report, item: Compilation, index: int, step: int) -> None:
    """Before and after side by side; what is selected in one is marked in the other."""
    left, right = st.columns(2, gap="medium")
    before = _before(here.run.id, item.id, index, report)
    after = _after(here.run.id, item.id, index, step, report)
    with left:
        st.caption("Before: one box for each node of the scheduler.")
        one = graph_view(before, key=f"before-{item.id}-{index}", height=600, selected=state.selected())
    with right:
        st.caption(" ".join(filter(None, [_step_words(item.schedules[index], step), after.layout_note])))
        other = graph_view(after, key=f"after-{item.id}-{index}-{step}", height=600, selected=state.selected())
    state.select(_newest(one, other))


def _step_words(schedule: Schedule, step: int) -> str:
    made = steps(schedule)
    if not made or step == len(made):
        return "After: one coloured box for each kernel, its ops inside."
    if step == 0:
        return "Before the first fusion."
    last = made[step - 1]
    return f"After step {step} of {len(made)}, in round {last.round}: `fusing {last.first} with {last.second}`"


def _newest(one: str | None, other: str | None) -> str | None:
    """The selection that changed since the last run of the page, of two views that each report their own."""
    before = st.session_state.get("fusion-selections", (None, None))
    st.session_state["fusion-selections"] = (one, other)
    if other != before[1]:
        return other
    return one if one != before[0] else state.selected()


def why_not(schedule: Schedule, item: Compilation) -> None:
    """Pick two nodes: the scheduler's own reasons for keeping them apart."""
    if len(schedule.after) < 2:
        return
    st.subheader("Why were these two not fused?", anchor=False)
    names = {node.name: _title(node, item) for node in schedule.after}
    first, second = st.columns(2, gap="medium")
    one = first.selectbox("First", list(names), format_func=names.__getitem__, key="why-one")
    other = second.selectbox("Second", list(names), index=1, format_func=names.__getitem__, key="why-other")
    by_name = {node.name: node for node in schedule.after}
    _reasons(schedule, by_name[one], by_name[other])
    with st.expander("All refusals of the scheduler"):
        for reason, count in rejections(schedule).items():
            st.markdown(f"{count:,} × {plain(reason)}")


def _title(node: SchedulerNode, item: Compilation) -> str:
    kernel = next((kernel.name for kernel in item.kernels if kernel.id == node.kernel), "")
    return f"{kernel or node.kind} · {node.name}"[:110]


def _reasons(schedule: Schedule, one: SchedulerNode, other: SchedulerNode) -> None:
    if one == other:
        st.caption("Choose two different nodes.")
        return
    found = reasons_between(schedule, one, other)
    for number, reason in found:
        st.markdown(f"round {number}: {code(reason, 600)}")
    if not found:
        st.markdown(
            "The scheduler gave no reason for this pair: it never considered them, which is so when they share no buffer."
        )
    shared = shared_bytes(one, other)
    st.caption(
        f"They share {fmt.bytes_(shared)} of buffers: at most that much traffic could have been saved (a bound, not a measurement)."
        if shared
        else "They share no buffer."
    )

"""The parts of the page Memory: the curves, the allocations alive at the peaks, and Inductor's plan."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.report import Compilation
from core.views.memory import MemoryView
from core.views.memory_plan import MemoryPlanView, memory_plans
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import SHORT
from pages.look.text import one_line
from pages.parts.code import kernel_colours
from pages.parts.performance.memory_charts import CURVES_HEIGHT, curves_chart, plan_chart
from pages.session import url
from pages.session.cache import cached
from pages.session.figures import kept, theme
from pages.session.tables import in_words, newly_picked, picked_points
from pages.session.view import RunView, View

HEAD_PX = 74
FORMS = {"bytes": fmt.bytes_, "there": fmt.bytes_, "made": fmt.bytes_, "freed": fmt.bytes_, "tensors": fmt.number}


def memory_curves(view: RunView, memory: MemoryView) -> None:
    """Draw both curves on one axis."""
    on = theme()
    figure = kept(lambda: curves_chart(memory.curves, on), "memory", view.run.id, view.report.log_bytes, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="memory-curves")


def alive_table(memory: MemoryView) -> None:
    """Draw the table of allocations alive at a peak; a click on a kernel's row selects it."""
    sides = list(memory.alive)
    if not sides:
        return
    side = st.segmented_control("What is alive at the peak of", sides, default=sides[0], key="alive-side")
    chosen = newly_picked(
        in_words(pd.DataFrame(memory.alive_table(side or sides[0])), FORMS),
        memory.alive[side or sides[0]],
        f"alive-{side}",
        height=CURVES_HEIGHT - HEAD_PX,
        column_config={
            "from": st.column_config.TextColumn(width=165, help="Where it was allocated"),
            "bytes": st.column_config.Column(width=75),
            "tensors": st.column_config.Column(width=65),
        },
    )
    if chosen is not None and chosen.kernel:
        url.select(f"k:{chosen.kernel}")
        st.rerun()


@cached()
def _plans(run_id: str, log_bytes: int, compile_id: str, _view: View) -> tuple[MemoryPlanView, ...]:
    return memory_plans(_view.compilation, _view.text)


def plans_of(view: RunView, compilation: Compilation | None) -> tuple[MemoryPlanView, ...]:
    """Return Inductor's plans for the generated code of a compilation."""
    if compilation is None:
        return ()
    return _plans(view.run.id, view.report.log_bytes, compilation.id, view.of(compilation))


def plan_section(view: View, plans: Sequence[MemoryPlanView]) -> None:
    """Draw one memory plan as a chart and as a table; a click on either selects the kernel."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(plans[0].heading, anchor=False)
        chosen = _chosen(view, plans)
        _kernel_link(view, chosen)
    st.caption(chosen.caption)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _plan_chart(view, chosen)
    with right:
        _plan_table(view, chosen)


def _chosen(view: View, plans: Sequence[MemoryPlanView]) -> MemoryPlanView:
    if len(plans) == 1:
        return plans[0]
    titled = {plan.title: plan for plan in plans}
    first = next(iter(titled))
    picked = st.segmented_control(
        "Plan", list(titled), default=first, key=f"plan-{view.compilation.id}", label_visibility="collapsed"
    )
    return titled[picked or first]


def _selected_kernel() -> str:
    return (url.selected() or "").removeprefix("k:")


def _kernel_link(view: View, plan: MemoryPlanView) -> None:
    kernel = plan.kernel(_selected_kernel())
    more = {url.SELECT: f"k:{kernel.id}"} if kernel else {}
    link = url.link(**{url.COMPILATION: view.compilation.id, **more})
    label = f"{one_line(kernel.name, 40)} in Kernels" if kernel else menu.KERNELS.title
    st.page_link(menu.KERNELS.script, label=label, icon=menu.KERNELS.icon, query_params=link)


def _take_kernel(key: str) -> None:
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{point['customdata'][0]}")


def _plan_chart(view: View, plan: MemoryPlanView) -> None:
    on, selected = theme(), _selected_kernel()
    name = f"plan-chart-{view.compilation.id}-{plan.title}"
    colours = kernel_colours(view.report)
    figure = kept(
        lambda: plan_chart(plan, colours, selected, on), name, view.run.id, view.report.log_bytes, selected, on
    )
    st.plotly_chart(
        figure,
        theme=None,
        config=PLOTLY_CONFIG,
        key=name,
        on_select=partial(_take_kernel, name),
        selection_mode="points",
    )


def _plan_table(view: View, plan: MemoryPlanView) -> None:
    picked = newly_picked(
        in_words(pd.DataFrame(plan.rows), FORMS),
        plan.kernels,
        f"plan-table-{view.compilation.id}-{plan.title}",
        height=SHORT,
        column_config={
            "call": st.column_config.Column(width=45),
            "kernel": st.column_config.TextColumn(width=150),
            "there": st.column_config.Column(help="What is there while the kernel runs", width=70),
            "made": st.column_config.Column(help="Made for this call", width=70),
            "freed": st.column_config.Column(help="Not needed after it", width=70),
        },
    )
    if picked:
        url.select(f"k:{picked}")
        st.rerun()

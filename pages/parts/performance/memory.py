"""The parts of the page Memory: the curves, the allocations alive at the peaks, and Inductor's plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial

import pandas as pd
import streamlit as st

from core.analysis import (
    AliveRow,
    GraphPlan,
    alive_rows,
    graph_plans,
    memory_of,
    place_name,
    place_of_peak,
    plan_sentence,
)
from core.base import words as fmt
from core.report import Compilation, MemoryUse, Report
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_LINE, LONGEST_NAME, code, one_line, plain
from pages.parts.code import kernel_colours, source_text
from pages.parts.performance.memory_charts import CURVES_HEIGHT, curves_chart, plan_chart
from pages.session import url
from pages.session.cache import cached
from pages.session.figures import kept, theme
from pages.session.tables import in_words, newly_picked, picked_points
from pages.session.view import RunView, View

HEAD_PX = 74
FORMS = {"bytes": fmt.bytes_, "there": fmt.bytes_, "made": fmt.bytes_, "freed": fmt.bytes_, "tensors": fmt.number}
WHAT = (
    "The allocator's figures are beyond parameters, buffers and inputs. They leave out what libraries take from the "
    "system themselves, as for scratch memory; the resident memory has that, too."
)


def uses_of(report: Report) -> list[MemoryUse]:
    """Return the measured sides, eager first."""
    return [use for use in (memory_of(report, "eager"), memory_of(report, "compiled")) if use is not None]


def how_measured(uses: Sequence[MemoryUse]) -> str:
    """Describe how memory was measured, the constant memory beside it, and the system's own figures, as Markdown."""
    first = uses[0]
    where = "each in a process of its own" if first.device == "cpu" else f"on {plain(first.device)}"
    held = max(use.held_bytes for use in uses)
    told = [f"The last call, made again {where}, beside {fmt.bytes_(held)} of parameters, buffers and inputs."]
    resident = [f"{use.side} {fmt.bytes_(use.resident_bytes)}" for use in uses if use.resident_bytes is not None]
    counted = [f"{use.side} {fmt.bytes_(use.counted_bytes)}" for use in uses if use.counted_bytes is not None]
    if resident:
        told.append(f"The resident memory of the process grew by: {', '.join(resident)}.")
    if counted:
        told.append(f"The device's own statistics say at the peak: {', '.join(counted)}.")
    return " ".join(told)


def peaks_words(report: Report, uses: Sequence[MemoryUse]) -> str:
    """Describe when the peaks occur, as Markdown."""
    return " ".join(filter(None, (_peak_words(report, use) for use in uses)))


def _peak_words(report: Report, use: MemoryUse) -> str:
    place = place_of_peak(use)
    if place is None:
        return ""
    line = f", line {fmt.number(place.line)}" if place.line and place.code is None else ""
    tensors = sum(row.tensors for row in use.alive)
    where = code(place_name(report, use, place), LONGEST_NAME)
    return f"{use.side.capitalize()}'s peak is at {where}{line}, with {fmt.count(tensors, 'tensor')} alive."


def curves(view: RunView, uses: Sequence[MemoryUse]) -> None:
    """Draw both curves on one axis."""
    on = theme()
    figure = kept(lambda: curves_chart(uses, on), "memory", view.run.id, view.report.log_bytes, on)
    st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key="memory-curves")


def alive_table(view: RunView) -> None:
    """Draw the table of allocations alive at a peak; a click on a kernel's row selects it."""
    every = alive_rows(view.report)
    sides = list(dict.fromkeys(row.side for row in every))
    if not sides:
        return
    side = st.segmented_control("What is alive at the peak of", sides, default=sides[0], key="alive-side")
    rows = [row for row in every if row.side == (side or sides[0])]
    lines = _source_lines(view)
    table = pd.DataFrame([_alive_line(row, lines) for row in rows])
    if not table["your line"].any():
        table = table.drop(columns="your line")
    chosen = newly_picked(
        in_words(table, FORMS),
        rows,
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


def _alive_line(row: AliveRow, lines: Sequence[str]) -> dict[str, object]:
    at = row.place.line if row.side == "eager" else 0
    line = one_line(f"{at}: {lines[at - 1].strip()}", LONGEST_LINE) if 0 < at <= len(lines) else ""
    return {
        "from": one_line(row.what, LONGEST_LINE),
        "bytes": row.bytes,
        "tensors": row.tensors,
        "your line": line,
    }


def _source_lines(view: RunView) -> list[str]:
    """Return the file that eager's lines refer to; empty if the log does not hold it."""
    eager = memory_of(view.report, "eager")
    return source_text(view, eager.path).split("\n") if eager is not None else []


@cached()
def _plans(run_id: str, log_bytes: int, compile_id: str, _view: View) -> tuple[GraphPlan, ...]:
    return graph_plans(_view.compilation, _view.text)


def plans_of(view: RunView, compilation: Compilation | None) -> tuple[GraphPlan, ...]:
    """Return Inductor's plans for the generated code of a compilation."""
    if compilation is None:
        return ()
    found = _plans(view.run.id, view.report.log_bytes, compilation.id, view.of(compilation))
    return tuple(one for one in found if one.plan.steps)


def plan_section(view: View, plans: Sequence[GraphPlan]) -> None:
    """Draw one memory plan as a chart and as a table; a click on either selects the kernel."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(f"Inductor's plan for [{plain(view.compilation.id)}]", anchor=False)
        chosen = _chosen(view, plans)
        _kernel_link(view, chosen)
    st.caption(
        f"{plan_sentence(chosen)}. A rectangle is a piece of memory, from the kernel call that it is made for to the "
        f"last that needs it, in the colour of that first kernel{_saved_words(chosen)}."
        + (" Branches and loops are taken as they stand in the code." if chosen.plan.branches else "")
        + (" Symbols have the sizes that it was compiled for." if view.compilation.symbols else "")
    )
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _plan_chart(view, chosen)
    with right:
        _plan_table(view, chosen)


def _saved_words(chosen: GraphPlan) -> str:
    return "; grey is what the forward kept for the backward" if chosen.plan.made("saved") else ""


def _chosen(view: View, plans: Sequence[GraphPlan]) -> GraphPlan:
    if len(plans) == 1:
        return plans[0]
    titled = {_title(plans, index): plan for index, plan in enumerate(plans)}
    first = next(iter(titled))
    picked = st.segmented_control(
        "Plan", list(titled), default=first, key=f"plan-{view.compilation.id}", label_visibility="collapsed"
    )
    return titled[picked or first]


def _title(plans: Sequence[GraphPlan], index: int) -> str:
    """Return `forward`, or `forward 2` for a graph that was lowered again."""
    before = sum(plan.title == plans[index].title for plan in plans[:index])
    title = one_line(plans[index].title, LONGEST_NAME)
    return f"{title} {fmt.number(before + 1)}" if before else title


def _selected(view: View) -> str:
    return (url.selected() or "").removeprefix("k:")


def _kernel_link(view: View, chosen: GraphPlan) -> None:
    kernel = next((kernel for kernel in chosen.kernels.values() if kernel.id == _selected(view)), None)
    more = {url.SELECT: f"k:{kernel.id}"} if kernel else {}
    link = url.link(**{url.COMPILATION: view.compilation.id, **more})
    label = f"{one_line(kernel.name, 40)} in Kernels" if kernel else menu.KERNELS.title
    st.page_link(menu.KERNELS.script, label=label, icon=menu.KERNELS.icon, query_params=link)


def _take_kernel(key: str) -> None:
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{point['customdata'][0]}")


def _plan_chart(view: View, chosen: GraphPlan) -> None:
    on, selected = theme(), _selected(view)
    name = f"plan-chart-{view.compilation.id}-{chosen.title}"
    colours = kernel_colours(view.report)
    figure = kept(
        lambda: plan_chart(chosen, colours, selected, on), name, view.run.id, view.report.log_bytes, selected, on
    )
    st.plotly_chart(
        figure,
        theme=None,
        config=PLOTLY_CONFIG,
        key=name,
        on_select=partial(_take_kernel, name),
        selection_mode="points",
    )


def _plan_table(view: View, chosen: GraphPlan) -> None:
    plan = chosen.plan
    made, freed = Counter[int](), Counter[int]()
    for memory in plan.memories:
        if memory.origin != "saved":
            made[memory.first] += memory.bytes or 0
        if not memory.returned:
            freed[memory.last] += memory.bytes or 0
    rows = [
        {
            "call": index + 1,
            "kernel": one_line(chosen.names.get(step.line, step.kernel), LONGEST_LINE),
            "there": step.live_bytes,
            "made": made[index],
            "freed": freed[index],
        }
        for index, step in enumerate(plan.steps)
    ]
    kernels = [kernel.id if (kernel := chosen.kernels.get(step.line)) else "" for step in plan.steps]
    picked = newly_picked(
        in_words(pd.DataFrame(rows), FORMS),
        kernels,
        f"plan-table-{view.compilation.id}-{chosen.title}",
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

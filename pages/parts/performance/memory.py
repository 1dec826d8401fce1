"""Parts of the page Memory, and their Plotly figures.

The parts are the curves of eager and compiled, the allocations alive at the peaks, and Inductor's plan by kernel.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import partial

import streamlit as st

from core.base import words as fmt
from core.report import Compilation
from core.views import memory as views
from core.views.colours import kernel_colours
from pages import menu
from pages.look.charts import go, in_brackets, plotly_layout
from pages.look.palette import INK, MUTED, PAPER, SHORT, Theme, kernel_colour
from pages.parts.performance.charts import COLOURS
from pages.session import url
from pages.session.server import cached
from pages.session.shown import RunView, View
from pages.session.tables import draw_chart, newly_picked_row, picked_points
from pages.session.url import page_link

HEAD_PX = 74
CURVES_HEIGHT, PLAN_HEIGHT = 330, 360
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def alive_part(memory: views.MemoryView) -> None:
    """Draw the allocations alive at a peak; a click on a row with a kernel selects the kernel."""
    sides = list(memory.alive)
    if not sides:
        return
    side = st.segmented_control(views.PEAK_OF, sides, default=sides[0], key="alive-side")
    chosen = newly_picked_row(memory.alive_table(side or sides[0]), height=CURVES_HEIGHT - HEAD_PX)
    if chosen is not None and chosen.kernel:
        url.select(f"k:{chosen.kernel}")
        st.rerun()


@cached()
def _plans(run_id: str, log_bytes: int, compile_id: str, _view: View) -> tuple[views.MemoryPlanView, ...]:
    return views.MemoryPlanView.of_codes(_view.compilation, _view.text)


def plans_of(view: RunView, compilation: Compilation | None) -> tuple[views.MemoryPlanView, ...]:
    """Return Inductor's memory plans of a compilation; empty without a compilation."""
    if compilation is None:
        return ()
    return _plans(view.run.id, view.report.log_bytes, compilation.id, view.of(compilation))


def plan_section(view: RunView, plans: Sequence[views.MemoryPlanView]) -> None:
    """Draw one memory plan as a chart and as a table; a click on either selects the kernel."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.header(plans[0].heading, anchor=False)
        chosen = _chosen(plans)
        _kernel_link(chosen)
    st.caption(chosen.caption)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _plan_chart(view, chosen)
    with right:
        picked = newly_picked_row(chosen.table, height=SHORT)
        if picked and picked.id:
            url.select(f"k:{picked.id}")
            st.rerun()


def _chosen(plans: Sequence[views.MemoryPlanView]) -> views.MemoryPlanView:
    if len(plans) == 1:
        return plans[0]
    titled = {plan.title: plan for plan in plans}
    first = next((plan.title for plan in plans if plan.kernel(_selected_kernel())), plans[0].title)
    picked = st.segmented_control(
        "Plan", list(titled), default=first, key=f"plan-{plans[0].compilation.id}", label_visibility="collapsed"
    )
    return titled[picked or first]


def _selected_kernel() -> str:
    return (url.selected() or "").removeprefix("k:")


def _kernel_link(plan: views.MemoryPlanView) -> None:
    kernel = plan.kernel(_selected_kernel())
    more = {url.SELECT: f"k:{kernel.id}"} if kernel else {}
    label = plan.kernel_label(kernel, menu.KERNELS.title)
    page_link(menu.KERNELS, label, **{url.COMPILATION: plan.compilation.id, **more})


def _take_kernel(key: str) -> None:
    for point in picked_points(key):
        if point.get("customdata"):
            url.select(f"k:{point['customdata'][0]}")


def _plan_chart(view: RunView, plan: views.MemoryPlanView) -> None:
    selected, colours = _selected_kernel(), kernel_colours(view.report)
    name = f"plan-chart-{plan.compilation.id}-{plan.title}"
    make = partial(plan_chart, plan, colours, selected)
    draw_chart(view, name, make, selected, on_select=partial(_take_kernel, name), selection_mode="points")


def curves_chart(curves: Sequence[views.AllocatedCurve], on: Theme) -> go.Figure:
    """Draw the allocated bytes over each call, with both peaks marked."""
    figure = go.Figure()
    most = max((curve.peak_bytes for curve in curves), default=0)
    factor, unit = _unit(most)
    for curve in curves:
        colour = kernel_colour(COLOURS[curve.side])
        figure.add_scatter(
            x=curve.fractions,
            y=[size / factor for size in curve.live_bytes],
            name=curve.side,
            mode="lines",
            line={"shape": "hv", "color": colour, "width": 2},
            fill="tozeroy",
            fillcolor=_faint(colour),
            customdata=[html.escape(label) for label in curve.labels],
            hovertemplate="%{customdata}<extra></extra>",
        )
        overlaps = curve is not curves[0] and curve.peak_is_near(curves[0])
        _name_peak(figure, curve, factor, 30 if overlaps else 14, on)
    figure.update_layout(**plotly_layout(on), height=CURVES_HEIGHT, hovermode="x")
    figure.update_layout(margin={"t": 44, "r": 28})
    parts = [part / 4 for part in range(5)]
    figure.update_xaxes(
        title="part of the call, each from its beginning to its end",
        tickvals=parts,
        ticktext=[f"{fmt.exact(round(100 * part))} %" for part in parts],
        ticklabeloverflow="allow",
        range=[0, 1],
    )
    figure.update_yaxes(
        title=in_brackets("allocated since the call began", unit), range=[0, 1.22 * max(most, 1) / factor]
    )
    return figure


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.16)"


def _name_peak(figure: go.Figure, curve: views.AllocatedCurve, factor: float, above_px: int, on: Theme) -> None:
    if not curve.peak_bytes:
        return
    fraction = min(1.0, curve.peak_fraction)
    figure.add_scatter(
        x=[fraction],
        y=[curve.peak_bytes / factor],
        mode="markers",
        marker={"color": kernel_colour(COLOURS[curve.side]), "size": 9, "line": {"color": PAPER[on], "width": 1.5}},
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_annotation(
        x=fraction,
        y=curve.peak_bytes / factor,
        text=f"<b>{curve.side} {fmt.bytes_(curve.peak_bytes)}</b>",
        font={"color": INK[on]},
        showarrow=False,
        yshift=above_px,
        xanchor=_anchor(fraction),
    )


def plan_chart(plan: views.MemoryPlanView, colours: Mapping[str, str], selected: str, on: Theme) -> go.Figure:
    """Draw the live memory during each kernel call.

    A rectangle is a buffer during its lifetime. Its colour is the colour of the kernel that the buffer is
    allocated for; saved buffers are grey. A click selects that kernel, or the last kernel that uses a saved
    buffer.
    """
    live_bytes, blocks = plan.live_bytes, plan.blocks
    factor, unit = _unit(max(live_bytes, default=0))
    owners = [plan.owner(block) for block in blocks]
    figure = go.Figure()
    figure.add_bar(
        x=[(block.first + block.last) / 2 + 1 for block in blocks],
        width=[block.last - block.first + 1 for block in blocks],
        base=[block.base / factor for block in blocks],
        y=[block.bytes / factor for block in blocks],
        customdata=[[owner, _hover(plan, block)] for owner, block in zip(owners, blocks, strict=True)],
        hovertemplate="%{customdata[1]}<extra></extra>",
        marker={
            "color": [
                MUTED[on] if block.saved else colours.get(owner, MUTED[on])
                for owner, block in zip(owners, blocks, strict=True)
            ],
            "line": {
                "color": [INK[on] if owner == selected else PAPER[on] for owner in owners],
                "width": [2 if owner == selected else 1 for owner in owners],
            },
        },
        unselected={"marker": {"opacity": 1}},
    )
    figure.update_layout(**plotly_layout(on), height=PLAN_HEIGHT, showlegend=False, barcornerradius=0, bargap=0)
    figure.update_layout(clickmode="event+select", barmode="overlay")
    steps = len(live_bytes)
    figure.update_xaxes(title="kernel calls, in order", range=[0.5, steps + 0.5], **_ticks(steps), showgrid=False)
    figure.update_yaxes(title=in_brackets("allocated memory", unit), rangemode="tozero")
    if plan.peak is not None:
        _mark_peak(figure, live_bytes, plan.peak, factor, on)
    return figure


def _hover(plan: views.MemoryPlanView, block: views.MemoryBlock) -> str:
    name, *lines = (html.escape(text) for text in (block.name, *plan.lifetime(block)))
    return "<br>".join([f"<b>{name}</b> {fmt.bytes_(block.memory.bytes)}", *lines])


def _mark_peak(figure: go.Figure, live_bytes: Sequence[int], peak: int, factor: float, on: Theme) -> None:
    figure.add_annotation(
        x=peak + 1,
        y=live_bytes[peak] / factor,
        text=f"<b>{fmt.bytes_(live_bytes[peak])}</b>",
        font={"color": INK[on]},
        showarrow=False,
        yshift=10,
        xanchor=_anchor(peak / len(live_bytes)),
    )


def _anchor(fraction: float) -> str:
    """Return Plotly's `xanchor` with room for the label of a point at 0 to 1 of the axis."""
    return "right" if fraction > 0.8 else "left" if fraction < 0.2 else "center"


def _ticks(steps: int) -> dict[str, object]:
    every = max(1, -(-steps // 20))
    return {"tickvals": list(range(1, steps + 1, every))}


def _unit(most: float) -> tuple[float, str]:
    """Return the divisor and the unit of an axis of bytes whose largest value is `most`."""
    return next(((scale, unit) for scale, unit in UNITS if most >= scale), UNITS[-1])

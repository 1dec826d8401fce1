"""Plotly figures about memory: eager's and compiled's curves, and Inductor's plan by kernel."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from core.base import words as fmt
from core.views.memory import AllocatedCurve
from core.views.memory_plan import MemoryBlock, MemoryPlanView
from pages.look.charts import plotly_layout
from pages.look.palette import INK, MUTED, PAPER, Theme, kernel_colour

CURVES_HEIGHT, PLAN_HEIGHT = 330, 360
COLOURS = {"eager": 3, "compiled": 0}
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def curves_chart(curves: Sequence[AllocatedCurve], on: Theme) -> go.Figure:
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
    figure.update_yaxes(title=f"allocated since the call began ({unit})", range=[0, 1.22 * max(most, 1) / factor])
    return figure


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, 0.16)"


def _name_peak(figure: go.Figure, curve: AllocatedCurve, factor: float, above_px: int, on: Theme) -> None:
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


def plan_chart(plan: MemoryPlanView, colours: Mapping[str, str], selected: str, on: Theme) -> go.Figure:
    """Draw the live memory while each kernel runs.

    A rectangle is a buffer for its lifetime, in the colour of the kernel that fills it; a click on it selects that
    kernel.
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
    figure.update_yaxes(title=f"memory that is there ({unit})", rangemode="tozero")
    if plan.peak is not None:
        _mark_peak(figure, live_bytes, plan.peak, factor, on)
    return figure


def _hover(plan: MemoryPlanView, block: MemoryBlock) -> str:
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
    """Return the side of a point where its label has room, by the fraction of the axis before it."""
    return "right" if fraction > 0.8 else "left" if fraction < 0.2 else "center"


def _ticks(steps: int) -> dict[str, object]:
    every = max(1, -(-steps // 20))
    return {"tickvals": list(range(1, steps + 1, every))}


def _unit(most: float) -> tuple[float, str]:
    """Return the divisor and the unit of an axis of bytes whose largest value is `most`."""
    return next(((scale, unit) for scale, unit in UNITS if most >= scale), UNITS[-1])

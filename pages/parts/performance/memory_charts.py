"""Plotly figures about memory: eager's and compiled's curves, and Inductor's plan by kernel."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from core.analysis import GraphPlan, place_words
from core.base import words as fmt
from core.code import PlannedMemory
from core.report import MemoryUse
from pages.look.charts import plotly_layout
from pages.look.palette import INK, MUTED, PAPER, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line

CURVES_HEIGHT, PLAN_HEIGHT = 330, 360
COLOURS = {"eager": 3, "compiled": 0}
MOST_BLOCKS = 4_000
MOST_PLACED = 1_000_000
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """A piece of memory over steps of a plan, at one height: a rectangle of the chart."""

    memory: PlannedMemory
    first: int
    last: int
    base: int


def curves_chart(uses: Sequence[MemoryUse], on: Theme) -> go.Figure:
    """Draw the allocated bytes over each call, with both peaks marked."""
    figure = go.Figure()
    most = max((use.peak_bytes for use in uses), default=0)
    factor, unit = _unit(most)
    for use in uses:
        at, live, words = _curve(use)
        colour = kernel_colour(COLOURS[use.side])
        figure.add_scatter(
            x=at,
            y=[size / factor for size in live],
            name=use.side,
            mode="lines",
            line={"shape": "hv", "color": colour, "width": 2},
            fill="tozeroy",
            fillcolor=_faint(colour),
            customdata=words,
            hovertemplate="%{customdata}<extra></extra>",
        )
        _name_peak(figure, use, factor, 30 if use is not uses[0] and _near(use, uses[0]) else 14, on)
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


def _curve(use: MemoryUse) -> tuple[list[float], list[int], list[str]]:
    """Return for each point the fraction of the call, the bytes and a text, from the start of the call to its end."""
    whole = use.call_us or 1.0
    curve = use.curve
    at = [0.0, *(min(1.0, moment / whole) for moment in curve.at_us), 1.0]
    live = [0, *curve.live_bytes, use.left_bytes]
    places = [_place(use, index) for index in curve.places]
    words = [
        f"{use.side}: {fmt.bytes_(size)}{f' · {place}' if place else ''}"
        for size, place in zip(live, ["", *places, "at the end"], strict=True)
    ]
    return at, live, words


def _place(use: MemoryUse, index: int) -> str:
    return "released" if index < 0 else html.escape(one_line(place_words(use.places[index]), LONGEST_NAME))


def _near(use: MemoryUse, other: MemoryUse) -> bool:
    """Return True if the labels of two peaks would overlap."""
    across = abs(use.peak_us / (use.call_us or 1.0) - other.peak_us / (other.call_us or 1.0))
    return across < 0.25 and abs(use.peak_bytes - other.peak_bytes) < 0.08 * max(use.peak_bytes, other.peak_bytes)


def _name_peak(figure: go.Figure, use: MemoryUse, factor: float, above_px: int, on: Theme) -> None:
    if not use.peak_bytes:
        return
    at = min(1.0, use.peak_us / (use.call_us or 1.0))
    figure.add_scatter(
        x=[at],
        y=[use.peak_bytes / factor],
        mode="markers",
        marker={"color": kernel_colour(COLOURS[use.side]), "size": 9, "line": {"color": PAPER[on], "width": 1.5}},
        showlegend=False,
        hoverinfo="skip",
    )
    figure.add_annotation(
        x=at,
        y=use.peak_bytes / factor,
        text=f"<b>{use.side} {fmt.bytes_(use.peak_bytes)}</b>",
        font={"color": INK[on]},
        showarrow=False,
        yshift=above_px,
        xanchor=_anchor(at),
    )


def plan_chart(found: GraphPlan, colours: Mapping[str, str], selected: str, on: Theme) -> go.Figure:
    """Draw the live memory while each kernel runs.

    A rectangle is a buffer for its lifetime, in the colour of the kernel that fills it; a click on it selects that
    kernel.
    """
    plan = found.plan
    factor, unit = _unit(max((step.live_bytes for step in plan.steps), default=0))
    drawn = sorted(blocks(plan.memories, len(plan.steps)), key=lambda block: -(block.memory.bytes or 0))[:MOST_BLOCKS]
    owners = [_owner(found, block.memory) for block in drawn]
    saved = [block.memory.origin == "saved" for block in drawn]
    figure = go.Figure()
    figure.add_bar(
        x=[(block.first + block.last) / 2 + 1 for block in drawn],
        width=[block.last - block.first + 1 for block in drawn],
        base=[block.base / factor for block in drawn],
        y=[(block.memory.bytes or 0) / factor for block in drawn],
        customdata=[[owner, _told(found, block)] for owner, block in zip(owners, drawn, strict=True)],
        hovertemplate="%{customdata[1]}<extra></extra>",
        marker={
            "color": [
                MUTED[on] if kept else colours.get(owner, MUTED[on]) for owner, kept in zip(owners, saved, strict=True)
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
    steps = len(plan.steps)
    figure.update_xaxes(title="kernel calls, in order", range=[0.5, steps + 0.5], **_ticks(steps), showgrid=False)
    figure.update_yaxes(title=f"memory that is there ({unit})", rangemode="tozero")
    _mark_peak(figure, found, factor, on)
    return figure


def _mark_peak(figure: go.Figure, found: GraphPlan, factor: float, on: Theme) -> None:
    peak = found.plan.peak
    if peak is None:
        return
    figure.add_annotation(
        x=peak + 1,
        y=found.plan.steps[peak].live_bytes / factor,
        text=f"<b>{fmt.bytes_(found.plan.steps[peak].live_bytes)}</b>",
        font={"color": INK[on]},
        showarrow=False,
        yshift=10,
        xanchor=_anchor(peak / len(found.plan.steps)),
    )


def _anchor(at: float) -> str:
    """Return the side of a point where its label has room, by the fraction of the axis before it."""
    return "right" if at > 0.8 else "left" if at < 0.2 else "center"


def _owner(found: GraphPlan, memory: PlannedMemory) -> str:
    """Return the kernel that a buffer is made for; for a buffer saved before the first kernel, its last user."""
    step = memory.last if memory.origin == "saved" else memory.first
    kernel = found.kernels.get(found.plan.steps[step].line)
    return kernel.id if kernel else ""


def _told(found: GraphPlan, block: MemoryBlock) -> str:
    """Describe a buffer: its names, its size, the kernel that fills it, and its lifetime."""
    memory, steps = block.memory, found.plan.steps
    first, last = steps[memory.first], steps[memory.last]
    name = html.escape(one_line(" → ".join(memory.names), LONGEST_NAME))
    until = "returned" if memory.returned else f"until {_call(found, last.line)}"
    if memory.origin == "saved":
        return f"<b>{name}</b> {fmt.bytes_(memory.bytes)}<br>kept by the forward<br>{until}"
    made = "made by a library" if memory.origin == "library" else "allocated"
    return f"<b>{name}</b> {fmt.bytes_(memory.bytes)}<br>{made} for {_call(found, first.line)}<br>{until}"


def _call(found: GraphPlan, line: int) -> str:
    return html.escape(one_line(found.names.get(line, ""), LONGEST_NAME))


def blocks(memories: Sequence[PlannedMemory], steps: int) -> Iterator[MemoryBlock]:
    """Stack buffers on top of each other, the oldest at the bottom.

    A buffer moves down when the memory below it is freed, and is then one more block. If there are too many for the
    steps, only the largest are drawn.
    """
    most = max(1, MOST_PLACED // max(1, steps))
    largest = sorted((one for one in memories if one.bytes), key=lambda memory: -(memory.bytes or 0))[:most]
    begins: dict[int, list[PlannedMemory]] = {}
    for memory in sorted(largest, key=lambda memory: memory.line):
        begins.setdefault(memory.first, []).append(memory)
    there: list[MemoryBlock] = []
    for step in range(steps):
        before, there, base = [*there, *(MemoryBlock(one, step, step, -1) for one in begins.get(step, ()))], [], 0
        for block in before:
            if step > block.memory.last:
                yield block
                continue
            if block.base not in (base, -1):
                yield block
            same = block.base == base
            there.append(MemoryBlock(block.memory, block.first if same else step, step, base))
            base += block.memory.bytes or 0
    yield from there


def _ticks(steps: int) -> dict[str, object]:
    every = max(1, -(-steps // 20))
    return {"tickvals": list(range(1, steps + 1, every))}


def _unit(most: float) -> tuple[float, str]:
    """Return the divisor and the unit of an axis of bytes whose largest value is `most`."""
    return next(((scale, unit) for scale, unit in UNITS if most >= scale), UNITS[-1])

"""Plotly figures about a program: its memory over its instructions, and the seconds of the stages of making it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from core.base import words as fmt
from core.report import PipelineSegment, ProgramBuffer
from pages.look.charts import in_unit, plotly_layout, text_on
from pages.look.palette import INK, MUTED, PAPER, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line

PLAN_HEIGHT, BAR_PX, AROUND_PX = 400, 30, 70
MOST_DRAWN = 2_000
MOST_NAMED = 24
NEAR = 2.5
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def temporaries(segment: PipelineSegment) -> list[tuple[ProgramBuffer, int]]:
    """Return the temporaries of a program with their offsets: in the arena, or stacked without a plan."""
    found = [buffer for buffer in segment.buffers if buffer.kind == "temporary"]
    largest = sorted(found, key=lambda buffer: -buffer.bytes)[:MOST_DRAWN]
    placed, top = [], 0
    for buffer in sorted(largest, key=lambda buffer: buffer.first):
        placed.append((buffer, top if buffer.place is None else buffer.place))
        top += buffer.bytes
    return placed


def arena_chart(segment: PipelineSegment, on: Theme) -> go.Figure:
    """Draw the temporaries as rectangles from their first to their last instruction, at their offsets."""
    drawn = temporaries(segment)
    high = max((base + buffer.bytes for buffer, base in drawn), default=0)
    factor, unit = _unit(high)
    figure = go.Figure()
    figure.add_bar(
        x=[(buffer.first + buffer.last) / 2 for buffer, _ in drawn],
        width=[buffer.last - buffer.first + 1 for buffer, _ in drawn],
        base=[base / factor for _, base in drawn],
        y=[buffer.bytes / factor for buffer, _ in drawn],
        customdata=[_told(segment, buffer, base) for buffer, base in drawn],
        hovertemplate="%{customdata}<extra></extra>",
        text=[html.escape(one_line(buffer.name, LONGEST_NAME)) for buffer, _ in drawn],
        textposition="inside",
        insidetextanchor="middle",
        textangle=0,
        insidetextfont={"color": [text_on(kernel_colour(index)) for index, _ in enumerate(drawn)]},
        marker={
            "color": [kernel_colour(index) for index, _ in enumerate(drawn)],
            "line": {"color": PAPER[on], "width": 1},
        },
    )
    figure.update_layout(**plotly_layout(on), height=PLAN_HEIGHT, showlegend=False, barcornerradius=0, bargap=0)
    figure.update_layout(barmode="overlay", uniformtext={"minsize": 9, "mode": "hide"})
    marks = _marks(segment)
    for words, size in marks.items():
        _mark(figure, words, size / factor, on)
    last = len(segment.entries) - 1
    figure.update_xaxes(title="instructions, in order", range=[-0.5, last + 0.5], showgrid=False, **_ticks(segment))
    figure.update_yaxes(title=f"temporaries ({unit})", range=[0, 1.12 * max(high, *marks.values(), 1) / factor])
    return figure


def _marks(segment: PipelineSegment) -> dict[str, int]:
    """Return marks for the arena's size, and for the sum of the temporaries if it is near enough."""
    arena, alone = segment.arena_bytes, segment.temporary_bytes
    marks = {f"arena {fmt.bytes_(arena)}": arena} if arena else {}
    return {**marks, f"each by itself {fmt.bytes_(alone)}": alone} if arena < alone <= NEAR * arena else marks


def _mark(figure: go.Figure, words: str, at: float, on: Theme) -> None:
    figure.add_hline(y=at, line={"color": INK[on], "width": 1.25, "dash": "dot"})
    figure.add_annotation(
        x=1,
        xref="paper",
        y=at,
        text=f"<b>{words}</b>",
        font={"color": INK[on]},
        showarrow=False,
        xanchor="right",
        yanchor="bottom",
    )


def _told(segment: PipelineSegment, buffer: ProgramBuffer, base: int) -> str:
    name = html.escape(one_line(buffer.name, LONGEST_NAME))
    where = "memory of its own" if buffer.place is None else f"from byte {fmt.exact(base)} of the arena on"
    first, last = (_instruction(segment, at) for at in (buffer.first, buffer.last))
    return f"<b>{name}</b> {fmt.bytes_(buffer.bytes)}<br>{where}<br>from {first}<br>to {last}"


def _instruction(segment: PipelineSegment, index: int) -> str:
    entry = segment.entries[index] if 0 <= index < len(segment.entries) else None
    return html.escape(one_line(f"{index} {entry.op}" if entry else fmt.exact(index), LONGEST_NAME))


def _ticks(segment: PipelineSegment) -> dict[str, object]:
    count = len(segment.entries)
    every = max(1, -(-count // MOST_NAMED))
    shown = range(0, count, every)
    return {"tickvals": list(shown), "ticktext": [_instruction(segment, index) for index in shown], "tickangle": 45}


def _unit(most: float) -> tuple[float, str]:
    return next(((scale, unit) for scale, unit in UNITS if most >= scale), UNITS[-1])


def stages_chart(stages: Mapping[str, float], on: Theme) -> go.Figure:
    """Draw the seconds of each stage, one bar each, in their order from the top."""
    names: Sequence[str] = [html.escape(one_line(name, LONGEST_NAME)) for name in stages]
    factor, unit = in_unit(max(stages.values(), default=1.0))
    figure = go.Figure()
    figure.add_bar(
        orientation="h",
        y=names,
        x=[seconds * factor for seconds in stages.values()],
        text=[fmt.duration_s(seconds) for seconds in stages.values()],
        textposition="outside",
        textfont={"color": MUTED[on]},
        cliponaxis=False,
        marker={"color": kernel_colour(0)},
        hoverinfo="skip",
    )
    figure.update_layout(**plotly_layout(on), height=AROUND_PX + BAR_PX * len(names), showlegend=False)
    most = max(stages.values(), default=1.0) * factor
    figure.update_xaxes(title=f"time, measured once ({unit})", range=[0, 1.2 * most])
    figure.update_yaxes(autorange="reversed")
    return figure

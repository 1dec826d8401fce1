"""Plotly figures about a program: its memory over its instructions, and the seconds of the stages of making it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from core.base import words as fmt
from core.views.accelerator import ProgramView
from pages.look.charts import in_unit, plotly_layout, text_on
from pages.look.palette import INK, MUTED, PAPER, Theme, kernel_colour
from pages.look.text import LONGEST_NAME, one_line

PLAN_HEIGHT, BAR_PX, AROUND_PX = 400, 30, 70
MOST_NAMED = 24
UNITS = ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B"))


def arena_chart(program: ProgramView, on: Theme) -> go.Figure:
    """Draw the temporaries as rectangles from their first to their last instruction, at their offsets."""
    drawn = [(rectangle.buffer, rectangle.base) for rectangle in program.arena]
    high = max((base + buffer.bytes for buffer, base in drawn), default=0)
    factor, unit = _unit(high)
    figure = go.Figure()
    figure.add_bar(
        x=[(buffer.first + buffer.last) / 2 for buffer, _ in drawn],
        width=[buffer.last - buffer.first + 1 for buffer, _ in drawn],
        base=[base / factor for _, base in drawn],
        y=[buffer.bytes / factor for buffer, _ in drawn],
        customdata=[_hover(rectangle.buffer.name, rectangle.words) for rectangle in program.arena],
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
    marks = program.arena_marks
    for words, size in marks.items():
        _mark(figure, words, size / factor, on)
    last = len(program.entries) - 1
    figure.update_xaxes(title="instructions, in order", range=[-0.5, last + 0.5], showgrid=False, **_ticks(program))
    figure.update_yaxes(title=f"temporaries ({unit})", range=[0, 1.12 * max(high, *marks.values(), 1) / factor])
    return figure


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


def _hover(name: str, words: Sequence[str]) -> str:
    """Return the hover text, escaped, since Plotly reads some HTML."""
    size, *lines = map(html.escape, words)
    return "<br>".join([f"<b>{html.escape(one_line(name, LONGEST_NAME))}</b>{size}", *lines])


def _ticks(program: ProgramView) -> dict[str, object]:
    count = len(program.entries)
    shown = range(0, count, max(1, -(-count // MOST_NAMED)))
    labels = [html.escape(program.instruction_label(index)) for index in shown]
    return {"tickvals": list(shown), "ticktext": labels, "tickangle": 45}


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

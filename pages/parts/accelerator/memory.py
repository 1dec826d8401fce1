"""The memory plan of a program: temporaries in their arena, and all other buffers that it reads and writes."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from core.analysis.pipeline import memory_words
from core.base import words as fmt
from core.report import PipelineSegment, ProgramBuffer
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_NAME, one_line
from pages.parts.accelerator.charts import MOST_DRAWN, arena_chart
from pages.parts.accelerator.pieces import PipelinePiece
from pages.parts.accelerator.program import program_or_reason
from pages.session.figures import kept, theme
from pages.session.tables import in_words
from pages.session.view import View

MOST_BUFFERS = 2_000
FORMS = {"bytes": fmt.bytes_}
KINDS = ("input", "constant", "temporary", "output")


def memory_station(view: View, piece: PipelinePiece) -> None:
    """Draw the picture, and the buffers as a table."""
    segment = program_or_reason(piece)
    if segment is None:
        return
    st.caption(plan_words(segment))
    found = [buffer for buffer in segment.buffers if buffer.kind == "temporary"]
    if found:
        on, name = theme(), f"arena-{view.compilation.id}-{piece.id}"
        figure = kept(lambda: arena_chart(segment, on), name, view.run.id, view.report.log_bytes, on)
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=name)
        if len(found) > MOST_DRAWN:
            st.caption(f"The {fmt.number(MOST_DRAWN)} largest are drawn.")
    _buffers(segment)


def plan_words(segment: PipelineSegment) -> str:
    """Describe the memory of the temporaries, and its share of the sum of their sizes."""
    words = memory_words(segment)
    if not segment.temporary_bytes:
        return "This program needs no memory but its inputs, its constants and its outputs."
    if not segment.arena_bytes:
        return f"{words[:1].upper()}{words[1:]}: the pass that plans memory is switched off."
    part = fmt.percent(segment.arena_bytes / segment.temporary_bytes)
    saved = (
        f"{part} of that: one that is not needed any more leaves its place to the next"
        if segment.arena_bytes < segment.temporary_bytes
        else "no less: all are needed at once"
    )
    return (
        f"{words[:1].upper()}{words[1:]}, {saved}. A rectangle is a temporary from its first instruction to its last."
    )


def _buffers(segment: PipelineSegment) -> None:
    ordered = sorted(segment.buffers, key=lambda buffer: (_kind(buffer), buffer.first))[:MOST_BUFFERS]
    table = pd.DataFrame([_row(buffer) for buffer in ordered])
    high: int | Literal["content"] = "content" if len(ordered) <= 8 else SHORT
    st.dataframe(in_words(table, FORMS), hide_index=True, height=high, placeholder="")
    if len(segment.buffers) > MOST_BUFFERS:
        st.caption(f"{fmt.count(len(segment.buffers) - MOST_BUFFERS, 'more buffer')} not shown.")


def _kind(buffer: ProgramBuffer) -> int:
    return KINDS.index(buffer.kind) if buffer.kind in KINDS else len(KINDS)


def _row(buffer: ProgramBuffer) -> dict[str, object]:
    of = {"input": "input ", "output": "output ", "temporary": "arena + ", "constant": "constants + "}
    place = "" if buffer.place is None else f"{of.get(buffer.kind, '')}{fmt.exact(buffer.place)}"
    return {
        "buffer": one_line(buffer.name, LONGEST_NAME),
        "kind": one_line(buffer.kind, LONGEST_NAME),
        "bytes": buffer.bytes,
        "place": place,
        "from instruction": buffer.first,
        "to instruction": buffer.last,
    }

"""The calls across the ABI, torch's fallbacks, and the time of each stage of making the programs."""

from __future__ import annotations

from typing import Literal

import pandas as pd
import streamlit as st

from core.analysis.pipeline import crossings_disturbed, fallback_lines
from core.base import words as fmt
from core.report import Crossing, Pipeline
from pages import menu
from pages.look.charts import PLOTLY_CONFIG
from pages.look.sizes import TALL
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, one_line, plain
from pages.parts.accelerator.charts import stages_chart
from pages.parts.accelerator.pieces import PipelinePiece
from pages.session import url
from pages.session.figures import kept, theme
from pages.session.tables import in_words
from pages.session.view import View

FORMS = {
    "calls": fmt.number,
    "in the runtime": fmt.duration_s,
    "beside it": fmt.duration_s,
    "temporaries": fmt.bytes_,
    "copied": fmt.number,
    "programs": fmt.number,
    "torch ran": fmt.number,
}
# Clearer labels of some stages.
STAGES = {"capture": "until AOTAutograd gave it", "partition": "dividing it"}
COLUMNS = {
    "in the runtime": st.column_config.NumberColumn(help="Mean of all calls, as the runtime's own clock has it"),
    "beside it": st.column_config.NumberColumn(
        help="The rest of a segment's call from Python and back: addresses are taken, outputs are allocated"
    ),
    "copied": st.column_config.NumberColumn(help="Inputs that were laid out in another way than when they were traced"),
    "programs": st.column_config.NumberColumn(help="Sets of sizes that have a program"),
    "torch ran": st.column_config.NumberColumn(help="Calls of the segment that torch made instead"),
}


def calls_station(view: View, piece: PipelinePiece) -> None:
    """Draw calls as a table, fallbacks by reason, and stages as bars."""
    crossings = [found for found in view.report.crossings if found.compilation == view.compilation.id]
    st.caption(crossing_words(crossings, view.report.timing is not None, crossings_disturbed(view.report)))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _table(crossings)
        _fallbacks(crossings)
        link = url.link(**{url.COMPILATION: view.compilation.id})
        st.page_link(menu.SPEEDUP.script, label=menu.SPEEDUP.title, icon=menu.SPEEDUP.icon, query_params=link)
    with right:
        on, name = theme(), f"stages-{view.compilation.id}-{piece.pipeline.direction}"
        stages = stages_of(piece.pipeline)
        st.markdown(f"**Making the programs of the {plain(piece.pipeline.direction, LONGEST_NAME)}**")
        figure = kept(lambda: stages_chart(stages, on), name, view.run.id, view.report.log_bytes, on)
        st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=name)


def crossing_words(crossings: list[Crossing], measured: bool, disturbed: str = "") -> str:
    """Return one sentence about the calls across the ABI, and their cost."""
    calls = sum(found.calls for found in crossings)
    if not calls:
        return "No call across the ABI was recorded; a run that ended early has none."
    within, whole = sum(found.runtime_s for found in crossings), sum(found.call_s for found in crossings)
    threads = max(found.threads for found in crossings)
    copies = sum(found.copies for found in crossings)
    copied = f"{fmt.count(copies, 'input')} copied" if copies else "no tensor copied"
    beside = ", those that were measured among them" if measured else ""
    return (
        f"{fmt.count(calls, 'call')} across the ABI{beside}: "
        f"{fmt.duration_s(within)} in the runtime on {fmt.count(threads, 'thread')}, "
        f"{fmt.duration_s(whole - within)} beside it, {copied}."
        + (f" {disturbed[:1].upper()}{disturbed[1:]}: its seconds are no evidence." if disturbed else "")
    )


def _table(crossings: list[Crossing]) -> None:
    if not crossings:
        return
    table = pd.DataFrame([_row(found) for found in crossings])
    high: int | Literal["content"] = "content" if len(crossings) <= 8 else TALL
    shown = in_words(table, FORMS)
    st.dataframe(shown, hide_index=True, height=high, column_config=COLUMNS, placeholder="")


def _row(found: Crossing) -> dict[str, object]:
    return {
        "segment": one_line(f"{found.direction} · {found.segment}", LONGEST_NAME),
        "calls": found.calls,
        "in the runtime": found.runtime_s / found.calls if found.calls else None,
        "beside it": (found.call_s - found.runtime_s) / found.calls if found.calls else None,
        "temporaries": found.allocated_bytes,
        "copied": found.copies,
        "programs": found.programs,
        "torch ran": sum(found.fallbacks.values()),
    }


def _fallbacks(crossings: list[Crossing]) -> None:
    said = [f"{one_line(found.segment, LONGEST_NAME)}: {line}" for found in crossings for line in fallback_lines(found)]
    for line in said:
        st.caption(plain(line, LONGEST_TEXT))


def stages_of(pipeline: Pipeline) -> dict[str, float]:
    """Return the seconds of each stage; those of the programs are summed over all segments."""
    found = {STAGES.get(stage, stage): seconds for stage, seconds in pipeline.times_s.items() if stage != "programs"}
    for segment in pipeline.segments:
        for stage, seconds in segment.times_s.items():
            found[stage] = found.get(stage, 0.0) + seconds
    return found

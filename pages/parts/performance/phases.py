"""The table of phases, its sum, and the work of parallel threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.analysis import PhaseTotal, parallel_totals
from core.base import words as fmt
from core.report import Phase
from pages.look.text import LONGEST_LINE, LONGEST_NAME, code, one_line, plain

ALL = "all compilations"
NAMED = 3
FORMS = {"times": fmt.number, "total": fmt.duration_s, "by itself": fmt.duration_s}
COLUMNS: dict[str, Any] = {
    "phase": st.column_config.TextColumn(width="medium"),
    "total": st.column_config.Column(help="Time in which at least one was open", width="small"),
    "by itself": st.column_config.Column(help="Time in which nothing of another name was open in it", width="small"),
    "in threads": st.column_config.TextColumn(help="Seconds of all threads added up, more than the clock's"),
}


def row(item: PhaseTotal) -> dict[str, object]:
    """Return one row of the table.

    Seconds that threads spent in parallel are no wall-clock seconds, so they have a column of their own.
    """
    return {
        "phase": one_line(item.name, LONGEST_LINE),
        "times": item.count,
        "total": item.total_s,
        "by itself": item.self_s,
        "in threads": f"{fmt.duration_s(item.threads_s)} in {fmt.count(item.threads, 'thread')}"
        if item.threads > 1
        else "",
    }


def time_words(wanted: str, seconds: Mapping[str, float]) -> str:
    """Describe the sum of the column of self times, as Markdown."""
    if wanted == ALL:
        return f"“By itself” adds up to {fmt.duration_s(sum(seconds.values()))}, the compile time of the run."
    return f"“By itself” adds up to {fmt.duration_s(seconds.get(wanted, 0.0))}, the compile time of [{plain(wanted)}]."


def parallel_words(phases: Sequence[Phase], totals: Sequence[PhaseTotal]) -> str:
    """Describe the work beside the compiling thread, as Markdown; empty if there was none.

    Names the phases whose threads add up to more seconds than the clock's.
    """
    found = parallel_totals(totals)
    told = [
        f"{code(one.name, LONGEST_NAME)} in up to {fmt.count(one.threads, 'thread')}, {fmt.duration_s(one.threads_s)} "
        f"of theirs within {fmt.duration_s(one.total_s)} of the clock"
        for one in found[:NAMED]
    ]
    more = f"; and {fmt.count(len(found) - NAMED, 'more phase')}" if len(found) > NAMED else ""
    parallel = f"In parallel: {'; '.join(told)}{more}. " if told else ""
    beside = any(phase.thread for phase in phases)
    return parallel + ("What ran beside the compiling thread stands below the dashed line." if beside else "")

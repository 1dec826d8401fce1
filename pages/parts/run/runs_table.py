"""Table of all stored runs, with their settings and verdicts.

Display of a visitor's use of the server's limits.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core import Limits, Usage
from core.base import words as fmt
from core.views import header, retention
from core.views import runs as lists
from pages.gate.people import the_people
from pages.gate.visitor import who
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, one_line, prose
from pages.session import server
from pages.session.cache import cached
from pages.session.runs import summarised
from pages.session.tables import in_words, opened_or_ticked

NAME, SPEEDUP = "run", "speedup"
AGAIN_S = 1.0
COUNTS = ("graphs", "breaks", "recompiles", "kernels")
# The first columns must fit into 1,024 pixels, the page's width in a window of 1,280 pixels.
COLUMNS: dict[str, Any] = {
    "state": st.column_config.TextColumn(width=75),
    SPEEDUP: st.column_config.Column(width=180, help="Eager over compiled in the steady state, with its 99 % interval"),
    "doubt": st.column_config.TextColumn(width=230, help="Why the speedup is not measurable, or not reliable"),
    "graphs": st.column_config.Column(width=65),
    "recompiles": st.column_config.Column(width=85),
    "kernels": st.column_config.Column(width=70),
    "breaks": st.column_config.Column(width=65, help="Graph breaks"),
    "result": st.column_config.TextColumn(width=80, help="Compiled against eager"),
    "memory": st.column_config.TextColumn(help="Peak memory of the run's processes"),
    "when": st.column_config.TextColumn(width=110),
    "made for": st.column_config.TextColumn(width=150),
    "tags": st.column_config.TextColumn(width=110),
    "note": st.column_config.TextColumn(width=150),
}
SHOWN_S = 10.0
RETENTION_S = 300.0
NEARLY = 0.8
PINNED = "📌 "


def runs_table(listed: Sequence[lists.ListedRun]) -> tuple[lists.ListedRun | None, list[lists.ListedRun]]:
    """Draw the table; return the newly opened run (or None), and the ticked runs."""
    complete, waiting = summarised(listed)
    now = time.time()
    rows = [_row(each, now) for each in complete]
    speeds = {row[SPEEDUP]: each.speedup for row, each in zip(rows, complete, strict=True) if row[SPEEDUP]}
    forms = dict.fromkeys(COUNTS, fmt.number)
    frame = pd.DataFrame(rows)
    told = in_words(
        frame.astype({name: "Int64" for name in COUNTS if rows}),
        {**forms, SPEEDUP: lambda middle: speeds.get(middle, "")},
    )
    if waiting:
        draw_again("Reading more verdicts…")
    return opened_or_ticked(told, complete, "runs-table", NAME, column_config=COLUMNS, height=TALL, placeholder="")


def draw_again(why: str) -> None:
    """Rerun the page in a moment, since there is more to show; `why` is shown meanwhile."""
    drawn_s = time.monotonic()

    @st.fragment(run_every=AGAIN_S)
    def polling() -> None:
        if time.monotonic() - drawn_s > AGAIN_S / 2:
            st.rerun()
        st.caption(f":material/hourglass_top: {why}")

    polling()


def _row(listed: lists.ListedRun, now: float) -> dict[str, Any]:
    entry, status, summary = listed.entry, listed.status, listed.summary
    interval = summary.speed.interval if summary and summary.speed else None
    more = [fmt.count(entry.ranks, "rank")] if entry.ranks > 1 else ["in the archive"] * (entry.archived == "away")
    return {
        NAME: " · ".join([f"{PINNED * entry.pinned}{one_line(listed.title, LONGEST_NAME)}", *more]),
        "state": status.state,
        SPEEDUP: interval.middle if interval else None,
        "breaks": summary.breaks if summary else None,
        "recompiles": summary.recompiles if summary else None,
        "kernels": summary.kernels if summary else None,
        "result": summary.outcome if summary else "",
        "when": fmt.ago(status.created_s, now),
        "made for": one_line(", ".join(entry.settings), LONGEST_NAME),
        "doubt": listed.doubt,
        "graphs": summary.graphs if summary else None,
        "tags": one_line(", ".join(entry.tags), LONGEST_NAME),
        "note": one_line(entry.note, LONGEST_LINE),
        "took": "" if status.took_s is None else fmt.duration_s(status.took_s),
        "memory": fmt.bytes_(status.peak_memory_bytes) if status.peak_memory_bytes else "",
        "torch": summary.torch if summary else "",
        "device": summary.device if summary else "",
        **({"by": status.by or "owner"} if the_people() else {}),
        "kind": header.kind_words(status),
        "id": listed.id,
    }


def what_goes() -> None:
    """Draw which runs move or are deleted by the rules of the server's owner, and when; nothing without rules."""
    if words := _retention():
        st.caption(f":material/archive: {prose(words, LONGEST_TEXT)}")


@cached(seconds=RETENTION_S)
def _retention() -> str:
    return retention.retention_words(server.runner().index)


def what_is_used() -> None:
    """Draw the use of each limit that the server's owner has set; nothing without limits."""
    limits = server.runner().limits
    if not {limits.runs, limits.visitor_bytes, limits.store_bytes} - {None}:
        return
    parts = _parts(limits, _usage(who().name))
    if not parts:
        return
    words = " · ".join(f"{used} of {most} {what}" for used, most, what, _ in parts)
    if max(share for *_, share in parts) < NEARLY:
        st.caption(f"Used here: {words}.")
    else:
        st.warning(
            f"Used here: {words}. When it is used up, nothing new is started or opened; what is here stays until it "
            f"is deleted.",
            icon=":material/inventory_2:",
        )


@cached(seconds=SHOWN_S)
def _usage(name: str) -> Usage:
    return server.runner().index.usage(name)


def _parts(limits: Limits, used: Usage) -> list[tuple[str, str, str, float]]:
    """Return for each limit: the used amount, the maximum, the name, and the used share.

    A visitor with a name gets the limits per visitor.
    """
    known = (
        (limits.runs, used.runs, fmt.number, "runs of yours"),
        (limits.visitor_bytes, used.visitor_bytes, fmt.gib, "for your runs"),
        (limits.store_bytes, used.store_bytes, fmt.gib, "for all"),
    )
    bounds = known if who().name else known[2:]
    return [(words(have), words(most), what, have / most) for most, have, words, what in bounds if most is not None]

"""Table of all stored runs, with their settings and verdicts.

Display of a visitor's use of the server's limits.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from core import Limits, Run, Status, Usage, Verdict, usage
from core.base import words as fmt
from core.views import header
from core.views.speedup import seen_words
from pages.gate.visitor import who
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.session import server
from pages.session.cache import cached
from pages.session.runs import called, made_for, ranks_words, verdicts
from pages.session.tables import in_words, opened_or_ticked

Listed = tuple[Run, Status]
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
    "note": st.column_config.TextColumn(width=150),
}
SHOWN_S = 10.0
NEARLY = 0.8


def runs_table(listed: Sequence[Listed]) -> tuple[Listed | None, list[Listed]]:
    """Draw the table; return the newly opened run (or None), and the ticked runs."""
    found, waiting = verdicts(listed)
    now = time.time()
    rows = [_row(run, status, found.get(run.id), now) for run, status in listed]
    speeds = {row[SPEEDUP]: _speed_words(found[row["id"]]) for row in rows if row[SPEEDUP]}
    forms = dict.fromkeys(COUNTS, fmt.number)
    frame = pd.DataFrame(rows)
    told = in_words(
        frame.astype({name: "Int64" for name in COUNTS if rows}),
        {**forms, SPEEDUP: lambda middle: speeds.get(middle, "")},
    )
    if waiting:
        _go_on()
    return opened_or_ticked(told, listed, "runs-table", NAME, column_config=COLUMNS, height=TALL, placeholder="")


def _go_on() -> None:
    """Rerun the page while verdicts are missing, to compute more of them."""
    drawn_s = time.monotonic()

    @st.fragment(run_every=AGAIN_S)
    def polling() -> None:
        if time.monotonic() - drawn_s > AGAIN_S / 2:
            st.rerun()
        st.caption(":material/hourglass_top: Reading more verdicts…")

    polling()


def words_of(run: Run, status: Status) -> str:
    """Return the text that the filter searches."""
    return " ".join([called(run, status), run.note(), *made_for(run), *ranks_words(run, status), status.state, run.id])


def _row(run: Run, status: Status, verdict: Verdict | None, now: float) -> dict[str, Any]:
    interval = verdict.speed.interval if verdict and verdict.speed else None
    return {
        NAME: " · ".join([one_line(called(run, status), LONGEST_NAME), *ranks_words(run, status)]),
        "state": status.state,
        SPEEDUP: interval.middle if interval else None,
        "breaks": verdict.breaks if verdict else None,
        "recompiles": verdict.recompiles if verdict else None,
        "kernels": verdict.work.kernels if verdict else None,
        "result": verdict.result.outcome if verdict and verdict.result else "",
        "when": fmt.ago(status.created_s, now),
        "made for": one_line(", ".join(made_for(run)), LONGEST_NAME),
        "doubt": _doubt(verdict),
        "graphs": verdict.graphs if verdict else None,
        "note": one_line(run.note(), LONGEST_LINE),
        "took": "" if status.took_s is None else fmt.duration_s(status.took_s),
        "memory": fmt.bytes_(status.peak_memory_bytes) if status.peak_memory_bytes else "",
        "kind": header.kind_words(status),
        "id": run.id,
    }


def _speed_words(verdict: Verdict) -> str:
    """Return the ratio as text; empty if there is none."""
    return seen_words(verdict.speed) if verdict.speed is not None else ""


def _doubt(verdict: Verdict | None) -> str:
    """Return why the ratio is missing or unreliable; empty if it is reliable."""
    if verdict is None or verdict.speed is None:
        return ""
    return verdict.speed.unknown or verdict.speed.disturbed


def what_is_used() -> None:
    """Draw the use of each limit that the server's owner has set; nothing without limits."""
    limits = server.runner().limits
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
    return usage(server.runner().store, name)


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

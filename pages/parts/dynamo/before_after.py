"""A run beside the one that repairs it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import Verdict, verdict
from core import words as fmt
from core.analysis import compile_seconds, results_words
from core.report import Report
from pages.look.speed_words import seen_words
from pages.look.text import LONGEST_TEXT, prose
from pages.session.view import RunView

REFUSED = "Refused: the repaired code gives other results than the code as it was, run eagerly"
UNTOLD = "Whether results are equal cannot be told"
NOT_COMPARED = "not compared"
NOTHING = "No graph break and no recompile fewer"


def before_and_after(before: RunView, after: RunView) -> None:
    """What became of a repair: its verdict on results first, then the numbers of both runs."""
    one, other = verdict(before.report), verdict(after.report)
    told, found = _fewer(one, other), other.result
    if found is not None and found.outcome == "differs":
        st.error(f"**{REFUSED}.** {prose(results_words(found), LONGEST_TEXT)}.", icon=":material/block:")
    elif found is None or found.outcome == "not comparable":
        why = f": {results_words(found)}" if found is not None else ""
        st.warning(f"**{told}.** {UNTOLD}{prose(why, LONGEST_TEXT)}.", icon=":material/help:")
    elif told == NOTHING:
        st.warning(f"**{told}.** The results are equal.", icon=":material/remove:")
    else:
        equal = "equal results" if found.outcome == "same" else "equal values, other strides"
        st.success(f"**{told}, {equal}.**", icon=":material/check:")
    rows = {name: (_words(one, before.report)[name], text) for name, text in _words(other, after.report).items()}
    st.table(pd.DataFrame.from_dict(rows, orient="index", columns=["before", "after"]))


def _fewer(one: Verdict, other: Verdict) -> str:
    """What is gone, in words."""
    gone = ((one.breaks - other.breaks, "graph break"), (one.recompiles - other.recompiles, "recompile"))
    told = [f"{fmt.count(number, what)} fewer" for number, what in gone if number > 0]
    return ", ".join(told) or NOTHING


def _words(found: Verdict, report: Report) -> dict[str, str]:
    speed = found.speed
    return {
        "graphs": fmt.number(found.graphs),
        "graph breaks": fmt.number(found.breaks),
        "recompiles": fmt.number(found.recompiles),
        "kernels": fmt.number(found.work.kernels),
        "compile time": fmt.duration_s(sum(compile_seconds(report.phases).values())),
        "compiled call": fmt.duration_s(speed.compiled_s if speed else None),
        "faster than eager": ", ".join([seen_words(speed), *(["disturbed"] if speed.disturbed else [])])
        if speed
        else fmt.NOT_RECORDED,
        "result": found.result.outcome if found.result else NOT_COMPARED,
    }

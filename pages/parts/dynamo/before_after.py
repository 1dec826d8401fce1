"""A run beside the run that fixes it."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core import Verdict, verdict
from core.analysis import Speed, compile_seconds
from core.analysis.repairs import Remainder, Trial, TrialOutcome, TrialSide, trial
from core.base import words as fmt
from core.graph import source_path
from core.report import Report
from pages.look.speed_words import seen_words
from pages.look.text import LONGEST_TEXT, prose
from pages.parts.code import source_text
from pages.session.view import RunView

NOT_COMPARED = "not compared"
COMPARED = (
    "Compared with the code as it was, run eagerly: outputs, gradients, inputs, buffers, attributes, globals, and text "
    "that Python prints, in its order. Not compared: other objects, files, and when in a call a side effect happens."
)
ICONS: dict[TrialOutcome, str] = {
    "repaired": ":material/check:",
    "partly": ":material/remove:",
    "nothing": ":material/remove:",
    "untold": ":material/help:",
    "worse": ":material/trending_down:",
    "differs": ":material/block:",
}
SHOWN_LEFT = 8


def before_and_after(before: RunView, after: RunView) -> None:
    """Draw the result of a fix: its verdict, the remaining breaks with torch's reasons, then the numbers of
    both runs.
    """
    found = trial_of(before, after)
    bar = {"repaired": st.success, "worse": st.error, "differs": st.error}.get(found.outcome, st.warning)
    head, dot, rest = found.words.partition(". ")
    bar(f"**{prose(head, LONGEST_TEXT)}.**{f' {prose(rest, LONGEST_TEXT)}.' if dot else ''}", icon=ICONS[found.outcome])
    if found.left:
        st.markdown("\n".join(map(_left, found.left[:SHOWN_LEFT])))
        if len(found.left) > SHOWN_LEFT:
            st.caption(f"and {fmt.number(len(found.left) - SHOWN_LEFT)} more")
    one, other = verdict(before.report), verdict(after.report)
    rows = {name: (_words(one, before.report)[name], text) for name, text in _words(other, after.report).items()}
    st.table(pd.DataFrame.from_dict(rows, orient="index", columns=["before", "after"]))
    st.caption(COMPARED)


def trial_of(before: RunView, after: RunView) -> Trial:
    """Return the trial of the first run that the second run is: the fixes and settings that only its job has."""
    one, other = before.job, after.job
    ids: tuple[str, ...] = ()
    dynamic = False
    if one is not None and other is not None:
        steps = other.repairs[len(one.repairs) :]
        known = one.conditions.dynamo or {}
        names = [name for name, value in (other.conditions.dynamo or {}).items() if known.get(name) != value]
        ids = (*(item for step in steps for item in step), *(f"setting:{name}" for name in names))
        dynamic = other.compile.dynamic is True and one.compile.dynamic is not True
    return trial(_side(before), _side(after), ids, dynamic)


def _side(view: RunView) -> TrialSide:
    return TrialSide(view.report, source_text(view), source_path(view.report))


def _left(left: Remainder) -> str:
    return f"- {prose(left.place)}{' (new)' if left.new else ''}: {prose(left.reason, LONGEST_TEXT)}"


def _words(found: Verdict, report: Report) -> dict[str, str]:
    speed = found.speed
    return {
        "graphs": fmt.number(found.graphs),
        "graph breaks": fmt.number(found.breaks),
        "recompiles": fmt.number(found.recompiles),
        "kernels": fmt.number(found.work.kernels),
        "compile time": fmt.duration_s(sum(compile_seconds(report.phases).values())),
        "compiled call": fmt.duration_s(speed.compiled_s if speed else None),
        "faster than eager": _faster(speed) if speed else fmt.NOT_RECORDED,
        "result": found.result.outcome if found.result else NOT_COMPARED,
    }


def _faster(speed: Speed) -> str:
    return speed.unknown or ", ".join([seen_words(speed), *(["machine busy"] if speed.disturbed else [])])

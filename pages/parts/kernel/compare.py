"""Any two forms of a kernel as a diff: another rung, target or config, or the kernel of another run."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core import Run
from core import words as fmt
from core.code import diff_texts, without_locations
from core.report import Kernel, Report
from core.tools import TARGETS, Answer, Assembly, AssemblyAnswer, Ladder, LadderAnswer, Request
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.parts.code import diff_view
from pages.parts.kernel.ladder import RUNG_WORDS
from pages.parts.kernel.tool import may_run_tools, tool
from pages.session.runs import listed_runs
from pages.session.view import RunView, open_view

MOST_RUNS = 50


@dataclass(frozen=True, slots=True)
class RungSide:
    """What one side of the comparison is: a request to a run, and the rung of its answer."""

    run: Run
    request: Request
    rung: str
    words: str


def compare_view(view: RunView, kernel: Kernel) -> None:
    """Choose two sides; their difference below."""
    left, right = st.columns(2, gap="medium")
    with left:
        one = _side(view, kernel, "one", later=False)
    with right:
        other = _side(view, kernel, "other", later=True)
    if one is None or other is None:
        return
    asked = dict.fromkeys((side.run, side.request) for side in (one, other))
    answers = {item: tool(*item, "Compiling…") for item in asked}
    texts = [_text(answers[side.run, side.request], side.rung) for side in (one, other)]
    if texts[0] is None or texts[1] is None:
        return
    diff = diff_texts(texts[0], texts[1], one.words, other.words)
    if not diff.text:
        st.success("The two are the same, to the letter.")
        return
    st.caption(f"{fmt.count(diff.removed, 'line')} only on the left, {fmt.number(diff.added)} only on the right.")
    diff_view("difference", diff.text, f"diff-{hash((one, other))}", diff.left_out)


def _side(view: RunView, kernel: Kernel, key: str, later: bool) -> RungSide | None:
    """The choices of one side, drawn."""
    runs = {run.id: status.title for run, status in listed_runs()[:MOST_RUNS]}
    runs.setdefault(view.run.id, view.shown.status.title)
    run_id = st.selectbox(
        "Run",
        list(runs),
        index=list(runs).index(view.run.id),
        format_func=lambda name: f"{one_line(runs[name], LONGEST_NAME)} · {name[:15]}",
        key=f"compare-run-{key}",
    )
    there = open_view(run_id) if run_id else None
    if there is None:
        st.info("That run has no report.")
        return None
    found = _same_kernel(there.report, kernel, key)
    if found is None or not may_run_tools(there.shown):
        return None
    sides = _triton_side if found.language == "triton" else _cpp_side
    return sides(there.run, found, key, later)


def _same_kernel(report: Report, kernel: Kernel, key: str) -> Kernel | None:
    kernels = {
        item.id: item
        for compilation in report.compilations
        for item in compilation.kernels
        if item.language == kernel.language and not item.extern
    }
    if not kernels:
        st.info("That run has no kernel of the same language.")
        return None
    ids = list(kernels)
    same = next((item.id for item in kernels.values() if item.id == kernel.id or item.name == kernel.name), ids[0])
    chosen = st.selectbox(
        "Kernel",
        ids,
        index=ids.index(same),
        format_func=lambda name: one_line(kernels[name].name, LONGEST_LINE),
        key=f"compare-kernel-{key}",
    )
    return kernels[chosen or same]


def _triton_side(run: Run, kernel: Kernel, key: str, later: bool) -> RungSide:
    with st.container(horizontal=True):
        target = st.selectbox("Target", ["", *TARGETS], format_func=target_words, key=f"compare-target-{key}")
        config = st.number_input("Config", 0, 200, 0, key=f"compare-config-{key}")
        rungs = ["python", "ttir", "ttgir", "llir", "ptx", "sass", "amdgcn"]
        rung = st.selectbox(
            "Rung", rungs, index=2 if later else 1, format_func=RUNG_WORDS.__getitem__, key=f"compare-rung-{key}"
        )
    words = f"{kernel.name}, {target_words(target)}, config {config}, {RUNG_WORDS[rung]}"
    return RungSide(run, Ladder(kernel.id, target, int(config)), rung, words)


def _cpp_side(run: Run, kernel: Kernel, key: str, later: bool) -> RungSide:
    rung = st.selectbox(
        "Rung", ["cpp", "asm"], index=int(later), format_func=RUNG_WORDS.__getitem__, key=f"compare-rung-{key}"
    )
    return RungSide(run, Assembly(kernel.id), rung, f"{kernel.name}, {RUNG_WORDS[rung]}")


def target_words(key: str) -> str:
    """A target in a list."""
    return TARGETS[key].title if key in TARGETS else "as generated"


def _text(answer: Answer | None, rung: str) -> str | None:
    if answer is None:
        return None
    text = _rung(answer, rung)
    if text is None:
        st.info(f"The left or right side has no {RUNG_WORDS[rung]}: that target ends on another rung.")
    return text


def _rung(answer: Answer, name: str) -> str | None:
    if isinstance(answer, AssemblyAnswer):
        return answer.source if name == "cpp" else answer.assembly.text
    if isinstance(answer, LadderAnswer):
        text = next((rung.text for rung in answer.rungs if rung.name == name), None)
        return without_locations(text) if text and name in ("ttir", "ttgir") else text
    return None

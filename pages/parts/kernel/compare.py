"""Two forms of a kernel as a diff: another rung, target or config, or the kernel of another run."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core import CompileJob, Run, comparable_runs
from core.analysis.kernels import counterpart, kernel_names
from core.base import words as fmt
from core.code import diff_texts, without_locations
from core.report import Compilation, Kernel, Report
from core.runs.tools import TARGETS, Answer, Assembly, AssemblyAnswer, Ladder, LadderAnswer, Request
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.parts.code import diff_view
from pages.parts.kernel.ladder import RUNG_WORDS
from pages.parts.kernel.tool import may_run_tools, tool
from pages.session.runs import listed_runs
from pages.session.view import View, open_view

MOST_RUNS = 50


@dataclass(frozen=True, slots=True)
class RungSide:
    """A side of the comparison: a request to a run, and the rung of its result."""

    run: Run
    request: Request
    rung: str
    words: str


def compare_view(view: View, kernel: Kernel) -> None:
    """Let the visitor choose two sides, and draw their diff.

    The right side starts with the same kernel in another run of the model.
    """
    other_run = _other_run(view)
    if other_run is None and kernel.language == "cpp":
        st.info(
            "There is no other run of this model that generates C++. Run it again with other options, and the same "
            "kernel of both is compared here; what this one compiles to is in the view *assembly*."
        )
        return
    left, right = st.columns(2, gap="medium")
    with left:
        one = _side(view, kernel, view.run, "one", later=False)
    with right:
        other = _side(view, kernel, other_run or view.run, "other", later=other_run is None)
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


def _other_run(view: View) -> Run | None:
    """Return the newest other run of the model that generates the same language."""
    others = comparable_runs(listed_runs(), view.run, view.shown.status.title, view.job)
    return next((other.run for other in others if _on_accelerator(other.job) == _on_accelerator(view.job)), None)


def _on_accelerator(job: CompileJob | None) -> bool:
    return job is not None and (bool(job.target) or job.device.partition(":")[0] != "cpu")


def _side(view: View, kernel: Kernel, run: Run, key: str, later: bool) -> RungSide | None:
    """Draw the choices of one side, and return them; `run` is preset, and `later` makes a later rung the default."""
    runs = {item.id: status.title for item, status in listed_runs()[:MOST_RUNS]}
    runs.setdefault(view.run.id, view.shown.status.title)
    runs.setdefault(run.id, view.shown.status.title)
    run_id = st.selectbox(
        "Run",
        list(runs),
        index=list(runs).index(run.id),
        format_func=lambda name: f"{one_line(runs[name], LONGEST_NAME)} · {name[:15]}",
        key=f"compare-run-{key}",
    )
    there = open_view(run_id) if run_id else None
    if there is None:
        st.info("That run has no report.")
        return None
    found = _same_kernel(there.report, view.compilation, kernel, key)
    if found is None or not may_run_tools(there.shown):
        return None
    sides = _triton_side if found.language == "triton" else _cpp_side
    return sides(there.run, found, key, later)


def _same_kernel(report: Report, compilation: Compilation, kernel: Kernel, key: str) -> Kernel | None:
    kernels = {
        item.id: item
        for found in report.compilations
        for item in found.kernels
        if item.language == kernel.language and not item.extern
    }
    if not kernels:
        st.info("That run has no kernel of the same language.")
        return None
    ids = list(kernels)
    names = {name: label for found in report.compilations for name, label in kernel_names(found).items()}
    same = counterpart(kernel, compilation, report)
    chosen = st.selectbox(
        "Kernel",
        ids,
        index=ids.index(same.id) if same and same.id in kernels else 0,
        format_func=lambda name: one_line(f"{names[name]} ({kernels[name].name})", LONGEST_LINE),
        key=f"compare-kernel-{key}",
    )
    return kernels[chosen or ids[0]]


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
    """Return a target in a list."""
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

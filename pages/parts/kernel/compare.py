"""Diff of a kernel with another rung, target or config, or with the kernel of another run."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from core import TARGETS, Run
from core.views.kernels import KernelTool, KernelView
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.parts.code import diff_view
from pages.parts.kernel.tool import may_run_tools, tool_result
from pages.session.runs import named_runs, runs_like
from pages.session.shown import View, open_view

MOST_RUNS = 50
MOST_CONFIGS = 200


@dataclass(frozen=True, slots=True)
class RungSide:
    """A side of the comparison: a tool, and the rung of its result."""

    tool: KernelTool
    rung: str
    title: str


def compare_view(view: View, shown: KernelView) -> None:
    """Let the visitor choose two sides, and draw their diff.

    The default right side is the same kernel in another run of the model.
    """
    right_run = _other_run(view)
    if right_run is None and shown.kernel.language == "cpp":
        st.info(
            "No other run of this model generates C++. Run it again with other options to compare the same kernel "
            "here. *assembly* shows the machine code of this one."
        )
        return
    columns = st.columns(2, gap="medium")
    with columns[0]:
        left = _side(view, shown, view.run, "one", later=False)
    with columns[1]:
        right = _side(view, shown, right_run or view.run, "other", later=right_run is None)
    if left is None or right is None:
        return
    results = {tool: tool_result(tool) for tool in dict.fromkeys((left.tool, right.tool))}
    texts = []
    for side in (left, right):
        result = results[side.tool]
        text = result.rung_text(side.rung) if result is not None else None
        if result is not None and text is None:
            st.info(
                f"The left or right side has no {KernelView.rung_title(side.rung)}: that target ends on another rung."
            )
        texts.append(text)
    if texts[0] is None or texts[1] is None:
        return
    diff = KernelView.diff((texts[0], texts[1]), (left.title, right.title))
    if not diff.text:
        st.success("Both are identical.")
        return
    st.caption(KernelView.diff_caption(diff))
    diff_view("difference", diff.text, f"diff-{hash((left, right))}", diff.left_out)


def _other_run(view: View) -> Run | None:
    """Return the newest other run of the model that generates the same language."""
    runs = runs_like(view.run, view.shown.status.title, view.job)
    return next((item.run for item in runs if KernelView.same_language(item.job, view.job)), None)


def _side(view: View, shown: KernelView, run: Run, key: str, later: bool) -> RungSide | None:
    """Draw the choices of one side, and return them; `run` is the default, `later` selects a later rung by default."""
    runs = {listed.id: listed.status.title for listed in named_runs()[:MOST_RUNS]}
    runs.setdefault(view.run.id, view.shown.status.title)
    runs.setdefault(run.id, view.shown.status.title)
    run_id = st.selectbox(
        "Run",
        list(runs),
        index=list(runs).index(run.id),
        format_func=lambda name: f"{one_line(runs[name], LONGEST_NAME)} · {name[:15]}",
        key=f"compare-run-{key}",
    )
    side_view = open_view(run_id) if run_id else None
    if side_view is None:
        st.info("That run has no report.")
        return None
    kernels, same = shown.counterparts(side_view.report)
    if not kernels:
        st.info("That run has no kernel of the same language.")
        return None
    chosen = st.selectbox(
        "Kernel",
        list(kernels),
        index=list(kernels).index(same),
        format_func=lambda name: one_line(kernels[name].label, LONGEST_LINE),
        key=f"compare-kernel-{key}",
    )
    if not may_run_tools(side_view.shown):
        return None
    return _rung_side(side_view.run, kernels[chosen or same], key, later)


def _rung_side(run: Run, shown: KernelView, key: str, later: bool) -> RungSide:
    """Draw the choice of a rung; for a Triton kernel also of target and config."""
    is_triton, target, config = shown.kernel.language == "triton", "", 0
    with st.container(horizontal=True):
        if is_triton:
            target = st.selectbox(
                "Target", ["", *TARGETS], format_func=KernelView.target_title, key=f"compare-target-{key}"
            )
            config = int(st.number_input("Config", 0, MOST_CONFIGS, 0, key=f"compare-config-{key}"))
        rung = st.selectbox(
            "Rung",
            shown.rungs,
            index=int(later) + is_triton,
            format_func=KernelView.rung_title,
            key=f"compare-rung-{key}",
        )
    tool = KernelTool.rungs(run, shown.kernel.id, shown.kernel.language, target, config)
    return RungSide(tool, rung, shown.rung_words(rung, target, config))

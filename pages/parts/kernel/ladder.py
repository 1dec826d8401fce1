"""Rungs of a kernel: its texts from source to machine code.

A kernel is compiled again on request. Lines of different rungs are linked by their source line. A rung can be
compared with another rung, target or config, or with the kernel of another run.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st

from core import TARGETS, Run
from core.views import kernels as views
from core.views.kernels import results
from core.views.texts import SourceView
from pages.components.code.view import CodePicture, Mark, code_lines, code_view
from pages.look.palette import SHORT, TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line
from pages.parts.code import diff_view
from pages.parts.kernel.tool import may_run_tools, tool_result
from pages.parts.kernels.source import kernel_source
from pages.session import url
from pages.session.runs import named_runs, runs_like
from pages.session.shown import View, open_view
from pages.session.tables import draw, picks
from pages.session.url import set_state, state_of

CHANNEL = "ladder"
LANGUAGES = {
    "python": "python",
    "ttir": "llvm",
    "ttgir": "llvm",
    "llir": "llvm",
    "ptx": "ptx",
    "amdgcn": "amdgpu",
    "cpp": "cpp",
    "asm": "gas",
}
CONFIGS, ASSEMBLY = "configs", "assembly"
MOST_CONFIGS = 200  #: configs of a kernel
MOST_RUNS = 50  #: runs whose kernels are offered


def rung_view(
    rung: results.Rung, key: str, marks: Mapping[int, Mark] | None = None, notes: Mapping[int, str] | None = None
) -> None:
    """Draw a rung as code; a line selects the lines of other rungs that come from the same source line."""
    links = {number: (f"s:{line}",) for number, line in rung.lines.items()}
    lines = code_lines(rung.text, prefix=rung.name, links=links, marks=marks, notes=notes)
    picture = CodePicture(views.KernelView.rung_title(rung.name), LANGUAGES.get(rung.name, ""), lines)
    code_view(picture, key=key, height=TALL, channel=CHANNEL)
    if rung.left_out:
        st.caption(SourceView.more_lines(rung.left_out))


def rung_pair(key: str, answer: results.Answer) -> None:
    """Draw two rungs side by side: chosen ones, or a source with marked loops and its assembly."""
    rungs = results.rungs(answer)
    left, right = st.columns(2, gap="medium")
    if isinstance(answer, results.AssemblyAnswer):
        marks: dict[int, Mark] = {loop.line: "info" if loop.kind == "scalar" else "ok" for loop in answer.loops}
        with left:
            rung_view(rungs["cpp"], f"{key}-cpp", marks, results.line_notes(answer))
        with right:
            rung_view(rungs["asm"], f"{key}-asm")
        return
    names = list(rungs)
    for column, side, default in ((left, "left", names[0]), (right, "right", names[-1])):
        with column:
            name = st.segmented_control(
                side,
                names,
                default=default,
                format_func=views.KernelView.rung_title,
                key=f"{key}-{side}",
                label_visibility="collapsed",
            )
            rung_view(rungs[name or default], f"{key}-{side}-{name or default}")


def cached_file(key: str, answer: results.LadderAnswer) -> None:
    """Let the visitor open a file of Triton's cache, or a rung."""
    texts = results.file_texts(answer)
    title = st.selectbox("Open", list(texts), format_func=lambda text: one_line(text, LONGEST_LINE), key=f"{key}-file")
    if title:
        st.code(texts[title], language=None, height=SHORT)


def chosen_kernel(view: View, generated: Mapping[str, views.KernelView]) -> views.KernelView:
    """Let the visitor pick a kernel, by default that with most FX nodes, as the URL's selection."""
    selected = (url.selected() or "").removeprefix("k:")
    fallback = views.most_nodes(generated)
    url.read(url.KERNEL, generated, selected if selected in generated else fallback)
    if selected in generated and state_of("kernel-selected") != selected:
        set_state(url.KERNEL, selected)
    picked = st.selectbox(
        "Kernel",
        list(generated),
        key=url.KERNEL,
        format_func=lambda name: one_line(generated[name].label, LONGEST_LINE),
        label_visibility="collapsed",
        width=520,
    )
    set_state("kernel-selected", picked)
    if selected not in generated or picked == selected:
        url.pick(f"k:{picked}")
    elif url.select(f"k:{picked}"):
        st.rerun()
    return generated[picked]


def compiled_views(view: View, shown: views.KernelView, shape: str) -> None:
    """Draw the result of compiling a kernel again; until there is a result, draw the kernel's source."""
    if not may_run_tools(view.shown):
        return
    kernel = shown.kernel
    target, config = ("", 0) if shape == ASSEMBLY else _target_and_config(shape)
    result = tool_result(views.KernelTool.compiled(view.run, kernel.id, shape, target, config))
    if result is None:
        kernel_source(view, kernel, whole=False)
        return
    key = f"{shape}-{kernel.id}-{target}-{config}"
    parts = {results.CODES: partial(rung_pair, key), results.FILE: partial(cached_file, key)}
    draw(results.result_blocks(result, kernel.tried, key, picks()), parts)


def _target_and_config(shape: str) -> tuple[str, int]:
    with st.container(horizontal=True):
        url.read(url.TARGET, TARGETS, "")
        target = st.selectbox(
            "Target", ["", *TARGETS], key=url.TARGET, format_func=views.KernelView.target_title, width=260
        )
        config = 0
        if shape != CONFIGS:
            config = int(
                st.number_input("Config", 0, MOST_CONFIGS, 0, key="config", width=140, help="See the view configs")
            )
    url.write(url.TARGET)
    return target, config


@dataclass(frozen=True, slots=True)
class RungSide:
    """A side of the comparison: a tool, and the rung of its result."""

    tool: views.KernelTool
    rung: str
    title: str


def compare_view(view: View, shown: views.KernelView) -> None:
    """Let the visitor choose two sides, by default of the kernel in two runs, and draw their diff."""
    right_run = _other_run(view)
    if right_run is None and shown.kernel.language == "cpp":
        st.info(views.KernelView.no_other_run)
        return
    columns = st.columns(2, gap="medium")
    with columns[0]:
        left = _side(view, shown, view.run, "one", later=False)
    with columns[1]:
        right = _side(view, shown, right_run or view.run, "other", later=right_run is None)
    if left is None or right is None:
        return
    answers = {tool: tool_result(tool) for tool in dict.fromkeys((left.tool, right.tool))}
    texts = []
    for side in (left, right):
        result = answers[side.tool]
        text = results.rung_text(result, side.rung) if result is not None else None
        if result is not None and text is None:
            st.info(views.KernelView.missing_rung(side.rung))
        texts.append(text)
    if texts[0] is None or texts[1] is None:
        return
    diff = views.KernelView.diff((texts[0], texts[1]), (left.title, right.title))
    if not diff.text:
        st.success(views.KernelView.same_text)
        return
    st.caption(views.KernelView.diff_caption(diff))
    diff_view("difference", diff.text, f"diff-{hash((left, right))}", diff.left_out)


def _other_run(view: View) -> Run | None:
    """Return the first comparable run that generates kernels in the same language; None without one."""
    runs = runs_like(view.run, view.shown.status.title, view.job)
    return next((item.run for item in runs if views.KernelView.same_language(item.job, view.job)), None)


def _side(view: View, shown: views.KernelView, run: Run, key: str, later: bool) -> RungSide | None:
    """Draw the choices of one side, of a `later` rung on request, and return them; or None."""
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
        st.info(views.KernelView.no_report)
        return None
    kernels, same = shown.counterparts(side_view.report)
    if not kernels:
        st.info(views.KernelView.no_counterpart)
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


def _rung_side(run: Run, shown: views.KernelView, key: str, later: bool) -> RungSide:
    """Draw the choice of a rung; for a Triton kernel also of target and config."""
    is_triton, target, config = shown.kernel.language == "triton", "", 0
    with st.container(horizontal=True):
        if is_triton:
            target = st.selectbox(
                "Target", ["", *TARGETS], format_func=views.KernelView.target_title, key=f"compare-target-{key}"
            )
            config = int(st.number_input("Config", 0, MOST_CONFIGS, 0, key=f"compare-config-{key}"))
        rung = st.selectbox(
            "Rung",
            shown.rungs,
            index=int(later) + is_triton,
            format_func=views.KernelView.rung_title,
            key=f"compare-rung-{key}",
        )
    tool = views.KernelTool.rungs(run, shown.kernel.id, shown.kernel.language, target, config)
    return RungSide(tool, rung, shown.rung_words(rung, target, config))

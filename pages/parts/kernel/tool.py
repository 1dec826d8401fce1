"""Result of a kernel tool: requested when first shown, awaited in a fragment, and stored.

Two tools have their views here: the kernel's reproduction, and the interpreter for one program of a Triton kernel.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

import streamlit as st

from core.base import words as fmt
from core.views import kernels as views
from core.views.kernels import results
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.gate.visitor import may_bring_code
from pages.look.charts import PLOTLY_CONFIG, go, plotly_layout
from pages.look.palette import ACCENT, GRID, INK, MAX_CODE_CHARS, MUTED, SHORT, TALL, Theme
from pages.look.text import LONGEST_TEXT, plain
from pages.session import actions
from pages.session.actions import attempt, toasted
from pages.session.downloads import download
from pages.session.server import cached, theme
from pages.session.shown import RunView, ShownRun
from pages.session.tables import NO_PARTS, Parts, draw
from pages.session.url import set_state, state_of

POLL_S = 0.3
WAITING = "tool-waiting"
THIS, SAMPLE, PASTED = "this kernel", "vector add", "your code"
AXES = ("program id x", "program id y", "program id z")
KINDS = ("untouched", "loaded", "stored", "loaded and stored")
# A picture with at most this many rows or columns has a gap between its cells.
FEW_CELLS = 64


def may_run_tools(shown: ShownRun) -> bool:
    """Return True if tools may work on this run; otherwise draw the reason or the question for consent.

    Tools execute the log's code, so an imported log needs the visitor's consent.
    """
    if shown.status.kind == "run":
        return True
    if not may_bring_code():
        st.info(views.KernelView.not_allowed)
        return False
    if state_of(f"trust-{shown.run.id}"):
        return True
    st.info(views.KernelView.trust_question)
    st.button("Run its code here", key="trust", on_click=_trust, args=(shown.run.id,))
    return False


def _trust(run_id: str) -> None:
    set_state(f"trust-{run_id}", True)


def tool_result(tool: views.KernelTool) -> results.Answer | None:
    """Return the result of a tool, None while it runs or if it failed; also draw progress and errors."""
    result = tool.result()
    if result is None:
        _start(tool)
        return None
    if isinstance(result, results.Trouble):
        draw(results.result_blocks(result))
        st.button("Try again", key=f"again-{tool.directory.path.name}", on_click=_again, args=(tool,))
        return None
    return result


def _start(tool: views.KernelTool) -> None:
    started = attempt(lambda: actions.start_tool(tool), lambda words: st.info(plain(words, LONGEST_TEXT)))
    if started is not None:
        _wait(tool)


def _again(tool: views.KernelTool) -> None:
    attempt(lambda: actions.forget(tool), toasted)


@st.fragment(run_every=POLL_S)
def _wait(tool: views.KernelTool) -> None:
    if tool.result() is not None:
        st.rerun()
    directory = tool.directory
    status = attempt(directory.status, lambda _: st.caption(views.KernelView.result_deleted))
    if status is None:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"{WAITING}-{directory.path.name}"):
        elapsed_s = max(0.0, time.time() - (status.started_s or status.created_s))
        doing = "Starting torch…" if status.state == "queued" else tool.waiting
        st.caption(f"{doing} {fmt.duration_s(round(elapsed_s, 1))}")
        st.button(
            "Cancel",
            key=f"cancel-{directory.path.name}",
            icon=":material/cancel:",
            on_click=actions.cancel,
            args=(directory,),
        )


@cached()
def _script(run_id: str, kernel_id: str, _view: RunView, _kernel: views.KernelView) -> tuple[str, str]:
    """Return the script and an empty string, or an empty string and the reason why there is no script."""
    problems: list[str] = []
    script = attempt(lambda: _kernel.reproduction(_view.run), problems.append)
    return script or "", "".join(problems)


def reproduce_view(view: RunView, shown: views.KernelView) -> None:
    """Draw the script that reproduces the kernel alone, with a button that runs it."""
    kernel_id = shown.kernel.id
    script, problem = _script(view.run.id, kernel_id, view, shown)
    if problem:
        st.info(plain(problem, LONGEST_TEXT))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(views.KernelView.script_note)
        download("repro.py", script, "repro.py", "text/x-python")
        st.button("Run it here", icon=":material/play_arrow:", key="run-repro", on_click=_wanted, args=(kernel_id,))
    code_view(CodePicture("repro.py", "python", code_lines(script, prefix="r")), key=f"repro-{kernel_id}", height=TALL)
    if state_of("repro-wanted") == kernel_id and may_run_tools(view.shown):
        _draw_result(tool_result(views.KernelTool.reproduced(view.run, kernel_id)))


def _wanted(kernel_id: str) -> None:
    set_state("repro-wanted", kernel_id)


def _draw_result(result: results.Answer | None, parts: Parts = NO_PARTS) -> None:
    if result is not None:
        draw(results.result_blocks(result), parts)


def interpreter_view(view: RunView, shown: views.KernelView) -> None:
    """Draw one program of a Triton kernel, and the tensor elements that it loads and stores."""
    sources = [THIS] * (shown.kernel.language == "triton") + [SAMPLE] + [PASTED] * may_bring_code()
    source = st.segmented_control(
        "Interpret", sources, default=sources[0], key="interpret", label_visibility="collapsed"
    )
    pasted = ""
    if source == PASTED:
        st.caption(views.KernelView.convention)
        pasted = st.text_area(
            "Code", height=SHORT, key="interpret-code", max_chars=MAX_CODE_CHARS, label_visibility="collapsed"
        )
        if not pasted.strip():
            return
    with st.container(horizontal=True):
        program = tuple(int(st.number_input(axis, 0, 2**31 - 1, 0, key=f"program-{axis[-1]}")) for axis in AXES)
    if source == THIS and not may_run_tools(view.shown):
        return
    kernel_id = shown.kernel.id if source == THIS else ""
    tool = views.KernelTool.interpreted(view.run, kernel_id, pasted, (program[0], program[1], program[2]))
    _draw_result(tool_result(tool), {results.TOUCHED: partial(_tensors, f"touched-{source}")})


def _tensors(key: str, tensors: Sequence[results.TouchedView]) -> None:
    """Draw one picture for each tensor."""
    columns = st.columns(2, gap="medium")
    for index, tensor in enumerate(tensors):
        with columns[index % 2]:
            st.markdown(tensor.title)
            figure = touched_chart(tensor.cells, tensor.axes, theme())
            st.plotly_chart(figure, theme=None, config=PLOTLY_CONFIG, key=f"{key}-{index}")


def touched_chart(cells: list[list[int]], titles: tuple[str, str], on: Theme) -> go.Figure:
    """Draw a heat map of a tensor's elements; the values of `cells` are indexes of `KINDS`."""
    colours = (GRID[on], ACCENT[on], INK[on], MUTED[on])
    scale = [[at, colour] for index, colour in enumerate(colours) for at in (index / 4, (index + 1) / 4)]
    figure = go.Figure(
        go.Heatmap(
            z=cells,
            zmin=-0.5,
            zmax=3.5,
            colorscale=scale,
            hovertemplate="row %{y}, column %{x}<extra></extra>",
            xgap=1 if len(cells[0]) <= FEW_CELLS else 0,
            ygap=1 if len(cells) <= FEW_CELLS else 0,
            colorbar={"tickvals": [0, 1, 2, 3], "ticktext": list(KINDS), "thickness": 8},
        )
    )
    figure.update_layout(**plotly_layout(on), height=max(160, min(360, 60 + 6 * len(cells))))
    figure.update_yaxes(autorange="reversed", title=titles[1])
    figure.update_xaxes(title=titles[0])
    return figure

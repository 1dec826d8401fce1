"""The scripts of a kernel: one that reproduces it, and a Triton kernel in the interpreter."""

from __future__ import annotations

import streamlit as st

from core.report import Kernel
from core.runs.tools import Interpret, InterpretAnswer, Reproduce, ReproduceAnswer, reproduction_of
from pages.components.code.view import CodePicture, code_lines, code_view
from pages.gate.visitor import may_bring_code
from pages.look.sizes import MAX_CODE_CHARS, SHORT, TALL
from pages.look.text import LONGEST_TEXT, plain
from pages.parts.kernel.tool import may_run_tools, tool
from pages.parts.kernel.touched import touched_view
from pages.session.attempt import attempt
from pages.session.cache import cached
from pages.session.memory import held, hold
from pages.session.view import RunView

THIS, SAMPLE, PASTED = "this kernel", "vector add", "your code"
CONVENTION = (
    "A module that defines a `@triton.jit` kernel and launches it on CPU tensors. What it leaves in `result` is "
    "compared "
    "with what it leaves in `expected`."
)
AXES = ("x", "y", "z")


@cached()
def _script(run_id: str, kernel_id: str, _view: RunView) -> tuple[str, str]:
    """Return the script and an empty text, or an empty text and the reason why there is none."""
    problems: list[str] = []
    script = attempt(lambda: reproduction_of(_view.run, _view.report, kernel_id), problems.append)
    return script or "", "".join(problems)


def reproduce_view(view: RunView, kernel: Kernel) -> None:
    """Draw the script that reproduces the kernel alone; it can be run here."""
    script, problem = _script(view.run.id, kernel.id, view)
    if problem:
        st.info(plain(problem, LONGEST_TEXT))
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Self-contained: it needs torch alone, checks the kernel against eager, and times both.")
        st.download_button(
            "repro.py", script, "repro.py", "text/x-python", icon=":material/download:", on_click="ignore"
        )
        st.button("Run it here", icon=":material/play_arrow:", key="run-repro", on_click=_wanted, args=(kernel.id,))
    code_view(CodePicture("repro.py", "python", code_lines(script, prefix="r")), key=f"repro-{kernel.id}", height=TALL)
    if held("repro-wanted") == kernel.id and may_run_tools(view.shown):
        _ran(view, kernel)


def _wanted(kernel_id: str) -> None:
    hold("repro-wanted", kernel_id)


def _ran(view: RunView, kernel: Kernel) -> None:
    answer = tool(view.run, Reproduce(kernel.id), "Running it…")
    if not isinstance(answer, ReproduceAnswer):
        return
    if answer.exit_code == 0:
        st.success("It ran, and what could be compared is what eager computes.")
    else:
        st.error(f"It ended with exit code {answer.exit_code}.")
    st.code(answer.output or "It printed nothing.", language=None)


def interpreter_view(view: RunView, kernel: Kernel) -> None:
    """Draw one program of a Triton kernel on the tensors that it touches."""
    sources = [THIS] * (kernel.language == "triton") + [SAMPLE] + [PASTED] * may_bring_code()
    source = st.segmented_control(
        "Interpret", sources, default=sources[0], key="interpret", label_visibility="collapsed"
    )
    pasted = ""
    if source == PASTED:
        st.caption(CONVENTION)
        pasted = st.text_area(
            "Code", height=SHORT, key="interpret-code", max_chars=MAX_CODE_CHARS, label_visibility="collapsed"
        )
        if not pasted.strip():
            return
    with st.container(horizontal=True):
        program = tuple(
            int(st.number_input(f"program id {axis}", 0, 2**31 - 1, 0, key=f"program-{axis}")) for axis in AXES
        )
    if source == THIS and not may_run_tools(view.shown):
        return
    request = Interpret(kernel.id if source == THIS else "", pasted, (program[0], program[1], program[2]))
    answer = tool(view.run, request, "Interpreting in a fresh Python…")
    if isinstance(answer, InterpretAnswer):
        touched_view(answer, f"touched-{source}")

"""Result of a tool on a page: requested when first shown, awaited in a fragment, and stored."""

from __future__ import annotations

import time

import streamlit as st

from core.base import words as fmt
from core.views.kernels import KernelResult, KernelTool
from pages.gate.visitor import may_bring_code
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_TEXT, plain
from pages.session import actions
from pages.session.actions import attempt, toasted
from pages.session.shown import ShownRun
from pages.session.state import held, hold

POLL_S = 0.3
WAITING = "tool-waiting"


def may_run_tools(shown: ShownRun) -> bool:
    """Return True if tools may work on this run; they import the log's code, so an imported log needs consent.

    Also draw the question for consent, or the reason why tools may not run.
    """
    if shown.status.kind == "run":
        return True
    if not may_bring_code():
        st.info("The tools run code from the log. This server allows that only for its own runs.")
        return False
    if held(f"trust-{shown.run.id}"):
        return True
    st.info("This log is imported, and the tools run code from it. Continue only if you trust it.")
    st.button("Run its code here", key="trust", on_click=_trust, args=(shown.run.id,))
    return False


def _trust(run_id: str) -> None:
    hold(f"trust-{run_id}", True)


def tool_result(tool: KernelTool) -> KernelResult | None:
    """Return the result of a tool, None while it runs or if it failed; also draw progress and errors."""
    result = tool.result()
    if result is None:
        _start(tool)
        return None
    if result.trouble is not None:
        _trouble(result.trouble.message, result.trouble.detail)
        st.button("Try again", key=f"again-{tool.directory.path.name}", on_click=_again, args=(tool,))
        return None
    return result


def _trouble(message: str, output: str) -> None:
    """Draw the tool's error message, with its output folded below."""
    st.error(plain(message, LONGEST_TEXT), icon=":material/error:")
    if output.strip():
        with st.expander("What it printed"):
            st.code(output, language=None, height=SHORT)


def _start(tool: KernelTool) -> None:
    started = attempt(lambda: actions.start_tool(tool), lambda words: st.info(plain(words, LONGEST_TEXT)))
    if started is not None:
        _wait(tool)


def _again(tool: KernelTool) -> None:
    attempt(lambda: actions.forget(tool), toasted)


@st.fragment(run_every=POLL_S)
def _wait(tool: KernelTool) -> None:
    if tool.result() is not None:
        st.rerun()
    directory = tool.directory
    status = attempt(directory.status, lambda _: st.caption("The result was deleted."))
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

"""One recompile in a box."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from core import words as fmt
from core.report import Compilation, Recompile, Report
from pages.look.text import LONGEST_TEXT, code, plain, prose


def step(compilation: Compilation, reasons: list[Recompile], report: Report) -> None:
    """One recompile: the newest earlier code's failed guard first, the older ones folded."""
    with st.container(border=True):
        if not reasons:
            st.markdown(f"**→ [{plain(compilation.id)}]** the reason was not recorded")
            return
        first, *older = reasons
        st.markdown(f"**[{plain(first.failed)}] → [{plain(compilation.id)}]** {plain(first.reason)}")
        st.caption(" · ".join(_values(first, report)))
        if first.hint:
            st.caption(f"torch's hint: {prose(first.hint, LONGEST_TEXT)}")
        if compilation.status == "failed":
            st.warning(plain(compilation.error or "this compilation failed"), icon=":material/block:")
        if older:
            with st.expander(f"{fmt.count(len(older), 'older compilation')} could not be used either"):
                for reason in older:
                    st.markdown(f"[{plain(reason.failed)}]: {plain(reason.reason)}")


def _values(reason: Recompile, report: Report) -> Iterator[str]:
    """What was expected, what came, in which call, and which line asked for it."""
    if reason.expected:
        yield f"expected {code(reason.expected)}"
    call = next((call for call in report.calls if call.index == reason.call), None)
    if reason.actual:
        yield f"got {code(reason.actual)}"
    elif call is None:
        yield "the new value was not recorded"
    if call is not None:
        yield f"call {call.index} with {code(call.inputs)}"
    if reason.code and reason.location:
        yield f"{code(reason.code)} at {code(reason.location.file.rsplit('/', 1)[-1])} line {reason.location.line}"

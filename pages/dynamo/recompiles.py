"""Recompiles: the lineage of every frame, and the guard that failed at each step."""

from collections.abc import Iterator

import streamlit as st

from core.report import Compilation, Recompile, Report
from pages.look import format as fmt
from pages.look.glossary import GLOSSARY
from pages.look.text import code, plain, prose
from pages.session.downloads import json_twin
from pages.session.require import require_report


def lineage(report: Report) -> list[list[Compilation]]:
    """Compilations by frame, for the frames that were compiled more than once."""
    frames: dict[str, list[Compilation]] = {}
    for item in report.compilations:
        frames.setdefault(item.id.rpartition("/")[0], []).append(item)
    return [items for items in frames.values() if len(items) > 1]


def step(item: Compilation, reasons: list[Recompile], report: Report) -> None:
    """One recompile: the newest earlier code's failed guard first, the older ones folded."""
    with st.container(border=True):
        if not reasons:
            st.markdown(f"**→ [{plain(item.id)}]** the reason was not recorded")
            return
        first, *older = reasons
        st.markdown(f"**[{plain(first.failed)}] → [{plain(item.id)}]** {plain(first.reason)}")
        st.caption(" · ".join(_values(first, report)))
        if first.hint:
            st.caption(f"torch's hint: {prose(first.hint, 600)}")
        if item.status == "failed":
            st.warning(plain(item.error or "this compilation failed"), icon=":material/block:")
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
    if reason.code:
        path, _, line = reason.location.partition(" in ")[0].rpartition(":")
        yield f"{code(reason.code)} at {code(path.rsplit('/', 1)[-1])} line {plain(line)}"


here, report = require_report("What made torch compile a frame again will stand here.")
recompiled = {item.compilation for item in report.recompiles}
if not report.compilations:
    st.title("No frame was compiled, so none was compiled again.", anchor=False)
    st.stop()
if not recompiled:
    st.title("No recompile: the first code of every frame was good for all calls.", anchor=False)
    st.write("Two calls with other shapes, dtypes or arguments would show one; give them under *options* of a new run.")
    st.stop()

st.title(f"{fmt.count(len(recompiled), 'recompile')} because a guard failed.", anchor=False, help=GLOSSARY["recompile"])
json_twin("recompiles", report.recompiles, key="recompiles")
for items in lineage(report):
    head = items[0]
    st.subheader(f"{plain(head.frame.name)}", anchor=False)
    st.markdown(" → ".join(f"`[{item.id}]`" for item in items))
    for item in items[1:]:
        step(item, [reason for reason in report.recompiles if reason.compilation == item.id], report)
    symbols = {(symbol.name, symbol.source): symbol for item in items for symbol in item.symbols}
    if symbols:
        st.caption("Symbols that a recompile made of sizes and numbers that changed:")
    for symbol in symbols.values():
        st.markdown(
            f"{code(symbol.name)} is {code(symbol.source)}, {code(symbol.value)} at first, in {code(symbol.range)}"
        )

"""Graph breaks, each in a box, and the frames that run eagerly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core import words as fmt
from core.analysis import Failure, failure_counts
from core.graph import source_path
from core.report import GraphBreak, Report
from pages.look.text import LONGEST_TEXT, code, plain, prose
from pages.parts.code import line_in

REGISTRY = "https://meta-pytorch.github.io/compile-graph-break-site/gb"


def one_break(number: int, found: GraphBreak, report: Report, given_up: Mapping[str, str]) -> None:
    """Torch's reason, explanation and hints for one break, how often it was met, and whether it cost the whole
    frame.
    """
    line = line_in(found, source_path(report)) or found.place.line
    with st.container(border=True):
        st.markdown(f"**{number}. {plain(found.reason)}**")
        met = ", ".join(f"[{item}]" for item in dict.fromkeys(found.compilations))
        st.caption(f"line {line} · met {fmt.count(len(found.compilations), 'time')}, in {plain(met)}")
        for item in dict.fromkeys(found.compilations):
            if item in given_up:
                words = f"\\[{plain(item)}\\] {code(given_up[item])}: Dynamo gave up, this frame runs eagerly."
                st.warning(words, icon=":material/block:")
        st.markdown(code(found.code) or "The line was not recorded.")
        if found.explanation:
            st.markdown(prose(found.explanation))
        for hint in found.hints:
            st.markdown(f"- {prose(hint, LONGEST_TEXT)}")
        if found.registry_id[2:].isdigit():
            st.markdown(f"[{found.registry_id} in PyTorch's registry]({REGISTRY}/{found.registry_id.lower()}.html)")
        with st.expander("User stack"):
            for frame in found.stack:
                st.text(f"{frame.file}:{frame.line} in {frame.name}\n    {frame.text}")


def eager_frames(found: Sequence[Failure]) -> None:
    """The frames that run eagerly although no graph break says so, such as those over the recompile limit."""
    for failure in found:
        with st.container(border=True):
            st.markdown(f"**\\[{plain(failure.compilation)}\\] {code(failure.frame)}: {prose(failure.reason)}**")
            st.caption(f"{plain(failure.place.short)} · {failure.consequence}")


def title(report: Report, found: Sequence[Failure]) -> str:
    """Places first, then how often they were met, and what was not compiled at all."""
    rest = ", ".join(failure_counts(found).values())
    breaks = report.graph_breaks
    if breaks:
        times = sum(len(item.compilations) for item in breaks)
        head = f"{fmt.count(len(breaks), 'place')} where Dynamo stopped, met {fmt.count(times, 'time')}"
        return f"{head}; {rest}." if rest else f"{head}."
    if rest:
        return f"No graph break, but {rest}."
    if not report.compilations:
        return "No frame was compiled, so none could break."
    return "No graph break: Dynamo captured every frame whole."

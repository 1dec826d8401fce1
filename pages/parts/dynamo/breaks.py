"""Graph breaks, each in a box, and the frames that run eagerly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from core.analysis import BreakCost, Failure, failure_counts
from core.analysis.registry import graph_break_registry
from core.base import words as fmt
from core.graph import source_path
from core.report import GraphBreak, Report
from pages.look.text import LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from pages.parts.code import line_in
from pages.parts.dynamo.repairs import break_repairs, near, offer_break_repairs
from pages.session.view import RunView

REGISTRY = "https://meta-pytorch.github.io/compile-graph-break-site/gb"
METHOD = (
    "Ranked by the compile time each break adds: its resume functions, plus callees that could no longer be inlined. "
    "Each compilation counts for one break."
)


def broken_file(view: RunView, breaks: Sequence[GraphBreak]) -> str:
    """Let the visitor pick the file to show: first the innermost logged file of the first break."""
    held = {source.path for source in view.report.sources}
    frames = [frame for found in breaks for frame in reversed(found.stack) if frame.file in held]
    files = list(dict.fromkeys(frame.file for frame in frames))
    if len(files) < 2:
        return files[0] if files else ""
    names = {one_line(file.rsplit("/", 1)[-1], LONGEST_NAME): file for file in reversed(files)}
    listed = list(reversed(names))
    return names[st.selectbox("File", listed, key="broken-file", label_visibility="collapsed") or listed[0]]


def one_break(number: int, cost: BreakCost, view: RunView, given_up: Mapping[str, str]) -> None:
    """Draw torch's reason, explanation and hints for one break, its cost, and its fixes.

    It also says how often the break was hit, and if it made the whole frame run eagerly.
    """
    found = cost.found
    with st.container(border=True, key=f"break-{number}"):
        times = f"\u00a0×\u00a0{fmt.number(len(found.compilations))}" if len(found.compilations) > 1 else ""
        st.markdown(f"**{number}. {plain(found.reason)}**{times}")
        st.caption(" · ".join([_where(found, view.report), cost_words(cost)]))
        for item in dict.fromkeys(found.compilations):
            if item in given_up:
                words = f"\\[{plain(item)}\\] {code(given_up[item])}: Dynamo gave up, this frame runs eagerly."
                st.warning(words, icon=":material/block:")
        st.markdown(code(found.code) or "The line was not recorded.")
        if found.explanation:
            st.markdown(prose(found.explanation))
        if found.hints:
            with st.expander("torch's hints", expanded=not break_repairs(view, found)):
                st.markdown(_list(found.hints))
        offer_break_repairs(view, found, key=f"break-{number}")
        _registry(found.registry_id)
        _stack(found)


def _list(hints: Sequence[str]) -> str:
    return "\n".join(f"- {prose(hint, LONGEST_TEXT)}" for hint in hints)


def _where(found: GraphBreak, report: Report) -> str:
    """Draw the innermost line, the user's line that led there if it differs, and the compilations that
    hit the break.
    """
    mine = line_in(found, source_path(report))
    there = f"{plain(near(found.place))}{_within(found)}" if found.place.file else ""
    if mine is not None and found.place.file == source_path(report):
        there = f"line {mine}{_within(found)}"
    elif mine is not None:
        there += f", from line {mine} of your file"
    met = ", ".join(f"[{item}]" for item in dict.fromkeys(found.compilations))
    return (
        f"{there or 'a line that was not recorded'} · met {fmt.count(len(found.compilations), 'time')}, in {plain(met)}"
    )


def _within(found: GraphBreak) -> str:
    return f" in {plain(found.stack[-1].name, LONGEST_NAME)}" if found.stack else ""


def cost_words(cost: BreakCost) -> str:
    """Describe the compile cost of a break: `2 graphs, 1.34 s of compile time, 3 kernel launches`."""
    if not cost.made:
        return "nothing was compiled because of it"
    parts = [f"{fmt.count(cost.graphs, 'more graph')} in {fmt.count(len(cost.made), 'compilation')}"]
    if cost.compile_s:
        parts.append(f"{fmt.duration_s(cost.compile_s)} of compile time")
    if cost.launches:
        parts.append(f"{fmt.count(cost.launches, 'kernel launch', 'kernel launches')} in them")
    return ", ".join(parts)


def _registry(registry_id: str) -> None:
    """Draw the entry of this kind of graph break in PyTorch's registry, with the version of torch that shipped it."""
    if not registry_id[2:].isdigit():
        return
    registry = graph_break_registry()
    entry = registry.entries.get(registry_id)
    with st.expander(f"{registry_id} in PyTorch's registry"):
        if entry is None:
            st.caption(f"It is not in the registry of torch {plain(registry.origin.version)}, which is at hand here.")
        else:
            st.markdown(f"**{prose(entry.type)}**")
            if entry.context:
                st.caption(f"Context: {code(entry.context)}")
            if entry.explanation:
                st.markdown(prose(entry.explanation))
            st.markdown(_list(entry.hints))
            st.caption(f"As torch {plain(registry.origin.version)} has it, braces stand for what varies.")
        st.markdown(f"[Its page on the web]({REGISTRY}/{registry_id.lower()}.html)")


def _stack(found: GraphBreak) -> None:
    with st.expander("Stack, the innermost frame first"):
        frames = (f"{one_line(str(frame))}\n    {one_line(frame.text)}" for frame in reversed(found.stack))
        st.code("\n".join(frames), language=None, wrap_lines=True)


def eager_frames(found: Sequence[Failure]) -> None:
    """Draw the frames that run eagerly without a graph break, such as those over the recompile limit."""
    for failure in found:
        with st.container(border=True):
            st.markdown(f"**\\[{plain(failure.compilation)}\\] {code(failure.frame)}: {prose(failure.reason)}**")
            st.caption(f"{plain(failure.place.short)} · {failure.consequence}")


def title(report: Report, found: Sequence[Failure]) -> str:
    """Return the number of places, how often they were hit, and the frames that were not compiled."""
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

"""The recompiles of a frame: the picture of all, and one recompile in full."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.analysis import CallUse, FrameLineage, LineageGroup, LineageNode, RecompileEdge, frame_names
from core.analysis.repairs import recompile_subject
from core.base import words as fmt
from core.report import Call, Compilation, Recompile, Report
from pages import menu
from pages.components.lineage.view import CompilationData, LineageData
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from pages.session import url

LETTERS: dict[CallUse, str] = {"compiled": "c", "failed": "f", "used": "u", "unknown": "?", "": " "}
LEGEND = {
    "c": "the call compiled it",
    "f": "compiling failed, the frame ran eagerly",
    "u": "the call used it again",
    "?": "not recorded whether it was used",
}
TOLD_BY = {
    "reason": "",
    "guard": ", as a guard of the new code says",
    "symbol": ", the first value of the symbol that the new code has for it",
}


def title(found: tuple[FrameLineage, ...], recompiles: int) -> str:
    """Return the number of recompiles, and their total time."""
    took_s = sum(frame.again_s for frame in found)
    took = f", which took {fmt.duration_s(took_s)}" if took_s else ""
    return f"{fmt.count(recompiles, 'recompile')} because a guard failed{took}."


def alike_words(group: LineageGroup) -> None:
    """Note how many frames recompiled for the same reasons, and their total time; one of them is drawn."""
    if len(group.frames) > 1:
        took = f", {fmt.duration_s(group.again_s)} together" if group.again_s else ""
        st.caption(f"× {fmt.number(len(group.frames))} frames of this function, for the same reasons{took}.")


def picture(found: FrameLineage, report: Report, chosen: str, explained: str) -> LineageData:
    """Draw the tree of a frame, with the strip of the recorded calls; only its own letters are explained."""
    first = found.first.frame
    took = f"; compiling again took {fmt.duration_s(found.again_s)}" if found.again_s else ""
    at = f"{first.short} · " if first.file else ""
    return LineageData(
        name=one_line(frame_names(report)[found.first.id], LONGEST_NAME),
        told=one_line(f"{at}{fmt.count(len(found.nodes), 'compilation')}{took}", LONGEST_LINE),
        rows=tuple(_row(node) for node in found.nodes),
        calls=tuple(one_line(call.inputs, LONGEST_LINE) for call in report.calls),
        legend=LEGEND,
        explained=explained,
        chosen=chosen,
    )


def _row(node: LineageNode) -> CompilationData:
    edge = node.edge
    return CompilationData(
        id=node.compilation.id,
        depth=node.depth,
        failed=node.compilation.status == "failed",
        because=one_line(_without_values(condition(edge.reason)), LONGEST_LINE) if edge else "",
        old=one_line(edge.old, LONGEST_NAME) if edge else "",
        new=one_line(edge.new, LONGEST_NAME) if edge else "",
        call="" if node.compilation.call is None else fmt.number(node.compilation.call),
        took="" if node.seconds is None else fmt.duration_s(node.seconds),
        calls="".join(LETTERS[use] for use in node.calls),
    )


def letters(found: tuple[FrameLineage, ...]) -> str:
    """Return the letters of the strips of all frames."""
    return "".join({LETTERS[use]: None for frame in found for node in frame.nodes for use in node.calls})


def condition(reason: Recompile) -> str:
    """Return the failed guard in one line."""
    return reason.reason.split("\n")[0]


def _without_values(text: str) -> str:
    """Return a tensor's failure reason without the expected and the new value, which are shown beside it."""
    return text.partition(". expected ")[0]


def edge_box(node: LineageNode, report: Report) -> DeltaGenerator:
    """Draw one recompile in full, and return its container, at whose end its fixes are shown."""
    box = st.container(border=True, key=f"recompile-{node.compilation.id.replace('/', '-')}")
    with box:
        if node.edge is None:
            _without_reason(node)
            return box
        _edge(node, node.edge, report)
    return box


def _without_reason(node: LineageNode) -> None:
    why = "the first compilation of its frame" if node.depth == 0 else "the reason was not recorded"
    st.markdown(f"**\\[{plain(node.compilation.id)}\\]** {why}")


def _edge(node: LineageNode, edge: RecompileEdge, report: Report) -> None:
    made = node.compilation
    took = f" took {fmt.duration_s(node.seconds)}" if node.seconds else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**\\[{plain(edge.reason.failed)}\\] → \\[{plain(made.id)}\\]**{took}")
        _leads(edge, made.id)
    st.code(one_line(condition(edge.reason), LONGEST_TEXT), language="python", wrap_lines=True)
    st.markdown(" · ".join(_values(edge, report)))
    if edge.reason.hint:
        st.caption(f"torch's hint: {prose(edge.reason.hint, LONGEST_TEXT)}")
    if made.status == "failed":
        st.warning(plain(made.error or "this compilation failed"), icon=":material/block:")
    if edge.older:
        with st.expander(f"{fmt.count(len(edge.older), 'older compilation')} could not be used either"):
            for text, ids in _by_reason(edge.older).items():
                st.markdown(f"{', '.join(f'[{plain(name)}]' for name in ids)} {code(text)}")


def _leads(edge: RecompileEdge, made: str) -> None:
    of_guard = {"guard": edge.guard.source or edge.guard.kind} if edge.guard else {}
    query = {**url.link(**of_guard), url.COMPILATION: edge.reason.failed}
    _link(menu.GUARDS, f"Guards of [{edge.reason.failed}]", query)
    _link(menu.FX_GRAPH, f"Graph of [{made}]", {**url.link(), url.COMPILATION: made})


def _link(page: menu.Page, label: str, query: dict[str, str]) -> None:
    st.page_link(page.script, label=plain(label), icon=page.icon, query_params=query)


def _values(edge: RecompileEdge, report: Report) -> Iterator[str]:
    """Yield the expected value, the new value, the call, and the line that needed the guard."""
    if edge.old:
        yield f"expected {code(edge.old)}"
    yield f"met {code(edge.new)}{TOLD_BY[edge.told_by]}" if edge.new else "the new value was not recorded"
    call = next((call for call in report.calls if call.index == edge.call), None)
    if call is not None:
        yield _called(call)
    line = edge.reason.location
    if edge.reason.code and line:
        yield f"{code(edge.reason.code)} at {code(line.short)}"


def _called(call: Call) -> str:
    return f"call {call.index} with {code(call.inputs)}"


def _by_reason(reasons: tuple[Recompile, ...]) -> dict[str, list[str]]:
    """Return each reason once, with its compilations."""
    found: dict[str, list[str]] = {}
    for reason in reasons:
        found.setdefault(condition(reason), []).append(reason.failed)
    return found


def how_told(report: Report) -> str:
    """Describe the source of the strip, and what is not recorded."""
    if not report.calls:
        return "The log does not tell of calls, so which of them used which code is not recorded."
    if all(call.entered is None for call in report.calls):
        return "Which code a call used again is not recorded in this log; which call compiled is."
    return (
        "Took: the seconds in which a phase of that compilation was open. Used again: by Dynamo's own order of a "
        "frame's codes."
    )


def chosen_node(
    found: tuple[FrameLineage, ...], shown: Compilation | None, is_default: bool, selected: str | None
) -> LineageNode:
    """Return the recompile to show.

    The shown compilation if the visitor chose it and it is a recompile; else the last recompile of the guard that
    failed most often, and of several such guards the one with the longest compile time.
    """
    nodes = [node for frame in found for node in frame.nodes]
    picked = shown is not None and (not is_default or shown.id == selected)
    named = [node for node in nodes if picked and shown is not None and node.compilation.id == shown.id and node.edge]
    return named[0] if named else _most_frequent([node for node in nodes if node.edge] or nodes)


def _most_frequent(nodes: list[LineageNode]) -> LineageNode:
    groups: dict[str, list[LineageNode]] = {}
    for node in nodes:
        groups.setdefault(recompile_subject(node.edge.reason) if node.edge else "", []).append(node)
    return max(groups.values(), key=lambda group: (len(group), sum(node.seconds or 0.0 for node in group)))[-1]

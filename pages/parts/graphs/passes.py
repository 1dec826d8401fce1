"""The parts of the page Passes: the list of steps, and the changes of one step."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.analysis import FilmStep, Segment, graph_at
from core.base import words as fmt
from core.report import Compilation, FxNode
from pages.look.sizes import SHORT
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, code, one_line
from pages.parts.graphs.node import node_details, node_lines, node_of
from pages.session import url
from pages.session.tables import in_words, newly_picked
from pages.session.view import View

NODE, STEPS = "node", "steps"
MOST_NODES = 40
NOT_TOLD = "No record tells this step: it is what differs between two graphs that torch logged."


def ops(segment: Segment, frame: int) -> int:
    """Count the nodes of a frame that compute."""
    return sum(node.op.startswith("call_") for node in graph_at(segment, frame))


def steps_table(segment: Segment, *, key: str) -> None:
    """Draw the steps as a table; a click is in the URL, and the film follows when the page runs again."""
    table = pd.DataFrame([_row(index, frame) for index, frame in enumerate(segment.frames)])
    row = newly_picked(
        in_words(table, {"µs": fmt.number}),
        range(len(segment.frames)),
        key,
        height="auto" if len(segment.frames) <= 7 else SHORT,
        column_config={"µs": st.column_config.NumberColumn(help="The pass itself, without recording")},
    )
    if row is not None:
        url.put(url.FRAME, str(row))
        st.rerun()


def asked_frame(segment: Segment) -> int:
    """Return the frame of the URL; the last frame by default."""
    return shown_frame(segment, url.number(url.FRAME))


def shown_frame(segment: Segment, frame: int | None) -> int:
    """Return the selected frame and write it to the URL; defaults to the last frame."""
    last = len(segment.frames) - 1
    found = last if frame is None or frame > last else frame
    url.put(url.FRAME, None if found == last else str(found))
    return found


def _row(index: int, frame: FilmStep) -> dict[str, object]:
    return {
        "step": index,
        "pass or graph": one_line(frame.title, LONGEST_LINE),
        "stage": frame.stage or "logged graph",
        "µs": frame.duration_us,
        "added": len(frame.added),
        "removed": len(frame.removed),
        "rewritten": len(frame.rewritten),
    }


def node_in_frame(view: View, segment: Segment, number: int, selected: str | None) -> None:
    """Draw a node's details in a step, and its source lines."""
    nodes = graph_at(segment, number)
    node = node_of(nodes, selected)
    if node is None:
        st.caption("Not there in this step: it comes later, or a pass has taken it." if selected else "Click a node.")
        return
    node_details(view.compilation, nodes, node, (), lowered=False)
    node_lines(view, nodes, node, f"{view.compilation.id}-{segment.id}")


def frame_details(segment: Segment, number: int) -> None:
    """Draw a step, and each node that it changed."""
    frame = segment.frames[number]
    st.markdown(f"**Step {number}**: {code(frame.title, LONGEST_LINE)}")
    for line in _origin(frame):
        st.caption(line)
    for title, names, at in (
        ("added", frame.added, number),
        ("removed", frame.removed, number - 1),
        ("rewritten", frame.rewritten, number),
    ):
        if names:
            st.markdown(f"{fmt.count(len(names), 'node')} {title}")
            st.code(_nodes(segment, names, at), language="python", wrap_lines=True)
    if frame.reordered:
        st.caption("Nodes that stayed changed places.")


def _origin(frame: FilmStep) -> list[str]:
    """Return the places of the pass and of its patterns in torch's code."""
    lines = [] if frame.recorded else [NOT_TOLD]
    if frame.source:
        lines.append(f"The pass is at {code(str(frame.source), LONGEST_LINE)}")
    for match in frame.patterns:
        at = f" at {code(str(match.source), LONGEST_LINE)}" if match.source else ""
        lines.append(f"{fmt.number(match.count)} × pattern {code(match.name, LONGEST_LINE)}{at}")
    return lines


def _nodes(segment: Segment, names: tuple[str, ...], frame: int) -> str:
    by_name = {node.name: node for node in graph_at(segment, frame)}
    lines = [_line(by_name[name]) for name in names[:MOST_NODES] if name in by_name]
    more = [f"# and {fmt.number(len(names) - MOST_NODES)} more"] if len(names) > MOST_NODES else []
    return "\n".join([*lines, *more])


def _line(node: FxNode) -> str:
    if node.op == "output":
        return f"return {node.args}"[:LONGEST_TEXT]
    return f"{node.name} = {node.target}({node.args})"[:LONGEST_TEXT]


def unchanged_passes(compilation: Compilation) -> None:
    """Draw the passes that ran without changing anything, with their times."""
    found = [
        (record.stage, name, duration) for record in compilation.unchanged_passes for name, duration in record.passes
    ]
    if not found:
        return
    took = sum(duration for _, _, duration in found) / 1e6
    with st.expander(f"{fmt.count(len(found), 'pass', 'passes')} changed nothing, in {fmt.duration_s(took)}"):
        table = pd.DataFrame(
            [
                {"stage": stage, "pass": one_line(name, LONGEST_LINE), "µs": duration}
                for stage, name, duration in sorted(found, key=lambda row: -row[2])
            ]
        )
        st.dataframe(in_words(table, {"µs": fmt.number}), hide_index=True)

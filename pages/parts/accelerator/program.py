"""The program of a segment: its instructions, each with its nodes and the user's lines."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.report import FxNode, PipelineSegment, ProgramEntry
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line, plain
from pages.parts.accelerator.pieces import PipelinePiece, nodes_of
from pages.parts.graphs.node import node_lines, node_of
from pages.session import url
from pages.session.tables import newly_picked
from pages.session.view import View

MOST_ENTRIES = 2_000
ENDS = ("argument", "result")
COLUMNS = {
    "": st.column_config.NumberColumn(width=40),
    "op": st.column_config.TextColumn(width=95),
    "nodes": st.column_config.TextColumn(width=110, help="Nodes of the graph that the instruction computes"),
    "makes": st.column_config.TextColumn(width=165),
    "of": st.column_config.TextColumn(width=165),
    "and then": st.column_config.TextColumn(
        width=200, help="Elementwise steps in the same loop, or behind a product while its block is in the cache"
    ),
    "your line": st.column_config.TextColumn(width=220),
}


def program_or_reason(piece: PipelinePiece) -> PipelineSegment | None:
    """Return the segment if it has a program; else draw why it has none."""
    segment = piece.segment
    if segment is None:
        st.info("Every op of this graph stays with torch, so there is no program.")
    elif segment.problem:
        st.info(f"Torch runs this segment, since no program could be made: {plain(segment.problem)}.")
    else:
        return segment
    return None


def program_station(view: View, piece: PipelinePiece) -> None:
    """Draw the instructions as a table, beside the user's code."""
    segment = program_or_reason(piece)
    if segment is None:
        return
    nodes = nodes_of(view, piece.pipeline)
    by_name = {node.name: node for node in nodes}
    st.caption(program_words(segment))
    left, right = st.columns([9, 5], gap="medium")
    with left:
        _table(segment, by_name, f"program-{view.compilation.id}-{piece.id}")
    with right:
        node_lines(view, nodes, node_of(nodes, url.selected()), f"{view.compilation.id}-{piece.id}")


def program_words(segment: PipelineSegment) -> str:
    """Describe the program: the number of ops, inputs and instructions."""
    inputs = sum(entry.op == "argument" for entry in segment.entries)
    work = sum(entry.op not in ENDS for entry in segment.entries)
    sizes = ", for each set of sizes that it meets; this is the first" if segment.dynamic else ""
    return (
        f"{fmt.count(len(segment.nodes), 'op')} of the graph became {fmt.count(inputs, 'input')}, "
        f"{fmt.count(work, 'instruction')} and 1 result{sizes}. A click selects the node and its line."
    )


def _table(segment: PipelineSegment, nodes: Mapping[str, FxNode], key: str) -> None:
    entries = segment.entries[:MOST_ENTRIES]
    table = pd.DataFrame([_row(index, entry, nodes) for index, entry in enumerate(entries)])
    picked = newly_picked(table, entries, key, height=TALL, column_config=COLUMNS)
    if picked is not None and picked.nodes:
        url.select(f"n:{next((name for name in picked.nodes if name in nodes), picked.nodes[0])}")
        st.rerun()
    if len(segment.entries) > MOST_ENTRIES:
        st.caption(f"{fmt.count(len(segment.entries) - MOST_ENTRIES, 'more instruction')} not shown.")


def _row(index: int, entry: ProgramEntry, nodes: Mapping[str, FxNode]) -> dict[str, object]:
    lines = dict.fromkeys(nodes[name].code for name in entry.nodes if name in nodes and nodes[name].code)
    return {
        "": index,
        "op": one_line(entry.op, LONGEST_NAME),
        "nodes": one_line(", ".join(name for name in entry.nodes if name in nodes), LONGEST_LINE),
        "makes": one_line(", ".join(entry.outputs), LONGEST_LINE),
        "of": one_line(", ".join(entry.inputs), LONGEST_LINE),
        "and then": one_line("; ".join(entry.steps), LONGEST_LINE),
        "your line": one_line(" · ".join(lines), LONGEST_LINE),
    }

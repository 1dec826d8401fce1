"""The nodes of a backend's input graph: a table with the columns of `print_tabular`, and `gm.code`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.report import BackendNode, Invocation
from pages.components.code.view import CodePicture, code_lines
from pages.look.text import LONGEST_LINE, LONGEST_NAME, one_line

# `add = x + 1`, `relu: "f32[8]" = …` and `return (add,)` in `gm.code`.
ASSIGNED = re.compile(r"^\s*(\w+)(?:\s*:[^=]*)?\s*=(?!=)")
RETURNED = re.compile(r"^\s*return\b")
MOST_NODES_SHOWN = 2_000
COLUMNS = ("opcode", "name", "target", "args", "kwargs", "users", "value")


def node_rows(nodes: Sequence[BackendNode]) -> pd.DataFrame:
    """Return one row per node."""
    return pd.DataFrame([_row(node) for node in nodes[:MOST_NODES_SHOWN]], columns=list(COLUMNS))


def _row(node: BackendNode) -> dict[str, str]:
    return {
        "opcode": node.op,
        "name": one_line(node.name, LONGEST_NAME),
        "target": one_line(node.target, LONGEST_LINE),
        "args": one_line(node.args, LONGEST_LINE),
        "kwargs": "" if node.kwargs == "{}" else one_line(node.kwargs, LONGEST_LINE),
        "users": one_line(", ".join(node.users), LONGEST_LINE),
        "value": one_line(node.value, LONGEST_NAME),
    }


def node_text(nodes: Sequence[BackendNode]) -> str:
    """Return the table as text, in the format of `gm.graph.print_tabular()`."""
    rows = [COLUMNS, *((n.op, n.name, n.target, n.args, n.kwargs, ", ".join(n.users), n.value) for n in nodes)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    head, *lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in (head, "  ".join("-" * width for width in widths), *lines)) + "\n"


def left_out_words(invocation: Invocation) -> None:
    """Note how many nodes are not shown."""
    more = invocation.left_out + max(0, len(invocation.nodes) - MOST_NODES_SHOWN)
    if more:
        st.caption(f"{fmt.count(more, 'more node')} not shown.")


def code_picture(invocation: Invocation) -> CodePicture | None:
    """Return `gm.code`, each line linked to the node that it computes; None if it was not recorded."""
    if not invocation.code:
        return None
    code = invocation.code.strip("\n").rstrip()
    return CodePicture("gm.code", "python", code_lines(code, prefix="gm", links=_links(code, invocation.nodes)))


def _links(code: str, nodes: Sequence[BackendNode]) -> dict[int, tuple[str, ...]]:
    names = {node.name for node in nodes}
    ends = {kind: tuple(f"n:{n.name}" for n in nodes if n.op == kind) for kind in ("placeholder", "output")}
    found: dict[int, tuple[str, ...]] = {}
    for number, line in enumerate(code.split("\n"), 1):
        assigned = ASSIGNED.match(line)
        if assigned and assigned[1] in names:
            found[number] = (f"n:{assigned[1]}",)
        elif RETURNED.match(line):
            found[number] = ends["output"]
        elif line.startswith("def forward"):
            found[number] = ends["placeholder"]
    return found

"""The compilations of a frame as a tree, each line with what made it, and beside it a strip with a cell for each
call.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
import streamlit as st

from pages.components.modules import joined

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_lineage",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=joined(HERE / "view.js"),
)


class CompilationData(msgspec.Struct, frozen=True):
    """A line: a compilation `depth` below its frame's first, the guard that failed, what was expected and what came,
    the call, what it took in words, and a letter for each call: compiled, failed, used, unknown, or a space.
    """

    id: str
    depth: int
    failed: bool
    because: str
    old: str
    new: str
    call: str
    took: str
    calls: str


class LineageData(msgspec.Struct, frozen=True):
    """The message to the browser: a frame by name, with what is said of all its compilations, and those. `calls` are
    the inputs of each call in words, `legend` a word for each letter, of which the `explained` ones are drawn below.
    """

    name: str
    told: str
    rows: tuple[CompilationData, ...]
    calls: tuple[str, ...]
    legend: dict[str, str]
    explained: str
    chosen: str


def lineage_view(data: LineageData, *, key: str) -> str | None:
    """Show the tree; returns the compilation that was clicked just now, and none that is not shown."""
    result = _COMPONENT(key=key, data=msgspec.to_builtins(data), on_chosen_change=lambda: None)
    return result.chosen if result.chosen in {row.id for row in data.rows} else None

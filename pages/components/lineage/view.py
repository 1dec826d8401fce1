"""A frame's compilations as a tree, each with its cause and a strip with one cell per call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import streamlit as st

from pages.components.exchange import component_script, message, when_picked

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_lineage",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "view.js"),
)


class CompilationData(msgspec.Struct, frozen=True):
    """A line of the tree: a compilation, `depth` levels below the first compilation of its frame.

    `because` is the failed guard; `old` is the value that it expected, `new` the value that it got. `took` is the
    compile time. `calls` has one letter per call: compiled, failed, used, unknown, or a space.
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
    """The message to the browser: a frame's name, a text about all its compilations, and the compilations.

    `calls` are the inputs of each call as text. `legend` names each letter of `CompilationData.calls`; those in
    `explained` are listed below the tree.
    """

    name: str
    told: str
    rows: tuple[CompilationData, ...]
    calls: tuple[str, ...]
    legend: dict[str, str]
    explained: str
    chosen: str


def lineage_view(data: LineageData, *, key: str, on_pick: Callable[[str], None]) -> None:
    """Show the tree; `on_pick` gets a clicked compilation before the page runs again."""
    chosen = when_picked(key, "chosen", {row.id for row in data.rows}, on_pick)
    _COMPONENT(key=key, data=message(data), on_chosen_change=chosen)

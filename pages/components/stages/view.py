"""Row of a graph's stages in order, each with its op count: a click or an arrow key selects one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import streamlit as st

from pages.components.exchange import component_script, message, when_picked

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_stages",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "view.js"),
)


@dataclass(frozen=True, slots=True)
class Stop:
    """A graph of the row: its id, its op count as text, and its tooltip."""

    id: str
    count: str
    tooltip: str


@dataclass(frozen=True, slots=True)
class Stretch:
    """Graphs that belong together, such as the graphs before and after some passes.

    A new `lane` starts a new row.
    """

    label: str
    stops: tuple[Stop, ...]
    lane: bool = False


class StagesData(msgspec.Struct, frozen=True):
    """The message to the browser: the graphs by stretch, and the selected one."""

    stretches: tuple[Stretch, ...]
    chosen: str


def stages(stretches: tuple[Stretch, ...], chosen: str, *, key: str, on_pick: Callable[[str], None]) -> None:
    """Show the stages; `on_pick` gets the id of a picked stage before the page runs again."""
    ids = {stop.id for stretch in stretches for stop in stretch.stops}
    picked = when_picked(key, "picked", ids, on_pick)
    _COMPONENT(key=key, data=message(StagesData(stretches, chosen)), on_picked_change=picked)

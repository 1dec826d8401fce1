"""Steps as boxes joined by arrows, each with its call, its time and its outcome; one is selected."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import streamlit as st

from pages.components.exchange import browser_value, component_script, message

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_way",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "view.js"),
)


@dataclass(frozen=True, slots=True)
class WayStage:
    """A step in the picture: the function called there, a number with unit, and a line on the result."""

    id: str
    title: str
    call: str
    state: Literal["done", "failed", "not reached"]
    figure: str
    told: str


class WayData(msgspec.Struct, frozen=True):
    """The message to the browser: the boxes by column, from top to bottom."""

    columns: tuple[tuple[WayStage, ...], ...]
    chosen: str


def way(columns: tuple[tuple[WayStage, ...], ...], chosen: str, *, key: str, on_pick: Callable[[str], None]) -> None:
    """Show the steps; `on_pick` gets the id of a picked box before the page runs again."""
    ids = {stage.id for column in columns for stage in column}

    def picked() -> None:
        told = browser_value(key, "picked")
        if told in ids:
            on_pick(told)

    _COMPONENT(key=key, data=message(WayData(columns, chosen)), on_picked_change=picked)

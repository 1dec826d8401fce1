"""A row of chips: short facts, each with a link to its evidence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec
import streamlit as st

from pages.components.exchange import component_script, message, when_picked

HERE = Path(__file__).parent
Tone = Literal["", "ok", "warn", "bad", "live", "quiet"]

_COMPONENT = st.components.v2.component(
    "compileboard_chips",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "view.js"),
)


@dataclass(frozen=True, slots=True)
class Chip:
    """A fact in the header: a value in the code font, its label, and its page; no link if `page` is empty."""

    value: str
    label: str = ""
    tone: Tone = ""
    page: str = ""
    tooltip: str = ""


class ChipsData(msgspec.Struct, frozen=True):
    """The message to the browser: the chips."""

    chips: tuple[Chip, ...]


def chips(items: list[Chip], *, key: str, on_open: Callable[[str], None]) -> None:
    """Show chips; `on_open` gets the page that a clicked chip links to, before this page runs again."""
    opened = when_picked(key, "open", {chip.page for chip in items if chip.page}, on_open)
    _COMPONENT(key=key, data=message(ChipsData(tuple(items))), on_open_change=opened)

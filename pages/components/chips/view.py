"""A row of chips: short facts, each a link to its evidence."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

import streamlit as st

HERE = Path(__file__).parent
Tone = Literal["", "ok", "warn", "bad", "live", "quiet"]

_COMPONENT = st.components.v2.component(
    "compileboard_chips",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=(HERE / "view.js").read_text(encoding="utf-8"),
)


@dataclass(frozen=True, slots=True)
class Chip:
    """One fact: a value in the code font, a word for it, and the page that shows more; without `page` it is no link."""

    value: str
    label: str = ""
    tone: Tone = ""
    page: str = ""
    tooltip: str = ""


def chips(items: list[Chip], *, key: str) -> str | None:
    """Show chips; returns the page of the one that was clicked just now, and none that no chip has."""
    result = _COMPONENT(key=key, data={"chips": [asdict(item) for item in items]}, on_open_change=lambda: None)
    return next((chip.page for chip in items if chip.page and chip.page == result.open), None)

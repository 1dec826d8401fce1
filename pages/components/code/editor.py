"""Python code to edit, coloured as the code view colours it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import streamlit as st

from pages.components.first_wish import first_wish
from pages.components.modules import joined
from pages.look.text import component_key

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_code_editor",
    css="\n".join((HERE / name).read_text(encoding="utf-8") for name in ("view.css", "editor.css")),
    js=joined(HERE / "js" / "editor.js"),
)


class EditorData(msgspec.Struct, frozen=True):
    """The message to the browser: the text at first, and between which heights in pixels the editor grows with it."""

    label: str
    text: str
    least: int
    most: int


def code_editor(text: str, *, label: str, key: str, least: int, most: int) -> str:
    """Show code to be edited; returns it as it stands. `text` counts when the editor appears: later the browser owns
    it.
    """
    key = component_key(key)
    first = first_wish(key, text) or ""
    data = EditorData(label, first, least, most)
    result = _COMPONENT(key=key, data=msgspec.to_builtins(data), default={"text": None}, on_text_change=lambda: None)
    return result.text if isinstance(result.text, str) else first

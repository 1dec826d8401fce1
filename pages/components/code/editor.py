"""An editor for Python code, with the colours of the code view."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import streamlit as st

from pages.components.first_wish import browser_value
from pages.components.modules import component_script
from pages.look.text import component_key

HERE = Path(__file__).parent

_COMPONENT = st.components.v2.component(
    "compileboard_code_editor",
    css="\n".join((HERE / name).read_text(encoding="utf-8") for name in ("view.css", "editor.css")),
    js=component_script(HERE / "js" / "editor.js"),
)


class EditorData(msgspec.Struct, frozen=True):
    """The message to the browser: the text that the server has, and the least and the largest height in pixels."""

    key: str
    label: str
    text: str
    least: int
    most: int


def code_editor(text: str, *, label: str, key: str, least: int, most: int, keep: Callable[[str], None]) -> str:
    """Show an editor; return its current text.

    `text` is used only when the editor appears: later the browser owns the text. `keep` is called with each edited
    text, even if it arrives together with a click on a link to another page.
    """
    key = component_key(key)
    edited = browser_value(key, "text")
    current = edited if isinstance(edited, str) else text

    def keep_edited() -> None:
        edited = browser_value(key, "text")
        if isinstance(edited, str):
            keep(edited)

    # Always the newest text: Streamlit keeps a state, but no view, if the page between did not run to its end.
    data = msgspec.to_builtins(EditorData(key, label, current, least, most))
    result = _COMPONENT(key=key, data=data, default={"text": None}, on_text_change=keep_edited)
    return result.text if isinstance(result.text, str) else current

"""Keys that work on every page, and the list of all keys."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import msgspec
import streamlit as st

from pages.components.exchange import browser_value, component_script, message

_COMPONENT = st.components.v2.component("compileboard_keys", js=component_script(Path(__file__).with_name("view.js")))
TURNS = {"PageDown": 1, "PageUp": -1}
KEYS = tomllib.loads(Path(__file__).with_name("keys.toml").read_text(encoding="utf-8"))
# Two columns of the dialog.
LISTS = (("On a page", "In a flame chart"), ("In a graph", "In code"))


class KeysData(msgspec.Struct, frozen=True):
    """The message to the browser: keys, named as in the browser's key events."""

    keys: tuple[str, ...] = ("[", "]", "?")


def page_keys(on_press: Callable[[str], None], *, key: str) -> None:
    """Call `on_press` with the pressed key, one of `KeysData.keys` or `TURNS`, before the page runs again."""

    def changed() -> None:
        on_press(str(browser_value(key, "pressed") or ""))

    _COMPONENT(key=key, data=message(KeysData()), on_pressed_change=changed)


@st.dialog("Keys", width="large")
def all_keys() -> None:
    """Open the list of all keys."""
    for column, titles in zip(st.columns(len(LISTS)), LISTS, strict=True):
        for title in titles:
            column.caption(title)
            column.table({f"`{name}`": what for name, what in KEYS[title].items()}, border="horizontal")

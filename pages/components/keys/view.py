"""Keys that work on every page, and the list of all keys."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import streamlit as st

from pages.components.exchange import browser_value, component_script, message

_COMPONENT = st.components.v2.component("compileboard_keys", js=component_script(Path(__file__).with_name("view.js")))
ON_A_PAGE = {
    "Ctrl K, ⌘ K": "go to a page, a run, a kernel or a node, or start an action",
    "[  and  ]": "the previous and the next compilation",
    "C": "the comments on what is selected, and back",
    "F": "the drawing in full screen, and back",
    "P": "present: larger type, no menu",
    "Page Down, Page Up": "while presenting: the next step of a film, then the next page",
    "?": "this list",
}
TURNS = {"PageDown": 1, "PageUp": -1}
IN_A_GRAPH = {
    "arrows, Shift + arrows": "to the nearest node, to the nearest kernel launch or group",
    "o, Enter": "unfold a module, or fold it",
    "/": "search",
    "f": "fit the whole graph",
    "+  and  −": "zoom",
    "n": "only the neighbourhood of a node",
    "p": "the path from a node to the next one picked",
    "m": "the small map",
    ",  and  .": "the previous and the next step of a film",
    "Escape": "clear, leave",
}
IN_A_FLAME_CHART = {
    "arrows": "to the span around it, below it, before it and after it",
    "w  and  s, or +  and  −": "zoom; so does the wheel",
    "a  and  d": "move; so does dragging",
    "Enter, a double click": "zoom to the selected span",
    "f": "all of it",
    "m, Shift + dragging": "select an area on Timeline",
    "/": "search, Enter for the next one",
    "Escape": "clear, leave",
}
IN_CODE = {
    "up, down": "the line before the selected one and after it",
    "/": "search, Enter for the next one",
    "Escape": "clear, leave",
}
# Two columns of the dialog.
LISTS = (
    {"On a page": ON_A_PAGE, "In a flame chart": IN_A_FLAME_CHART},
    {"In a graph": IN_A_GRAPH, "In code": IN_CODE},
)


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
    for column, lists in zip(st.columns(len(LISTS)), LISTS, strict=True):
        for title, keys in lists.items():
            column.caption(title)
            column.table({f"`{name}`": what for name, what in keys.items()}, border="horizontal")

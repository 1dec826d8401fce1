"""Marks on Streamlit's menu: counts, grey entries, and the entry of the open page."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import streamlit as st

from pages.components.exchange import component_script, message

HERE = Path(__file__).parent

# Its CSS applies to the whole document, since Streamlit draws the menu.
_COMPONENT = st.components.v2.component(
    "compileboard_menu",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "view.js"),
    isolate_styles=False,
)


@dataclass(frozen=True, slots=True)
class Mark:
    """The count beside the title of a menu entry, and the reason why the entry is grey; each may be empty."""

    count: str = ""
    reason: str = ""


class MenuData(msgspec.Struct, frozen=True):
    """The message to the browser, with page names as in URLs.

    `entries` maps a page to the first page of its menu entry; the first pages themselves are left out.
    """

    marks: dict[str, Mark]
    entries: dict[str, str]


def mark_menu(marks: Mapping[str, Mark], entries: Mapping[str, str], *, key: str) -> None:
    """Mark the entries of the menu; each key of `marks` is the page that an entry opens."""
    _COMPONENT(key=key, data=message(MenuData(dict(marks), dict(entries))))

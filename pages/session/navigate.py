"""Navigation: the pages of the menu, and the only place that leaves the current page."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages import menu
from pages.session.state import held, hold

# Keys: the current page, stored by `app.py`; and a navigation within it, until the browser has the new URL.
PAGE, WAY = "page", "way"


@dataclass(frozen=True, slots=True)
class _Way:
    """A navigation within a page, from one URL to another."""

    page: str
    left: dict[str, str]
    wanted: dict[str, str]


def menu_pages() -> dict[str, list[st.Page]]:
    """Return the pages of the menu by section, as copies, since Streamlit marks the page that it opens."""
    return {section: [copy(page) for page in pages] for section, pages in _menu_pages().items()}


@st.cache_resource(show_spinner=False)
def _menu_pages() -> dict[str, list[st.Page]]:
    """Return the pages of the menu, whose files are looked up once for all sessions."""
    sections: dict[str, list[st.Page]] = {}
    for entry in menu.ENTRIES:
        first, *others = entry.pages
        opened = st.Page(first.script, title=entry.title, icon=first.icon, default=first is menu.NEW_RUN)
        hidden = [st.Page(other.script, title=other.title, icon=other.icon, visibility="hidden") for other in others]
        sections.setdefault(first.section, []).extend([opened, *hidden])
    return sections


def go_to(page: menu.Page, query: Mapping[str, str]) -> NoReturn:
    """Open a page with these query parameters, also the current page.

    For the current page the path stays the same. So a request that the browser sends before it has the new URL is for
    the old URL of the same page.
    """
    if page.name != held(PAGE):
        st.switch_page(page.script, query_params=dict(query))
    hold(WAY, _Way(page.name, st.query_params.to_dict(), dict(query)))
    st.rerun()


def arrive(page: str) -> None:
    """Apply the pending navigation before the page is drawn.

    The wanted URL applies until the browser requests a URL other than the left one, or goes back to the left one.
    """
    way: _Way | None = held(WAY)
    context = get_script_run_ctx()
    back = context is not None and context.is_history_navigation
    if way is not None and way.page == page and way.left == st.query_params.to_dict() and not back:
        st.query_params.from_dict(way.wanted)
    else:
        hold(WAY, None)
